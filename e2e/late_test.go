//go:build e2e && linux

package e2e

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/zerto/zertotest"
)

// hang makes the simulated ZVM sit on calls whose path has this part.
func hang(part string) func(*zertotest.World) {
	return func(w *zertotest.World) { w.Knobs.Faults = []zertotest.Fault{{Path: part, Hang: time.Hour}} }
}

// unheard is a port that takes no connection and refuses none: its queue is
// full, so that the caller's first packet is dropped again and again.
func unheard(t *testing.T) string {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	name, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 10 {
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("the queue of the port does not fill up")
	return ""
}

// hold keeps the log's lock, as a writer that is stuck would.
func hold(t *testing.T, g guarded) {
	f, err := os.OpenFile(g.state+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
}

const powerOff = "mcp__vsphere__vm_power_off"

// TestOurBudgetRunsOutFirst: whatever hangs, our own time ends before the
// host's, and our deny is what the model is told. The entries have no onFailure,
// so if the host's time ended first, the call would run.
func TestOurBudgetRunsOutFirst(t *testing.T) {
	const never = `cat >/dev/null; `
	for _, tt := range []struct {
		name   string
		config func(t *testing.T) string
		spoil  func(t *testing.T, g guarded)
		wrap   string
		http   bool // the guard is a server
		told   string
		reason string
		gate   string
	}{
		{name: "a checkpoint that is never listed", config: func(t *testing.T) string {
			return zvm(t, "3s", func(w *zertotest.World) { w.Knobs.NeverListed, w.Groups[0].Cadence = true, time.Second })
		}, told: "not in the list of checkpoints yet", reason: "guard_checkpoint_unconfirmed", gate: "allow"},
		{name: "a ZVM that takes no connection", config: func(t *testing.T) string { return zvmAt(t, "http://"+unheard(t), "2s") }, told: "no answer in time", reason: "guard_lookup_failed", gate: "allow"},
		{name: "a ZVM whose login hangs", config: func(t *testing.T) string { return zvm(t, "2s", hang("token")) }, told: "no answer in time", reason: "guard_lookup_failed", gate: "allow"},
		{name: "a ZVM whose answer hangs", config: func(t *testing.T) string { return zvm(t, "2s", hang("/v1/vms")) }, told: "no answer in time", reason: "guard_lookup_failed", gate: "allow"},
		{name: "a hook that hangs", wrap: never + "exec sleep 60", told: "did not end within 2s", reason: "hook_callback_failed", gate: "timeout_block"},
		{name: "a hook that ignores TERM, its children holding the pipes", wrap: never + "trap '' TERM; sleep 60 & setsid sleep 60 & while :; do sleep 1; done", told: "did not end within 2s", reason: "hook_callback_failed", gate: "timeout_block"},
		{name: "an endpoint whose guard hangs", http: true, config: func(t *testing.T) string { return zvm(t, "2s", hang("/v1/vms")) }, told: "no answer in time", reason: "guard_lookup_failed", gate: "allow"},
		{name: "a log whose lock is held", config: func(*testing.T) string {
			return `{"audit": {"log": "@LOG@", "lockTimeout": "2s"}, "guard": {"unlisted": "allow"}}`
		}, spoil: hold, told: "lock", reason: ""},
	} {
		for mode, args := range map[string][]string{"default": nil, "bypassPermissions": bypass} {
			t.Run(tt.name+", "+mode, func(t *testing.T) {
				t.Parallel()
				config := rules
				if tt.config != nil {
					config = tt.config(t)
				}
				s, g := install(t, config)
				if tt.spoil != nil {
					tt.spoil(t, g)
				}
				if tt.wrap != "" {
					s.User = strings.Replace(wrapped(t, g, tt.wrap, ""), `"5s"`, `"2s"`, 1)
				}
				if tt.http {
					addr, _ := serving(t, g.home, g.config)
					s.User, s.Env = endpoint(t, addr, nil)
				}
				s.User = hurry(t, s.User)
				s.MCP, s.Args = true, args
				s.Turns = []turn{mcp("vm_power_off", map[string]any{"vm_name": "app01"})}
				r := play(t, s)

				require.False(t, r.made("mcp-vm_power_off"))
				told, ok := r.result(0, 0)
				require.True(t, ok)
				require.True(t, told.Error)
				require.Contains(t, told.Text, tt.told)
				require.NotContains(t, told.Text, "timed out; blocking", "these would be the host's words")
				if tt.reason == "" {
					return // the log is what hangs
				}
				e := g.judged(t, "PreToolUse", "")
				require.Equal(t, tt.reason, e["reason"])
				require.Equal(t, "blocked", e["decision"])
				require.Equal(t, tt.gate, e["gate"])
				require.Equal(t, tt.gate == "timeout_block", e["timedOut"] == true)
				require.Contains(t, told.Text, e["eventId"])
			})
		}
	}
}

// hurry gives the entries before a call 12 seconds and takes their onFailure
// away. Rules let the call run, where no hook speaks against it.
func hurry(t *testing.T, user string) string {
	t.Helper()
	return reword(t, user, func(all obj) {
		all["permissions"] = obj{"allow": []any{powerOff}}
		for _, g := range all["hooks"].(obj)["PreToolUse"].([]any) {
			for _, e := range g.(obj)["hooks"].([]any) {
				e.(obj)["timeout"] = 12
				delete(e.(obj), "onFailure")
			}
		}
	})
}
