package ship

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// A testLog writes a chained log as the audit package does, and rotates it in
// the ways of the world.
type testLog struct {
	t    testing.TB
	path string
	seq  uint64
	prev string
	ids  []string
	host string
	when func() time.Time
}

func newTestLog(t testing.TB) *testLog {
	t.Helper()
	return &testLog{t: t, path: filepath.Join(t.TempDir(), "audit.jsonl"), host: "box1", when: time.Now}
}

func (l *testLog) line(extra string) []byte {
	l.seq++
	id := uuid.Must(uuid.NewV7()).String()
	l.ids = append(l.ids, id)
	b := fmt.Appendf(nil, `{"time":%q,"eventId":%q,"seq":%d,"prev":%q,"schemaVersion":1,"product":"hooktrail/test","host":%q,"user":"u","kind":"invocation","sessionId":"s","toolUseId":"toolu_%d","hookEvent":"PreToolUse","tool":"Bash"%s,"layer":"guard","decision":"allowed","reason":"guard_read_only","message":"m"}`,
		l.when().UTC().Format(time.RFC3339Nano), id, l.seq, l.prev, l.host, l.seq, extra)
	l.prev = lineHash(b)
	return b
}

func (l *testLog) add(n int) {
	l.t.Helper()
	var b []byte
	for range n {
		b = append(append(b, l.line("")...), '\n')
	}
	l.write(b)
}

func (l *testLog) addWith(extra string) { l.t.Helper(); l.write(append(l.line(extra), '\n')) }

func (l *testLog) write(b []byte) {
	l.t.Helper()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(l.t, err)
	_, err = f.Write(b)
	require.NoError(l.t, err)
	require.NoError(l.t, f.Close())
}

func (l *testLog) rename(to string) {
	l.t.Helper()
	require.NoError(l.t, os.Rename(l.path, l.path+to))
}

// A testServer is a real nats-server in the process.
type testServer struct {
	t    testing.TB
	s    *server.Server
	opts *server.Options
	url  string
}

func startServer(t testing.TB, change ...func(*server.Options)) *testServer {
	t.Helper()
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(),
		NoLog: true, NoSigs: true,
	}
	for _, c := range change {
		c(o)
	}
	s, err := server.NewServer(o)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(10*time.Second))
	return &testServer{t: t, s: s, opts: o, url: s.ClientURL()}
}

func (s *testServer) js(opts ...nats.Option) jetstream.JetStream {
	s.t.Helper()
	nc, err := nats.Connect(s.url, opts...)
	require.NoError(s.t, err)
	s.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(s.t, err)
	return js
}

func (s *testServer) stream(change ...func(*jetstream.StreamConfig)) jetstream.Stream {
	s.t.Helper()
	o := Options{Stream: DefaultStream, Subject: DefaultSubject}
	cfg := o.config(StreamSpec{})
	for _, c := range change {
		c(&cfg)
	}
	str, err := s.js().CreateStream(context.Background(), cfg)
	require.NoError(s.t, err)
	return str
}

// stored returns what a stream holds, in its order.
func stored(t testing.TB, str jetstream.Stream) []*jetstream.RawStreamMsg {
	t.Helper()
	ctx := context.Background()
	info, err := str.Info(ctx)
	require.NoError(t, err)
	var out []*jetstream.RawStreamMsg
	for n := info.State.FirstSeq; n <= info.State.LastSeq; n++ {
		m, err := str.GetMsg(ctx, n)
		require.NoError(t, err)
		out = append(out, m)
	}
	return out
}

func storedIDs(t testing.TB, str jetstream.Stream) []string {
	t.Helper()
	var ids []string
	for _, m := range stored(t, str) {
		ids = append(ids, m.Header.Get("Nats-Msg-Id"))
	}
	return ids
}

func (l *testLog) options(url string) Options {
	return Options{Log: l.path, Conn: Conn{URL: url}, Now: time.Now, Stall: 5 * time.Second}
}

// notes keeps what shipping records in the log.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) note(_ context.Context, action, message string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, action+": "+message)
	return nil
}

func (n *notes) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.all...)
}

// blackHole returns the address of a listener whose queue is full: a connect to
// it hangs. silent accepts and says nothing.
func silent(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	var kept []net.Conn
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			kept = append(kept, c)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range kept {
			_ = c.Close()
		}
	})
	return "nats://" + ln.Addr().String()
}

func freePort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close() //nolint:errcheck // a test
	return ln.Addr().(*net.TCPAddr).Port
}

func joined(err error) string { return strings.ReplaceAll(fmt.Sprint(err), "\n", " | ") }
