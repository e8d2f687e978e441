//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/ship"
)

// hookInputs are one call of each kind of answer. %d is the call's number.
var hookInputs = []string{
	`{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"go test ./..."},"tool_use_id":"toolu_%d"}`,
	`{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"PreToolUse","tool_name":"mcp__lab__erase","tool_input":{"vm":"db1"},"tool_use_id":"toolu_%d"}`,
	`{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":""},"tool_use_id":"toolu_%d"}`,
	`{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"PreToolUse","tool_name":7,"tool_input":{},"tool_use_id":"toolu_%d"}`,
}

var eventID = regexp.MustCompile(`\[hooktrail event ([0-9a-f-]{36})\]`)

// hook runs one hook. The id that its answer names is returned by itself.
func (p *place) hook(input string) (outcome, string) {
	p.t.Helper()
	o, id := p.run(input, "hook"), ""
	if m := eventID.FindStringSubmatch(o.stderr); m != nil {
		id = m[1]
		o.stdout, o.stderr = strings.ReplaceAll(o.stdout, id, "ID"), strings.ReplaceAll(o.stderr, id, "ID")
	}
	return o, id
}

// TestHooksAroundAKilledServer: 60 hooks, each a process that ships inline, in
// ones, twos and threes at once, and a kill -9 of the server at a random moment
// under one of them. Every answer is that of a hook without NATS, and after
// "hooktrail ship" the stream holds every event once.
func TestHooksAroundAKilledServer(t *testing.T) {
	without := newPlace(t)
	want := make([]outcome, len(hookInputs)) // with the event's id taken out
	var alone time.Duration
	for i, in := range hookInputs {
		start := time.Now()
		want[i], _ = without.hook(fmt.Sprintf(in, i))
		alone = max(alone, time.Since(start))
	}
	require.Equal(t, outcome{}, want[0])
	require.Equal(t, 2, want[1].status)
	require.Equal(t, outcome{}, want[2])
	require.Equal(t, 2, want[3].status)

	for round := range number("HOOKTRAIL_TEST_ROUNDS", 2) {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			p := newPlace(t)
			srv := newNATS(p)
			killAt := rand.IntN(50)
			backAt := killAt + 3 + rand.IntN(7)
			killed := make(chan struct{})
			after := time.Duration(rand.IntN(120)) * time.Millisecond
			back := false
			var took []time.Duration
			var named []string // in answers
			var mu sync.Mutex
			for i := 0; i < 60; {
				if i >= backAt && !back {
					back = true
					<-killed
					srv.start() // the next hooks meet it while it starts
				}
				var wg sync.WaitGroup
				for range min(1+rand.IntN(3), 60-i) {
					if i == killAt {
						dying := srv.cmd.Process
						time.AfterFunc(after, func() { defer close(killed); _ = dying.Signal(syscall.SIGKILL) })
					}
					n := i
					wg.Go(func() {
						start := time.Now()
						got, id := p.hook(fmt.Sprintf(hookInputs[n%4], n))
						mu.Lock()
						defer mu.Unlock()
						took = append(took, time.Since(start))
						if id != "" {
							named = append(named, id)
						}
						if got != want[n%4] {
							t.Errorf("call %d: %+v, without NATS %+v", n, got, want[n%4])
						}
					})
					i++
				}
				wg.Wait()
			}
			srv.wait()
			shipped := p.run("", "ship")
			require.Zero(t, shipped.status, shipped.stderr)

			slices.Sort(took)
			t.Logf("kill at %d after %v, back at %d; a hook took %v, at most %v (without NATS at most %v)", killAt, after, backAt, took[30], took[59], alone)
			require.Less(t, took[59], 5*time.Second)
			calls := map[string]int{}
			for _, e := range p.events() {
				if e.Kind == "invocation" {
					calls[e.ToolUseID]++
				}
			}
			total := 0
			for id, n := range calls {
				total += n
				require.True(t, id == "" || n == 1, "%s: %d events", id, n) // a broken event may have no id
			}
			require.Equal(t, 60, total)
			p.requireShipped()
			require.Len(t, named, 30)
			require.Subset(t, p.stream(), named)
		})
	}
}

// cursor returns the number of the last event that is known to be in the stream.
func (p *place) cursor() uint64 { return ship.ReadCursor(ship.Options{Log: p.log}).At.Seq }

// TestFollowEndsOnSIGTERM: "ship --follow" is told to stop while hooks go on. It
// ends with status 0, and what the cursor stands behind is in the stream; the
// next run sends the rest, and nothing twice.
func TestFollowEndsOnSIGTERM(t *testing.T) {
	p := newPlace(t)
	newNATS(p)
	quiet := *p // hooks that leave the shipping to the shipper
	quiet.nats = ""
	hooks := func(from, to int) {
		for i := from; i < to; i++ {
			require.Equal(t, outcome{}, quiet.run(fmt.Sprintf(hookInputs[0], i), "hook"))
		}
	}
	hooks(0, 5)
	s := p.start("ship", "--follow")
	// The log's first event says that it was opened.
	require.Eventually(t, func() bool { return p.cursor() == 6 }, 20*time.Second, 5*time.Millisecond, &s.out)
	hooks(5, 8)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	hooks(8, 12)
	require.Zero(t, s.status(), s.out.String())
	require.Contains(t, s.out.String(), "hooktrail ship: stopped; ")
	at := p.cursor()
	require.GreaterOrEqual(t, at, uint64(6))
	require.Len(t, p.stream(), int(at)) // a graceful stop waits for what is in flight

	rest := p.run("", "ship")
	require.Zero(t, rest.status, rest.stderr)
	require.True(t, strings.HasPrefix(rest.stdout, fmt.Sprintf("%d events acknowledged", 13-at)), rest.stdout)
	require.EqualValues(t, 13, p.cursor())
	p.requireShipped()
}
