package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"hooktrail/internal/zerto/zertotest"
)

// guardOf returns "hooktrail hook" on a call that changes app03, and the path of
// its log. provider is a member of the configuration.
func guardOf(t *testing.T, provider string) (cmd *exec.Cmd, log string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	cfg := filepath.Join(dir, "c.json")
	log = filepath.Join(dir, "log", "audit.jsonl")
	require.NoError(t, os.WriteFile(cfg, []byte(`{"guard":{"scope":["mcp__vm__*"],"rules":[{"tools":["mcp__vm__stop"],"class":"mutating","vm":{"path":"name"}}]},`+provider+`}`), 0o600))
	cmd = &exec.Cmd{
		Path: self, Args: []string{"hooktrail", "hook", "--config", cfg, "--log", log},
		Env:   append(os.Environ(), "HOME="+dir, "ZERTO_SECRET=s3cr3t"),
		Stdin: strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp__vm__stop","tool_input":{"name":"app03"},"tool_use_id":"t"}`),
	}
	return cmd, log
}

// givesUp ends cmd as a host does, TERM first, and returns its one decision.
func givesUp(t *testing.T, cmd *exec.Cmd, out *bytes.Buffer, log string) (decision gjson.Result, steps []string) {
	t.Helper()
	start := time.Now()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 2, status(cmd.Wait()))
	require.Less(t, time.Since(start), 1500*time.Millisecond, "the host sends KILL then")
	require.Equal(t, "deny", gjson.Get(out.String(), "hookSpecificOutput.permissionDecision").Str, out.String())
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	var all []gjson.Result
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		switch e := gjson.Parse(line); e.Get("kind").Str {
		case "invocation":
			all = append(all, e)
		case "checkpoint":
			steps = append(steps, e.Get("action").Str)
		}
	}
	require.Len(t, all, 1, string(b))
	require.Equal(t, "blocked", all[0].Get("decision").Str)
	return all[0], steps
}

// TestAHostThatEndsTheWaitForATag: the tag that was asked for is remembered as
// unconfirmed, so that the next call can find it.
func TestAHostThatEndsTheWaitForATag(t *testing.T) {
	zvm := zertotest.New(zertotest.Three(), zertotest.Options{Now: time.Now})
	waiting, once := make(chan struct{}), sync.Once{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/checkpoints") && len(zvm.Posts()) > 0 {
			once.Do(func() { close(waiting) })
		}
		zvm.ServeHTTP(w, r)
	}))
	defer server.Close()
	cmd, log := guardOf(t, `"zerto":{"url":"`+server.URL+`","auth":{"clientSecretEnv":"ZERTO_SECRET"}}`)
	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	select {
	case <-waiting:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatalf("no tag was waited for: %s", &out)
	}
	decision, steps := givesUp(t, cmd, &out, log)
	tag := zvm.Posts()[0].Tag
	require.Equal(t, "guard_checkpoint_unconfirmed", decision.Get("reason").Str)
	require.Equal(t, tag, decision.Get("checkpoint.tag").Str)
	require.Equal(t, []string{"requested"}, steps)
	kept, err := os.ReadFile(filepath.Join(filepath.Dir(log), "checkpoints.json"))
	require.NoError(t, err)
	entry := gjson.GetBytes(kept, `groups.*.entries.0`)
	require.Equal(t, tag, entry.Get("tag").Str, string(kept))
	require.Equal(t, "requested", entry.Get("state").Str, string(kept))
	require.True(t, entry.Get("unconfirmed").Exists(), string(kept))
}

// TestAHostThatEndsASnapshot: the command is ended, and its snapshot is recorded
// as failed.
func TestAHostThatEndsASnapshot(t *testing.T) {
	fifo := pipe(t)
	cmd, log := guardOf(t, `"exec":{"command":["sh","-c","trap '' TERM; echo $$ >`+fifo+`; while :; do sleep 1; done"]}`)
	var out bytes.Buffer
	cmd.Stdout = &out
	child := startChild(t, cmd, fifo)
	decision, steps := givesUp(t, cmd, &out, log)
	require.Equal(t, "guard_checkpoint_failed", decision.Get("reason").Str)
	require.Contains(t, decision.Get("message").Str, "the host gave up")
	require.Equal(t, []string{"requested", "failed"}, steps)
	require.True(t, gone(child))
}

// A log path that leads to the file of the process's own output would put events
// into the answer.
func TestHookLogIsNotItsOutput(t *testing.T) {
	for _, log := range []string{"/dev/stdout", "/dev/stderr", "/proc/self/fd/1", "out"} {
		t.Run(strings.ReplaceAll(log, "/", "_"), func(t *testing.T) {
			self, err := os.Executable()
			require.NoError(t, err)
			dir := t.TempDir()
			var files [2]*os.File
			for i, name := range []string{"out", "err"} {
				files[i], err = os.Create(filepath.Join(dir, name))
				require.NoError(t, err)
				defer files[i].Close() //nolint:errcheck // a test
			}
			cmd := &exec.Cmd{
				Path: self, Args: []string{"hooktrail", "hook", "--log", log}, Dir: dir,
				Env:    append(os.Environ(), "HOME="+dir),
				Stdin:  strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}`),
				Stdout: files[0], Stderr: files[1],
			}
			require.Equal(t, 2, status(cmd.Run()))
			out, err := os.ReadFile(files[0].Name())
			require.NoError(t, err)
			require.Equal(t, "deny", gjson.GetBytes(out, "hookSpecificOutput.permissionDecision").Str, string(out))
			require.Equal(t, 1, bytes.Count(out, []byte("\n")), string(out))
			said, err := os.ReadFile(files[1].Name())
			require.NoError(t, err)
			require.Contains(t, string(said), "the output of this process goes to the same file")
		})
	}
}

// A result that nobody could read is no success.
func TestResultsThatCannotBeWritten(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	log := filepath.Join(dir, "audit.jsonl")
	call := func(out *os.File, in string, args ...string) int {
		cmd := exec.Cmd{Path: self, Args: append([]string{"hooktrail"}, args...), Env: append(os.Environ(), "HOME="+dir), Stdin: strings.NewReader(in)}
		if out != nil { // else a nil *os.File would be a writer
			cmd.Stdout = out
		}
		return status(cmd.Run())
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close() //nolint:errcheck // a test
	require.Equal(t, 0, call(nil, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}`, "hook", "--log", log))
	for _, args := range [][]string{
		{"verify", "--log", log}, {"ship", "--status", "--log", log}, {"report", "--log", log}, {"tail", "--log", log},
		{"checkpoints", "--log", log}, {"schema"}, {"gate"}, {"version"}, {"-h"},
	} {
		want := 2
		if args[0] == "version" || args[0] == "-h" {
			want = 0 // nothing hangs on them
		}
		require.Equal(t, want, call(full, `{"hookName":"h","onFailure":"block","exitCode":0,"timedOut":false}`, args...), args)
	}
}
