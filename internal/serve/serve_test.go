package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
	"hooktrail/internal/ship"
)

const testToken = "0123456789abcdef-token"

// a running server with its client.
type running struct {
	t      *testing.T
	url    string
	client *http.Client
	stop   func() error
	m      *Metrics
}

func run(t *testing.T, o Options) *running {
	t.Helper()
	if o.Handler == nil {
		o.Handler = func(context.Context, io.Reader) answer.Reply { return answer.Reply{} }
	}
	o.Now = time.Now
	if o.Token == "" {
		o.Token = testToken
	}
	if o.Listen == "" && o.Socket == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	s, err := New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	r := &running{t: t, client: &http.Client{Timeout: 20 * time.Second}, m: o.Metrics}
	r.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = r.stop() })
	if o.Socket != "" {
		r.url = "http://unix"
		r.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", o.Socket)
		}}
	} else {
		r.url = "http://" + s.Addrs()[0]
	}
	return r
}

func (r *running) post(body string, headers ...string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.url+"/hook", strings.NewReader(body))
	require.NoError(r.t, err)
	if len(headers) == 0 {
		headers = []string{"Bearer " + testToken}
	}
	for _, h := range headers {
		if h != "" {
			req.Header.Add("Authorization", h)
		}
	}
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close() //nolint:errcheck // a test
	b, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(b)
}

func (r *running) get(path string) (int, string) {
	r.t.Helper()
	resp, err := r.client.Get(r.url + path)
	require.NoError(r.t, err)
	defer resp.Body.Close() //nolint:errcheck // a test
	b, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(b)
}

// A host that announces more than it sends gets its answer when there is one, not
// when the rest of its body has timed out.
func TestTheAnswerWaitsForNoRest(t *testing.T) {
	r := run(t, Options{Handler: func(_ context.Context, in io.Reader) answer.Reply {
		b := make([]byte, 8)
		n, err := io.ReadFull(in, b)
		require.NoError(t, err)
		return answer.Reply{Stdout: []byte(`{"got":"` + string(b[:n]) + `"}`)}
	}})
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	require.NoError(t, err)
	defer c.Close() //nolint:errcheck // a test
	require.NoError(t, c.SetDeadline(time.Now().Add(bodyTimeout-3*time.Second)))
	_, err = fmt.Fprintf(c, "POST /hook HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\nan event", testToken)
	require.NoError(t, err)
	all, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Contains(t, string(all), `{"got":"an event"}`)
}

func TestTokenIsAskedFor(t *testing.T) {
	var calls atomic.Int32
	r := run(t, Options{Handler: func(context.Context, io.Reader) answer.Reply { calls.Add(1); return answer.Reply{} }})
	for _, h := range [][]string{
		{""}, {"Bearer"}, {"Bearer "}, {"Bearer wrong"}, {"Basic " + testToken}, {testToken}, {"Bearer " + testToken + "x"},
		{"Bearer " + testToken, "Bearer wrong"}, {"Bearer " + strings.ToUpper(testToken)},
	} {
		status, body := r.post("{}", h...)
		require.Equal(t, 401, status, h)
		require.NotContains(t, body, testToken)
	}
	require.Zero(t, calls.Load())
	for _, h := range []string{"Bearer " + testToken, "bearer " + testToken} {
		status, body := r.post("{}", h)
		require.Equal(t, 200, status)
		require.Empty(t, body)
	}
	require.EqualValues(t, 2, calls.Load())
}

