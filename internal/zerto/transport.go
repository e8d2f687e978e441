package zerto

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"hooktrail/internal/config"
	"hooktrail/internal/regular"
)

// errPin is a certificate other than the pinned one.
var errPin = errors.New("the certificate is not the pinned one")

// newTransport returns the transport that trusts whom c says: the system's
// roots, the certificates of a file, or the one certificate with a fingerprint.
//
// It goes through no proxy: a proxy of the environment could be put there by a
// project's settings.
func newTransport(c config.ZertoTLS, dial func(context.Context, string, string) (net.Conn, error)) (*http.Transport, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pool, err := readCA(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("zerto.tls.caFile: %w", err)
		}
		t.RootCAs = pool
	}
	if c.InsecureSkipVerify && c.CAFile != "" {
		return nil, errors.New("zerto.tls: caFile and insecureSkipVerify exclude each other")
	}
	t.InsecureSkipVerify = c.InsecureSkipVerify
	if c.PinSHA256 != "" {
		want, err := hex.DecodeString(strings.ReplaceAll(c.PinSHA256, ":", ""))
		if err != nil || len(want) != sha256.Size {
			return nil, errors.New("zerto.tls.pinSha256 is not the SHA-256 fingerprint of a certificate (64 hex digits)")
		}
		// The fingerprint names one certificate: its names, dates and issuer say
		// nothing more, unless a CA file asks for them as well.
		t.InsecureSkipVerify = c.CAFile == ""
		t.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return fmt.Errorf("%w: the ZVM showed no certificate", errPin)
			}
			got := sha256.Sum256(s.PeerCertificates[0].Raw)
			if !bytes.Equal(got[:], want) {
				return fmt.Errorf("%w: its SHA-256 fingerprint is %x", errPin, got)
			}
			return nil
		}
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	}
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        t,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        60 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}, nil
}

func readCA(path string) (*x509.CertPool, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", path)
	}
	return pool, nil
}

// newHTTPClient returns a client that follows no redirects: a login page is no
// answer, and a token must not travel to another host.
func newHTTPClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
