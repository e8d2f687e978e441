package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
	"hooktrail/internal/config"
	"hooktrail/internal/event"
	"hooktrail/internal/guard"
	"hooktrail/internal/hook"
	"hooktrail/internal/serve"

	"hooktrail/internal/answer"
)

const serveToken = "0123456789abcdef-bench"

const bashEvent = `{"session_id":"0f7b2c1e-0000-4000-8000-000000000001","transcript_path":"/home/u/.claude/t.jsonl","cwd":"/home/u/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"go test ./..."},"tool_use_id":"toolu_000000000000000000000001"}`

// emptyServer runs the endpoint with nothing behind it: what HTTP alone costs.
func emptyServer(b *testing.B) string {
	b.Helper()
	return serveOn(b, func(_ context.Context, body io.Reader) answer.Reply {
		_, _ = io.Copy(io.Discard, body)
		return answer.Reply{}
	})
}

func serveOn(b *testing.B, h serve.Handler) (url string) {
	b.Helper()
	srv, err := serve.New(serve.Options{Handler: h, Token: serveToken, Listen: "127.0.0.1:0", Now: time.Now})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	return "http://" + srv.Addrs()[0]
}

// hookServer runs the endpoint with the whole flow behind it.
func hookServer(b *testing.B) (url string, logPath string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	log, err := audit.New(audit.Options{Path: path, Product: "hooktrail/bench", Now: time.Now})
	require.NoError(b, err)
	g, err := guard.New(config.Config{}, nil)
	require.NoError(b, err)
	group := serve.NewGroupLog(log, 0)
	flow := hook.New(hook.Options{Log: group, Judge: &hook.Guarded{Guard: g}, Limits: event.Limits{}, Now: time.Now})
	b.Cleanup(group.Close)
	return serveOn(b, flow.Run), path
}

func call(client *http.Client, url string) error {
	req, err := http.NewRequest(http.MethodPost, url+"/hook", strings.NewReader(bashEvent))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+serveToken)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it is read to its end
	_, err = io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != 200 {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return err
}

// BenchmarkHTTPHook is one client that calls POST /hook, and beside it, in turns,
// the yardstick: the same event parsed, appended and synced inside one process.
// It reports the medians and how many times the one is the other, and also how
// many times the yardstick and a call with nothing behind it together: the
// yardstick has no HTTP in it.
func BenchmarkHTTPHook(b *testing.B) {
	url, _ := hookServer(b)
	client := &http.Client{Timeout: 20 * time.Second}
	require.NoError(b, call(client, url))
	empty := emptyServer(b)
	require.NoError(b, call(client, empty))
	plain := parseAppendSync(b)
	var hooks, plains, empties []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := call(client, url); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if err := plain(); err != nil {
			b.Fatal(err)
		}
		then := time.Now()
		if err := call(client, empty); err != nil {
			b.Fatal(err)
		}
		hooks, plains, empties = append(hooks, between.Sub(start)), append(plains, then.Sub(between)), append(empties, time.Since(then))
	}
	h, p, e := middle(hooks), middle(plains), middle(empties)
	b.ReportMetric(h, "p50-ms")
	b.ReportMetric(p, "plain-p50-ms")
	b.ReportMetric(e, "empty-p50-ms")
	b.ReportMetric(h/p, "times-plain")
	b.ReportMetric(h/(p+e), "times-plain-and-empty")
}

// parseAppendSync returns what a program does that only parses the event,
// appends a line and syncs it.
func parseAppendSync(b *testing.B) func() error {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "plain.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b, err)
	b.Cleanup(func() { _ = f.Close() })
	line := []byte(strings.Repeat("x", 900) + "\n")
	return func() error {
		var v any
		if err := json.Unmarshal([]byte(bashEvent), &v); err != nil {
			return err
		}
		if _, err := f.Write(line); err != nil {
			return err
		}
		return f.Sync()
	}
}

// BenchmarkHTTPHook16 is 16 clients at once; it reports calls a second, the
// median and the 99th percentile.
func BenchmarkHTTPHook16(b *testing.B) {
	url, path := hookServer(b)
	const clients, calls = 16, 625
	for b.Loop() {
		client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: clients, DialContext: (&net.Dialer{}).DialContext}}
		var mu sync.Mutex
		var took []time.Duration
		var wg sync.WaitGroup
		start := time.Now()
		for range clients {
			wg.Go(func() {
				for range calls {
					s := time.Now()
					err := call(client, url)
					mu.Lock()
					took = append(took, time.Since(s))
					if err != nil {
						b.Error(err)
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		b.ReportMetric(clients*calls/time.Since(start).Seconds(), "calls/s")
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(middle(took), "p50-ms")
		client.CloseIdleConnections()
	}
	n := 0
	f, err := os.Open(path)
	require.NoError(b, err)
	defer f.Close() //nolint:errcheck // a benchmark
	require.NoError(b, audit.Scan(f, func(audit.Line) error { n++; return nil }))
	require.GreaterOrEqual(b, n, clients*calls)
}

// middle returns the median in milliseconds.
func middle(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}
