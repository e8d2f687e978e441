package zerto

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/zerto/zertotest"
)

// certificate makes a self-signed one, as nearly every ZVM has.
func certificate(t *testing.T, host string, from, until time.Time) tls.Certificate {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: k}
}

func TestTrust(t *testing.T) {
	now := time.Now()
	own := certificate(t, "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour))
	other := certificate(t, "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour))
	wrongHost := certificate(t, "zvm.example", now.Add(-time.Hour), now.Add(time.Hour))
	expired := certificate(t, "127.0.0.1", now.Add(-2*time.Hour), now.Add(-time.Hour))
	ca := func(c tls.Certificate) string {
		p := filepath.Join(t.TempDir(), "ca.pem")
		require.NoError(t, os.WriteFile(p, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), 0o600))
		return p
	}
	pin := func(c tls.Certificate) string {
		s := sha256.Sum256(c.Certificate[0])
		return hex.EncodeToString(s[:])
	}
	const (
		yes = reason.Code("guard_checkpoint_confirmed")
		no  = reason.Code("guard_lookup_failed")
	)
	for _, tt := range []struct {
		name  string
		shown tls.Certificate
		c     config.ZertoTLS
		want  reason.Code
	}{
		{"self-signed, system roots", own, config.ZertoTLS{}, no},
		{"self-signed, CA file", own, config.ZertoTLS{CAFile: ca(own)}, yes},
		{"another, CA file", other, config.ZertoTLS{CAFile: ca(own)}, no},
		{"expired, CA file", expired, config.ZertoTLS{CAFile: ca(expired)}, no},
		{"wrong host, CA file", wrongHost, config.ZertoTLS{CAFile: ca(wrongHost)}, no},
		{"pinned", own, config.ZertoTLS{PinSHA256: pin(own)}, yes},
		{"pinned, wrong host", wrongHost, config.ZertoTLS{PinSHA256: pin(wrongHost)}, yes},
		{"pinned, another", other, config.ZertoTLS{PinSHA256: pin(own)}, no},
		{"pinned, another, and no verification", other, config.ZertoTLS{PinSHA256: pin(own), InsecureSkipVerify: true}, no},
		{"pinned and CA file, wrong host", wrongHost, config.ZertoTLS{PinSHA256: pin(wrongHost), CAFile: ca(wrongHost)}, no},
		{"no verification", other, config.ZertoTLS{InsecureSkipVerify: true}, yes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			z := zertotest.New(one(zertotest.Group{Latency: time.Millisecond}), zertotest.Options{Now: time.Now})
			s := httptest.NewUnstartedServer(z)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{tt.shown}}
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			defer s.Close()
			p, err := New(Options{
				Config:    config.Zerto{URL: s.URL, Auth: config.ZertoAuth{ClientSecretEnv: "S"}, TLS: tt.c},
				StateFile: filepath.Join(t.TempDir(), "s.json"), Getenv: func(string) string { return marker },
			})
			require.NoError(t, err)
			defer func() { require.NoError(t, p.Close(context.Background())) }()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			out := p.Protect(ctx, guard.Request{VMs: []guard.VM{{Ref: "app01"}}})
			require.Equal(t, tt.want, out.Code, out.Message)
			if tt.want == no {
				require.Empty(t, z.Requests(), "nothing is sent to a stranger")
			}
			if tt.name == "no verification" {
				require.Contains(t, out.Message, "insecureSkipVerify")
				require.Contains(t, out.Context, "insecureSkipVerify")
			}
		})
	}
}

// TestGoesThroughNoProxy plants a proxy in the environment, as a project's
// settings can.
func TestGoesThroughNoProxy(t *testing.T) {
	tr, err := newTransport(config.ZertoTLS{}, nil)
	require.NoError(t, err)
	require.Nil(t, tr.Proxy)
}
