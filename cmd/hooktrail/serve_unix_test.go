//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

// A caller posts hook events as a host does.
type caller struct {
	http  *http.Client
	url   string
	token string
}

var listensOn = regexp.MustCompile(`listens on (127\.0\.0\.1:\d+)`)

// serve starts "hooktrail serve" and returns what calls it.
func (p *place) serve(args ...string) (*service, *caller) {
	p.t.Helper()
	s := p.start(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	require.Eventually(p.t, func() bool { return listensOn.MatchString(s.out.String()) }, 20*time.Second, 10*time.Millisecond)
	token, err := os.ReadFile(filepath.Join(p.dir, "serve.token"))
	require.NoError(p.t, err)
	return s, &caller{
		http:  &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		url:   "http://" + listensOn.FindStringSubmatch(s.out.String())[1] + "/hook",
		token: strings.TrimSpace(string(token)),
	}
}

// post makes one call. An error is a call that got no answer.
func (c *caller) post(body string) (int, string, error) {
	req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode, string(b), err
}

// TestServeEndsUnderManyClients: 16 clients, and a SIGTERM when half of the calls
// are answered. Each answer is that of an event in the log, and there once; what
// comes after the stop is an error for the client and never an answer.
func TestServeEndsUnderManyClients(t *testing.T) {
	p := newPlace(t)
	s, c := p.serve()
	const clients = 16
	calls := number("HOOKTRAIL_TEST_CALLS", 2000)
	var next, answered atomic.Int64
	var mu sync.Mutex
	blocked := map[string]bool{} // by the id of each call that got an answer
	stop := sync.OnceFunc(func() { _ = s.cmd.Process.Signal(syscall.SIGTERM) })
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(calls); n = next.Add(1) {
				status, body, err := c.post(fmt.Sprintf(hookInputs[n%2], n))
				if err != nil {
					continue // the rest of the calls is tried all the same
				}
				if status != http.StatusOK || strings.Contains(body, `"deny"`) != (n%2 == 1) {
					t.Errorf("call %d: %d %s", n, status, body)
				}
				mu.Lock()
				blocked[fmt.Sprintf("toolu_%d", n)] = n%2 == 1
				mu.Unlock()
				if answered.Add(1) == int64(calls/2) {
					stop()
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, s.status(), s.out.String())
	_, _, err := c.post(fmt.Sprintf(hookInputs[0], calls+1))
	require.ErrorIs(t, err, syscall.ECONNREFUSED)

	stored := map[string]int{}
	for _, e := range p.events() {
		if e.Kind != "invocation" {
			continue
		}
		stored[e.ToolUseID]++
		if was, ok := blocked[e.ToolUseID]; ok {
			require.Equal(t, was, e.Decision == reason.Blocked, e.ToolUseID)
		}
	}
	for id := range blocked {
		require.Equal(t, 1, stored[id], id)
	}
	for id, n := range stored {
		require.Equal(t, 1, n, id)
	}
	t.Logf("%d calls, %d answered, %d events", calls, len(blocked), len(stored))
	require.GreaterOrEqual(t, len(blocked), calls/2)
	require.Less(t, len(blocked), calls)
	// A connection that the stop closes in the moment its next call comes can
	// leave an event without an answer; the host blocks that call.
	require.LessOrEqual(t, len(stored)-len(blocked), clients)
}

// TestServeShipsAndEndsOnSIGTERM: the stop ships what is left and leaves the
// cursor behind the last event.
func TestServeShipsAndEndsOnSIGTERM(t *testing.T) {
	p := newPlace(t)
	newNATS(p)
	s, c := p.serve()
	for n := range 20 {
		status, _, err := c.post(fmt.Sprintf(hookInputs[n%4], n))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
	}
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, s.status(), s.out.String())
	require.EqualValues(t, 21, p.cursor()) // the log's first event says that it was opened
	require.Equal(t, 21, len(p.events()))
	p.requireShipped()
}
