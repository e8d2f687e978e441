package ship

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

// A leaf node on the workstation and a hub: the leaf's stream takes the events
// at once, the hub's sources them. The hub goes away and comes back.
func TestLeafAndHub(t *testing.T) {
	leafPort, hubDir := freePort(t), t.TempDir()
	hubWith := func(o *server.Options) {
		o.StoreDir, o.JetStreamDomain, o.ServerName = hubDir, "hub", "hub"
		o.LeafNode = server.LeafNodeOpts{Host: "127.0.0.1", Port: leafPort}
	}
	hub := startServer(t, hubWith)
	remote, err := url.Parse("nats-leaf://127.0.0.1:" + strconv.Itoa(leafPort))
	require.NoError(t, err)
	leaf := startServer(t, func(o *server.Options) {
		o.JetStreamDomain, o.ServerName = "box1", "box1"
		o.LeafNode = server.LeafNodeOpts{ReconnectInterval: 100 * time.Millisecond, Remotes: []*server.RemoteLeafOpts{{URLs: []*url.URL{remote}}}}
	})
	l := newTestLog(t)
	o := l.options(leaf.url)
	_, _, err = CreateStream(bg, o, StreamSpec{})
	require.NoError(t, err)
	// No subjects of its own, and another name: it takes only what it sources.
	all, err := hub.js().CreateStream(bg, jetstream.StreamConfig{
		Name: "HOOKTRAIL_ALL", Storage: jetstream.FileStorage, DenyDelete: true, DenyPurge: true,
		Sources: []*jetstream.StreamSource{{Name: DefaultStream, External: &jetstream.ExternalStream{APIPrefix: "$JS.box1.API"}}},
	})
	require.NoError(t, err)

	ship := func(n int) {
		t.Helper()
		l.add(n)
		_, err := Run(bg, o)
		require.NoError(t, err)
	}
	count := func(str jetstream.Stream) uint64 {
		info, err := str.Info(bg)
		if err != nil {
			return 0
		}
		return info.State.Msgs
	}
	ship(50)
	require.Eventually(t, func() bool { return count(all) == 50 }, 30*time.Second, 50*time.Millisecond)

	hub.s.Shutdown() // the line is cut
	hub.s.WaitForShutdown()
	ship(50)
	ship(50)
	hub = startServer(t, hubWith)
	all, err = hub.js().Stream(bg, "HOOKTRAIL_ALL")
	require.NoError(t, err)
	ship(10)
	// Sourcing begins anew after some tens of seconds.
	require.Eventually(t, func() bool { return count(all) == 160 }, 120*time.Second, 200*time.Millisecond)
	require.Equal(t, l.ids, storedIDs(t, all))
}

// certificate makes a certificate and key for 127.0.0.1, signed by itself.
func certificate(t *testing.T, until time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	require.NoError(t, err)
	k, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: k}), 0o600))
	return certFile, keyFile
}

func withTLS(t *testing.T, certFile, keyFile, clientCA string) func(*server.Options) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	require.NoError(t, err)
	cfg := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clientCA != "" {
		b, err := os.ReadFile(clientCA)
		require.NoError(t, err)
		cfg.ClientCAs = x509.NewCertPool()
		cfg.ClientCAs.AppendCertsFromPEM(b)
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return func(o *server.Options) { o.TLSConfig, o.TLSVerify, o.TLSTimeout = cfg, clientCA != "", 2 }
}

func TestTLS(t *testing.T) {
	good, goodKey := certificate(t, time.Now().Add(time.Hour))
	client, clientKey := certificate(t, time.Now().Add(time.Hour))
	old, oldKey := certificate(t, time.Now().Add(-time.Hour))
	for _, tt := range []struct {
		name   string
		server func(*server.Options)
		conn   Conn
		say    string
	}{
		{"trusted", withTLS(t, good, goodKey, ""), Conn{CAFile: good}, ""},
		{"mutual", withTLS(t, good, goodKey, client), Conn{CAFile: good, CertFile: client, KeyFile: clientKey}, ""},
		{"unknown authority", withTLS(t, good, goodKey, ""), Conn{}, "certificate"},
		{"expired", withTLS(t, old, oldKey, ""), Conn{CAFile: old}, "expired"},
		{"no client certificate", withTLS(t, good, goodKey, client), Conn{CAFile: good}, "tls"},
		{"half a client certificate", withTLS(t, good, goodKey, client), Conn{CAFile: good, CertFile: client}, "both"},
		{"no such CA file", withTLS(t, good, goodKey, ""), Conn{CAFile: "/no/such/file"}, "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := startServer(t, tt.server)
			l := newTestLog(t)
			l.add(3)
			o := l.options("tls://" + srv.s.Addr().String())
			tt.conn.URL = o.URL
			o.Conn = tt.conn
			if tt.say == "" {
				_, _, err := CreateStream(bg, o, StreamSpec{})
				require.NoError(t, err)
				_, err = Run(bg, o)
				require.NoError(t, err)
				return
			}
			start := time.Now()
			_, err := Run(bg, o)
			require.ErrorContains(t, err, tt.say)
			require.Less(t, time.Since(start), 6*time.Second)
		})
	}
}

func TestNkeyTokenAndURLPassword(t *testing.T) {
	kp, err := nkeys.CreateUser()
	require.NoError(t, err)
	seed, err := kp.Seed()
	require.NoError(t, err)
	public, err := kp.PublicKey()
	require.NoError(t, err)
	byKey := startServer(t, func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} })
	byToken := startServer(t, func(o *server.Options) { o.Authorization = "a-secret-token" })
	byPassword := startServer(t, func(o *server.Options) { o.Username, o.Password = "u", "SECRETpw/1" })
	for name, c := range map[string]Conn{
		"nkey":     {URL: byKey.url, NkeyFile: secretFile(t, string(seed))},
		"token":    {URL: byToken.url, TokenFile: secretFile(t, "a-secret-token")},
		"password": {URL: "nats://u:SECRETpw%2F1@" + byPassword.s.Addr().String()},
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestLog(t)
			l.add(1)
			o := l.options("")
			o.Conn = c
			_, _, err := CreateStream(bg, o, StreamSpec{})
			require.NoError(t, err)
			_, err = Run(bg, o)
			require.NoError(t, err)
		})
	}
	l := newTestLog(t)
	l.add(1)
	o := l.options("nats://u:SECRETbad@" + byPassword.s.Addr().String())
	n := &notes{}
	o.Note = n.note
	_, err = Run(bg, o)
	require.ErrorContains(t, err, "uthorization")
	b, rerr := os.ReadFile(DefaultCursor(l.path))
	require.NoError(t, rerr)
	require.NotContains(t, joined(err)+string(b)+n.list()[0], "SECRET")
	require.Error(t, Inline(context.Background(), o, time.Second))
}
