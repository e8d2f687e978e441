package ship

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// docsConfigs reads the configuration files of docs/nats.md, with free ports and
// temporary folders in the place of those that are named.
func docsConfigs(t *testing.T) map[string]*server.Options {
	t.Helper()
	b, err := os.ReadFile("../../docs/nats.md")
	require.NoError(t, err)
	dir := t.TempDir()
	ports := map[string]string{}
	out := map[string]*server.Options{}
	for _, m := range regexp.MustCompile("(?ms)^```conf (\\S+)\n(.*?)^```$").FindAllStringSubmatch(string(b), -1) {
		text := strings.ReplaceAll(m[2], "/var/lib/nats", filepath.Join(dir, m[1], "js"))
		text = regexp.MustCompile(`127\.0\.0\.1:(\d+)`).ReplaceAllStringFunc(text, func(s string) string {
			if ports[s] == "" {
				ports[s] = "127.0.0.1:" + strconv.Itoa(freePort(t))
			}
			return ports[s]
		})
		name := filepath.Join(dir, m[1])
		require.NoError(t, os.MkdirAll(name, 0o700))
		name = filepath.Join(name, "nats.conf")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		o, err := server.ProcessConfigFile(name)
		require.NoError(t, err, m[1])
		o.NoLog, o.NoSigs = true, true
		out[m[1]] = o
	}
	return out
}

func startOptions(t *testing.T, o *server.Options) *testServer {
	t.Helper()
	require.NotNil(t, o)
	s, err := server.NewServer(o)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(10*time.Second))
	return &testServer{t: t, s: s, opts: o, url: s.ClientURL()}
}

func TestDocs(t *testing.T) {
	for _, w := range []string{"ADMIN", "SIEM", "BOX1"} {
		t.Setenv(w+"_PASSWORD", strings.ToLower(w)+"-password")
	}
	configs := docsConfigs(t)
	require.Len(t, configs, 4)

	t.Run("single", func(t *testing.T) {
		srv := startOptions(t, configs["single.conf"])
		require.True(t, srv.opts.SyncAlways)
		l := newTestLog(t)
		l.add(3)
		created, _, err := CreateStream(bg, l.options(srv.url), StreamSpec{MaxBytes: 1 << 30})
		require.NoError(t, err)
		require.True(t, created)
		created, differs, err := CreateStream(bg, l.options(srv.url), StreamSpec{})
		require.NoError(t, err)
		require.False(t, created)
		require.Empty(t, differs)
		_, err = Run(bg, l.options(srv.url))
		require.NoError(t, err)
	})
	t.Run("accounts", func(t *testing.T) {
		srv := startOptions(t, configs["accounts.conf"])
		l := newTestLog(t)
		l.add(3)
		admin := l.options(srv.url)
		admin.User, admin.PasswordFile = "admin", secretFile(t, "admin-password")
		_, _, err := CreateStream(bg, admin, StreamSpec{})
		require.NoError(t, err)
		box := l.options(srv.url)
		box.User, box.PasswordFile = "box1", secretFile(t, "box1-password")
		_, err = Run(bg, box)
		require.NoError(t, err)
		require.ErrorIs(t, Tail(bg, box, TailOptions{}, func([]byte) error { return nil }), ErrNoRead)
		siem := l.options(srv.url)
		siem.User, siem.PasswordFile = "siem", secretFile(t, "siem-password")
		n := 0
		require.NoError(t, Tail(bg, siem, TailOptions{}, func([]byte) error { n++; return nil }))
		require.Equal(t, 3, n)
		nc, err := nats.Connect(srv.url, nats.UserInfo("siem", "siem-password"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		require.NoError(t, err)
		defer nc.Close()
		require.NoError(t, nc.Publish("hooktrail.audit.v1.box1.guard.allowed", []byte("{}"))) // dropped by the server
		require.NoError(t, nc.Flush())
		require.ErrorIs(t, nc.LastError(), nats.ErrPermissionViolation)
	})
	t.Run("leaf and hub", func(t *testing.T) {
		hub := startOptions(t, configs["hub.conf"])
		leaf := startOptions(t, configs["leaf.conf"])
		l := newTestLog(t)
		l.add(5)
		_, _, err := CreateStream(bg, l.options(leaf.url), StreamSpec{})
		require.NoError(t, err)
		all, err := hub.js().CreateStream(bg, jetstream.StreamConfig{
			Name: "HOOKTRAIL_ALL", DenyDelete: true, DenyPurge: true,
			Sources: []*jetstream.StreamSource{{Name: DefaultStream, External: &jetstream.ExternalStream{APIPrefix: "$JS.box1.API"}}},
		})
		require.NoError(t, err)
		_, err = Run(bg, l.options(leaf.url))
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			info, err := all.Info(bg)
			return err == nil && info.State.Msgs == 5
		}, 60*time.Second, 50*time.Millisecond)
		require.Equal(t, l.ids, storedIDs(t, all))
	})
}

// The right to read one's own host back, as docs/nats.md words it.
func TestDocsRightToReadBack(t *testing.T) {
	b, err := os.ReadFile("../../docs/nats.md")
	require.NoError(t, err)
	m := regexp.MustCompile("(?ms)^```\npublish: \\[(.*?)\\]\n```$").FindStringSubmatch(string(b))
	require.NotNil(t, m)
	var allow []string
	for _, q := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(m[1], -1) {
		allow = append(allow, q[1])
	}
	srv := startServer(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "admin", Password: "admin-pass"}, {Username: "box1", Password: "box1-pass", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: allow}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}}}
	})
	l := newTestLog(t)
	l.when = func() time.Time { return time.Now().Add(-time.Hour) }
	l.add(5)
	js := srv.js(nats.UserInfo("admin", "admin-pass"))
	cfg := (&Options{Stream: DefaultStream, Subject: DefaultSubject}).config(StreamSpec{})
	cfg.Duplicates = 100 * time.Millisecond
	str, err := js.CreateStream(bg, cfg)
	require.NoError(t, err)
	o := l.options(srv.url)
	o.User, o.PasswordFile = "box1", secretFile(t, "box1-pass")
	_, err = Run(bg, o)
	require.NoError(t, err)
	time.Sleep(150 * time.Millisecond) // the window is the server's own clock
	require.NoError(t, os.Remove(DefaultCursor(l.path)))
	res, err := Run(bg, o)
	require.NoError(t, err)
	require.EqualValues(t, 5, res.Present)
	require.Equal(t, l.ids, storedIDs(t, str))
	c, err := Compare(bg, o)
	require.NoError(t, err)
	require.True(t, c.Sound())
	// Another host's events stay out of reach.
	require.Error(t, Tail(bg, o, TailOptions{Host: "box2"}, func([]byte) error { return nil }))
}

func TestServiceUnits(t *testing.T) {
	f, err := os.Open("../../hooks/service/com.hooktrail.serve.plist")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // a test
	d := xml.NewDecoder(f)
	for err == nil {
		_, err = d.Token()
	}
	require.True(t, errors.Is(err, io.EOF), err)
	unit, err := os.ReadFile("../../hooks/service/hooktrail.service")
	require.NoError(t, err)
	for _, want := range []string{"ExecStart=%h/.local/bin/hooktrail serve", "Restart=always", "KillSignal=SIGTERM", "WantedBy=default.target"} {
		require.Contains(t, string(unit), want)
	}
}