// Every way of failing behind the token is a deny in a 200: a host lets a call
// run on any other status.
func TestFailuresAreDeniesInTwoHundred(t *testing.T) {
	deny := answer.Encode("PreToolUse", answer.Verdict{Decision: answer.Deny, Code: reason.GuardRuleDenied, Message: "no"})
	for _, tt := range []struct {
		name    string
		handler Handler
		want    string
	}{
		{"the flow denies", func(context.Context, io.Reader) answer.Reply { return deny }, `"permissionDecision":"deny"`},
		{"the flow panics", func(context.Context, io.Reader) answer.Reply { panic("planted") }, `"permissionDecision":"deny"`},
		{"blocked by status alone", func(context.Context, io.Reader) answer.Reply {
			return answer.Reply{Blocked: true, Stderr: "settings would disarm \"us\"\xff"}
		}, `{"decision":"block","reason":"settings would disarm \"us\"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body := run(t, Options{Handler: tt.handler}).post("{}")
			require.Equal(t, 200, status)
			require.Contains(t, body, tt.want)
		})
	}
}

func TestOverloadDenies(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{}, 1)
	r := run(t, Options{MaxCalls: 1, QueueTimeout: 20 * time.Millisecond, Handler: func(context.Context, io.Reader) answer.Reply {
		entered <- struct{}{}
		<-hold
		return answer.Reply{}
	}})
	first := make(chan int, 1)
	go func() { s, _ := r.post("{}"); first <- s }()
	<-entered
	status, body := r.post("{}")
	require.Equal(t, 200, status)
	require.Contains(t, body, `"permissionDecision":"deny"`)
	close(hold)
	require.Equal(t, 200, <-first)
	_, text := r.get("/metrics")
	require.Contains(t, text, `hooktrail_http_refused_total{why="overload"} 1`)
}

func TestOtherPathsAndMethods(t *testing.T) {
	r := run(t, Options{Ready: func() error { return errors.New("disk full") }})
	status, _ := r.get("/hook")
	require.Equal(t, 405, status)
	status, _ = r.get("/")
	require.Equal(t, 404, status)
	status, body := r.get("/healthz")
	require.Equal(t, 200, status)
	require.Equal(t, "ok\n", body)
	status, body = r.get("/readyz")
	require.Equal(t, 503, status)
	require.Contains(t, body, "disk full")
}

func TestOptionsAreChecked(t *testing.T) {
	h := func(context.Context, io.Reader) answer.Reply { return answer.Reply{} }
	for name, o := range map[string]Options{
		"no handler":      {Token: testToken, Now: time.Now},
		"no clock":        {Token: testToken, Handler: h},
		"short token":     {Token: "short", Handler: h, Now: time.Now},
		"all addresses":   {Token: testToken, Handler: h, Now: time.Now, Listen: "0.0.0.0:0"},
		"no host":         {Token: testToken, Handler: h, Now: time.Now, Listen: ":0"},
		"a name":          {Token: testToken, Handler: h, Now: time.Now, Listen: "example.com:0"},
		"metrics for all": {Token: testToken, Handler: h, Now: time.Now, Listen: "127.0.0.1:0", MetricsListen: "0.0.0.0:0"},
	} {
		_, err := New(o)
		require.Error(t, err, name)
	}
	s, err := New(Options{Token: testToken, Handler: h, Now: time.Now, Listen: "0.0.0.0:0", AllowRemote: true})
	require.NoError(t, err)
	s.closeListeners()
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "hook.sock")
	r := run(t, Options{Socket: path})
	fi, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
	status, _ := r.post("{}")
	require.Equal(t, 200, status)
	status, _ = r.post("{}", "")
	require.Equal(t, 401, status)
	_, err = New(Options{Token: testToken, Handler: func(context.Context, io.Reader) answer.Reply { return answer.Reply{} }, Now: time.Now, Socket: path})
	require.ErrorContains(t, err, "another server")
	require.NoError(t, r.stop())

	// What a killed server left is taken over; a file that is no socket is not.
	ln, err := net.Listen("unix", path)
	require.NoError(t, err)
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, ln.Close())
	require.NoError(t, run(t, Options{Socket: path}).stop())
	_ = os.Remove(path)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = New(Options{Token: testToken, Handler: func(context.Context, io.Reader) answer.Reply { return answer.Reply{} }, Now: time.Now, Socket: path})
	require.ErrorContains(t, err, "no socket")
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "serve.token")
	token, made, err := Token(path)
	require.NoError(t, err)
	require.True(t, made)
	require.Len(t, token, 43)
	fi, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
	again, made, err := Token(path)
	require.NoError(t, err)
	require.False(t, made)
	require.Equal(t, token, again)
	require.NoError(t, os.WriteFile(path, []byte("short\n"), 0o600))
	_, _, err = Token(path)
	require.Error(t, err)
	if runtime.GOOS != "windows" {
		require.NoError(t, os.WriteFile(path, []byte(token), 0o600))
		require.NoError(t, os.Chmod(path, 0o640))
		_, _, err = Token(path)
		require.ErrorContains(t, err, "chmod 600")
	}
	_, _, err = Token(t.TempDir())
	require.Error(t, err)
}

// flow records each call as the hook flow does and answers with the event's id.
func flow(log Recorder) Handler {
	return func(ctx context.Context, body io.Reader) answer.Reply {
		b, err := io.ReadAll(body)
		e := &audit.Event{Kind: audit.Invocation, EventID: uuid.Must(uuid.NewV7()).String(), ToolUseID: string(b),
			Decision: reason.Allowed, Reason: reason.GuardReadOnly}
		if err == nil {
			err = log.Record(context.WithoutCancel(ctx), e)
		}
		if err != nil {
			return deny(err.Error())
		}
		return answer.Reply{Stdout: []byte(e.EventID)}
	}
}

// 16 clients at once, and a stop in their middle: each answer that came is of an
// event that is in the log, once, and every event of the log is chained.
func TestManyClientsAndAStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.New(audit.Options{Path: path, Product: "hooktrail/test", Now: time.Now})
	require.NoError(t, err)
	group := NewGroupLog(log, 0)
	r := run(t, Options{Handler: flow(group)})
	const clients, calls = 16, 60
	tr := &http.Transport{MaxIdleConnsPerHost: clients}
	r.client.Transport = tr
	var mu sync.Mutex
	answers := map[string]bool{}
	var wg sync.WaitGroup
	half := make(chan struct{})
	var once sync.Once
	for c := range clients {
		wg.Go(func() {
			for i := range calls {
				req, _ := http.NewRequest(http.MethodPost, r.url+"/hook", strings.NewReader(fmt.Sprintf("toolu_%d_%d", c, i)))
				req.Header.Set("Authorization", "Bearer "+testToken)
				resp, err := r.client.Do(req)
				if err != nil {
					return // the server has stopped
				}
				b, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || resp.StatusCode != 200 {
					continue
				}
				mu.Lock()
				answers[string(b)] = true
				n := len(answers)
				mu.Unlock()
				if n >= clients*calls/2 {
					once.Do(func() { close(half) })
				}
			}
		})
	}
	<-half
	require.NoError(t, r.stop())
	tr.CloseIdleConnections()
	wg.Wait()
	group.Close()
	require.ErrorIs(t, group.Record(context.Background(), &audit.Event{}), errClosed)

	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // a test
	stored := map[string]int{}
	require.NoError(t, audit.Scan(f, func(l audit.Line) error {
		m, ok := ship.ParseMeta(l.Bytes)
		require.True(t, ok)
		stored[m.EventID]++
		return nil
	}))
	require.GreaterOrEqual(t, len(answers), clients*calls/2)
	for id := range answers {
		require.Equal(t, 1, stored[id], id)
	}
}

// A log that counts its writes and can be made to wait or fail.
type slowLog struct {
	mu     sync.Mutex
	writes int
	events int
	gate   chan struct{}
	err    error
	panics bool
}

func (l *slowLog) Record(_ context.Context, events ...*audit.Event) error {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	l.events += len(events)
	if l.panics {
		panic("planted")
	}
	return l.err
}

func (l *slowLog) Digest([]byte) string { return "d" }

func TestGroupLogSharesWrites(t *testing.T) {
	l := &slowLog{gate: make(chan struct{})}
	g := NewGroupLog(l, 0)
	errs := make(chan error, 50)
	for range 50 {
		go func() { errs <- g.Record(context.Background(), &audit.Event{}) }()
	}
	require.Eventually(t, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.waiting) == 49
	}, 5*time.Second, time.Millisecond)
	close(l.gate)
	for range 50 {
		require.NoError(t, <-errs)
	}
	g.Close()
	require.Equal(t, 50, l.events)
	require.LessOrEqual(t, l.writes, 2)
}

func TestGroupLogFailsForAll(t *testing.T) {
	l := &slowLog{err: errors.New("disk full")}
	g := NewGroupLog(l, 0)
	defer g.Close()
	require.EqualError(t, g.Record(context.Background(), &audit.Event{}), "disk full")
	require.EqualError(t, g.Err(), "disk full")
	l.panics = true
	require.Error(t, g.Record(context.Background(), &audit.Event{}))
	l.panics, l.err = false, nil
	require.NoError(t, g.Record(context.Background(), &audit.Event{}))
	require.NoError(t, g.Err())
}

// A caller that leaves while it waits is still written, and others behind it are
// not forgotten.
func TestGroupLogCallerMayLeave(t *testing.T) {
	l := &slowLog{gate: make(chan struct{})}
	g := NewGroupLog(l, 0)
	first, third := make(chan error, 1), make(chan error, 1)
	waits := func(n int) func() bool {
		return func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.writing && len(g.waiting) == n }
	}
	go func() { first <- g.Record(context.Background(), &audit.Event{}) }()
	require.Eventually(t, waits(0), 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, g.Record(ctx, &audit.Event{}), context.DeadlineExceeded)
	go func() { third <- g.Record(context.Background(), &audit.Event{}) }()
	require.Eventually(t, waits(2), 5*time.Second, time.Millisecond)
	close(l.gate)
	require.NoError(t, <-first)
	require.NoError(t, <-third)
	g.Close()
	require.Equal(t, 3, l.events)
}

func TestMetricsFromTheLog(t *testing.T) {
	m := NewMetrics()
	m.Event(ship.Meta{Kind: "invocation", Layer: "guard", Decision: "allowed", Reason: "guard_read_only", Gate: "allow", DurationMs: 3})
	m.Event(ship.Meta{Kind: "invocation", Layer: "audit", Decision: "blocked", Reason: "audit_unavailable", DurationMs: -1})
	m.Event(ship.Meta{Kind: "permission", Layer: "permission", Decision: "denied", Reason: "permission_rule", DurationMs: -1})
	m.Event(ship.Meta{Kind: "invocation", Layer: "x\"\n}", Decision: strings.Repeat("a", 500), DurationMs: -1})
	for i := range maxSeries * 2 {
		m.Event(ship.Meta{Kind: "log", Reason: "r_" + strings.Repeat("a", i%30) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)), DurationMs: -1})
	}
	full := m.Counting(&slowLog{err: errors.New("disk full")})
	require.Error(t, full.Record(context.Background(), &audit.Event{}))
	var b bytes.Buffer
	m.Write(&b)
	for _, want := range []string{
		`hooktrail_invocations_total{layer="guard",decision="allowed",reason="guard_read_only",gate="allow"} 1`,
		`hooktrail_invocation_duration_seconds_bucket{le="0.005"} 1`,
		`hooktrail_audit_failures_total 2`,
		`hooktrail_events_total{kind="permission",layer="permission",decision="denied",reason="permission_rule",gate=""} 1`,
		`hooktrail_invocations_total{layer="other",decision="other",reason="",gate=""} 1`,
	} {
		require.Contains(t, b.String(), want)
	}
	require.LessOrEqual(t, strings.Count(b.String(), "\n"), maxSeries+100)
}
