//go:build unix

package audit

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/event"
	"hooktrail/internal/schema"
)

// TestMain lets the test binary play the other processes that write a log.
func TestMain(m *testing.M) {
	if mode := os.Getenv("AUDIT_TEST_CHILD"); mode != "" {
		if err := child(mode, os.Getenv("AUDIT_TEST_LOG")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is what a process started by startChild does.
func child(mode, path string) error {
	words := strings.Fields(mode)
	n := 0
	if len(words) > 1 {
		n, _ = strconv.Atoi(words[1])
	}
	l, err := New(Options{Path: path, LockTimeout: 30 * time.Second})
	if err != nil {
		return err
	}
	switch words[0] {
	case "record": // record N: N events, each with a command of 8 KB
		for i := range n {
			e := someEvent(fmt.Sprintf("toolu_%d_%d", os.Getpid(), i))
			e.Command = "echo " + strings.Repeat("x y ", 2000)
			start := time.Now()
			if err := l.Record(context.Background(), e); err != nil {
				return err
			}
			fmt.Println(time.Since(start).Microseconds())
		}
	case "forever": // prints the id of each event once it is on disk
		for i := 0; ; i++ {
			e := someEvent(fmt.Sprintf("toolu_%d_%d", os.Getpid(), i))
			e.Command = strings.Repeat("abc ", i%2000)
			if err := l.Record(context.Background(), e); err != nil {
				return err
			}
			fmt.Println(e.ToolUseID)
		}
	case "hold": // takes the lock and keeps it
		f, err := openLock(path + ".lock")
		if err != nil {
			return err
		}
		if err := lock(f); err != nil {
			return err
		}
		fmt.Println("held")
		select {}
	case "key": // prints the digest of "x"
		fmt.Println(l.Digest([]byte("x")), l.KeyError())
	}
	return nil
}

func childCmd(t *testing.T, path, mode string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "AUDIT_TEST_CHILD="+mode, "AUDIT_TEST_LOG="+path)
	return cmd
}

// startHolder starts a process that holds the log's lock, and returns it once
// it does.
func startHolder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := childCmd(t, path, "hold")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s := bufio.NewScanner(out)
	require.True(t, s.Scan())
	require.Equal(t, "held", s.Text())
	return cmd
}

// someEvent returns an event as a hook makes it.
func someEvent(id string) *Event {
	code, late, ms := int64(0), false, int64(3)
	return &Event{
		Kind: Invocation, SessionID: "s1", HookEvent: "PreToolUse", ToolUseID: id, Tool: "Bash",
		CWD: "/home/dev/p", Command: "go test ./...", Input: &Input{Bytes: 30, HMAC: strings.Repeat("ab", 32)},
		Decision: "allowed", Reason: "guard_unguarded", Message: "outside the guard's scope",
		HookName: "hooktrail", OnFailure: "block", ExitCode: &code, TimedOut: &late, Gate: "allow",
		DurationMs: &ms, DeadlineMs: &ms,
	}
}

func newLog(t *testing.T, o Options) *Log {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "audit.jsonl")
	}
	if o.Product == "" {
		o.Product = "hooktrail/0.0.0"
	}
	l, err := New(o)
	require.NoError(t, err)
	return l
}

// record records n events, each on its own.
func record(t *testing.T, l *Log, n int) {
	t.Helper()
	for i := range n {
		require.NoError(t, l.Record(t.Context(), someEvent(fmt.Sprintf("toolu_%d", i))))
	}
}

// lines returns the lines of a file after checking that each is strict and an
// event of the schema.
func lines(t *testing.T, path string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	if len(b) == 0 {
		return nil
	}
	require.True(t, bytes.HasSuffix(b, []byte("\n")), "the file ends without a newline")
	all := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	for i, line := range all {
		conform(t, line, i+1)
	}
	return all
}

// conform requires that a line be strict and follow the schema.
func conform(t testing.TB, line []byte, n int) {
	t.Helper()
	require.Less(t, len(line), MaxLine, "line %d", n)
	require.True(t, strictLine(line), "line %d is not strict: %.300q", n, line)
	v, err := event.Decode(line, 64)
	require.NoError(t, err, "line %d", n)
	require.Empty(t, schema.Validate("audit-event", v), "line %d: %.600s", n, line)
	_, err = Decode(line)
	require.NoError(t, err, "line %d", n)
}

func events(t *testing.T, path string) []Event {
	t.Helper()
	var out []Event
	for _, line := range lines(t, path) {
		e, err := Decode(line)
		require.NoError(t, err)
		out = append(out, e)
	}
	return out
}

// actions returns the actions of a file's log events, in their order.
func actions(t *testing.T, path string) []string {
	t.Helper()
	var out []string
	for _, e := range events(t, path) {
		if e.Kind == LogKind {
			out = append(out, e.Action)
		}
	}
	return out
}

// verify returns the codes of what Verify found, as LINE code.
func verify(t *testing.T, path string) []string {
	t.Helper()
	r, err := Verify(t.Context(), path)
	require.NoError(t, err)
	return codes(r.Findings)
}

func codes(found []Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, fmt.Sprintf("%d %s", f.Line, f.Code))
	}
	return out
}
