//go:build unix

package supervise

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hook returns a Spec of the test binary with a habit and a generous deadline.
func hook(habit string) Spec {
	return Spec{
		Command:  []string{os.Args[0]},
		Env:      append(os.Environ(), "HOOK_HABIT="+habit, "GORACE=atexit_sleep_ms=0"), // no second's wait at its end under -race
		Stdin:    []byte(`{"hook_event_name":"PreToolUse"}` + "\n"),
		Deadline: time.Now().Add(20 * time.Second),
		Now:      time.Now,
	}
}

func within(s Spec, d time.Duration) Spec {
	s.Deadline = time.Now().Add(d)
	return s
}

func TestExitStatusStaysAsItIs(t *testing.T) {
	for _, code := range []string{"0", "1", "2", "3", "77", "124", "126", "127", "200", "255"} {
		r := Run(context.Background(), hook("read,exit:"+code))
		require.Equal(t, code, itoa(r.ExitCode))
		require.True(t, r.Started)
		require.False(t, r.TimedOut)
		require.Empty(t, r.Signal)
	}
}

func TestDeathBySignal(t *testing.T) {
	for sig, want := range map[syscall.Signal]int64{
		syscall.SIGKILL: 137, syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGINT: 130,
	} {
		r := Run(context.Background(), hook("die:"+itoa(int64(sig))))
		require.Equal(t, want, r.ExitCode, sig)
		require.Equal(t, sig.String(), r.Signal)
		require.False(t, r.TimedOut)
	}
	// The Go runtime catches this one in a child of its own.
	s := hook("")
	s.Command = []string{"sh", "-c", "kill -SEGV $$"}
	require.Equal(t, int64(139), Run(context.Background(), s).ExitCode)
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(text), mode))
		return p
	}
	for _, tt := range []struct {
		name    string
		command []string
		code    int64
		says    string
	}{
		{"no such file", []string{filepath.Join(dir, "nope")}, 127, "no such file"},
		{"not on PATH", []string{"nosuchcmd_zz"}, 127, "no such file or command"},
		{"no command", nil, 127, "no command"},
		{"empty command", []string{""}, 127, "no command"},
		{"not executable", []string{file("noexec", "#!/bin/sh\n", 0o600)}, 126, "permission denied"},
		{"a folder", []string{dir}, 126, "this is a folder"},
		{"no interpreter", []string{file("badinterp", "#!/opt/none/interp\n", 0o700)}, 126, "interpreter"},
		{"CR LF after the interpreter", []string{file("crlf", "#!/bin/sh\r\nexit 0\r\n", 0o700)}, 126, "interpreter"},
		{"no #! line", []string{file("bare", "exit 0\n", 0o700)}, 126, "#! line"},
		{"a NUL in the name", []string{"a\x00b"}, 127, "no such"},
		{"a NUL in an argument", []string{"true", "a\x00b"}, 126, "invalid argument"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := hook("")
			s.Command = tt.command
			r := Run(context.Background(), s)
			require.False(t, r.Started)
			require.False(t, r.TimedOut)
			require.Equal(t, tt.code, r.ExitCode)
			require.Contains(t, r.StartError, tt.says)
		})
	}
}

func TestACommandOfTheCurrentFolderIsNotFoundByName(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("guard", []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", "."+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := hook("")
	s.Command = []string{"guard"}
	r := Run(context.Background(), s)
	require.Equal(t, int64(127), r.ExitCode)
	require.Contains(t, r.StartError, "current folder")
}

func TestArgumentsAreHandedOnAsTheyAre(t *testing.T) {
	s := hook("")
	s.Command = []string{"sh", "-c", `for a; do printf '[%s]' "$a"; done`, "sh", "a b", "", "$(touch pwned)", "x;y\nz", "*"}
	require.Equal(t, "[a b][][$(touch pwned)][x;y\nz][*]", string(Run(context.Background(), s).Stdout.Head))
}

func TestStdinComesAsItWas(t *testing.T) {
	s := hook("cat")
	s.Stdin = append([]byte("\xef\xbb\xbf {\"a\": 1}\r\n\x00"), bytes.Repeat([]byte("x"), 300_000)...)
	r := Run(context.Background(), s)
	require.True(t, bytes.Equal(s.Stdin, r.Stdout.Head))
}

func TestUnreadStdinChangesNothing(t *testing.T) {
	for habit, code := range map[string]int64{"exit:0": 0, "exit:3": 3, "close,sleep:50,exit:0": 0, "close,sleep:50,exit:4": 4} {
		s := hook(habit)
		s.Stdin = bytes.Repeat([]byte("x"), 2_000_000)
		r := Run(context.Background(), s)
		require.Equal(t, code, r.ExitCode, habit)
		require.False(t, r.TimedOut)
		require.Less(t, r.Duration, 10*time.Second)
	}
}

func TestDeadlineEndsTheGroup(t *testing.T) {
	s := within(hook("sleep:60000"), 150*time.Millisecond)
	r := Run(context.Background(), s)
	require.True(t, r.TimedOut)
	require.False(t, r.Cancelled)
	require.Equal(t, int64(143), r.ExitCode, "TERM was enough")

	s = within(hook("deaf,child,sleep:60000"), 150*time.Millisecond)
	s.KillAfter = 100 * time.Millisecond
	r = Run(context.Background(), s)
	require.True(t, r.TimedOut)
	require.Equal(t, int64(137), r.ExitCode, "KILL was needed")
	require.GreaterOrEqual(t, r.Duration, 240*time.Millisecond)
	require.Less(t, r.Duration, 5*time.Second)
}

func TestALateExitZeroIsLate(t *testing.T) {
	s := hook("")
	s.Command = []string{"sh", "-c", `trap 'exit 0' TERM; sleep 60 & wait`}
	r := Run(context.Background(), within(s, 200*time.Millisecond))
	require.Equal(t, int64(0), r.ExitCode)
	require.True(t, r.TimedOut)
}

// TestTheClockDecides lets the clock pass the deadline while the child runs, and
// the timer still far from it.
func TestTheClockDecides(t *testing.T) {
	s := hook("exit:0")
	base := time.Now()
	var calls atomic.Int32 // the child's end is seen by another goroutine
	s.Deadline = base.Add(time.Minute)
	s.Now = func() time.Time {
		if calls.Add(1) < 3 {
			return base
		}
		return base.Add(time.Minute)
	}
	r := Run(context.Background(), s)
	require.True(t, r.TimedOut)
	require.Equal(t, int64(0), r.ExitCode)
}

func TestNoTimeLeftToStart(t *testing.T) {
	r := Run(context.Background(), within(hook("exit:0"), 0))
	require.True(t, r.TimedOut)
	require.False(t, r.Started)
	require.Equal(t, int64(124), r.ExitCode)
}

func TestCancelIsAnEarlyDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	r := Run(ctx, hook("deaf,sleep:60000"))
	require.True(t, r.TimedOut)
	require.True(t, r.Cancelled)
	require.Less(t, r.Duration, 1400*time.Millisecond, "the host sends KILL 1.5 s after TERM")

	ctx, cancel = context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	r = Run(ctx, within(hook("deaf,sleep:60000"), 100*time.Millisecond))
	require.False(t, r.Cancelled, "the deadline came first")
	require.Less(t, r.Duration, 1400*time.Millisecond)
}

func TestAGrandchildOnThePipeIsNotWaitedFor(t *testing.T) {
	start := time.Now()
	r := Run(context.Background(), hook("child,say:answer,exit:0"))
	require.False(t, r.TimedOut)
	require.Equal(t, int64(0), r.ExitCode)
	require.Equal(t, "answer\n", string(r.Stdout.Head))
	require.Less(t, time.Since(start), 10*time.Second)
}

// TestAnAnswerThroughTee shows why there is a grace: the shell has exited when
// tee writes, and a deny may be what it writes.
func TestAnAnswerThroughTee(t *testing.T) {
	s := hook("")
	s.Command = []string{"sh", "-c", `{ sleep 0.05; echo late; } & exit 0`}
	require.Equal(t, "late\n", string(Run(context.Background(), s).Stdout.Head))
}

func TestOutputIsBounded(t *testing.T) {
	s := hook("")
	s.Command = []string{"sh", "-c", "yes text | head -c 30000000; echo the end"}
	r := Run(context.Background(), s)
	require.False(t, r.TimedOut)
	require.LessOrEqual(t, len(r.Stdout.Head)+len(r.Stdout.Tail), 1<<20)
	require.Equal(t, int64(30_000_000+len("the end\n")), int64(len(r.Stdout.Head)+len(r.Stdout.Tail))+r.Stdout.Dropped)
	require.True(t, bytes.HasSuffix(r.Stdout.Tail, []byte("text\nthe end\n")))
	require.False(t, r.Stdout.Brace)

	s.Command = []string{"sh", "-c", "yes '{' | head -c 3000000 >&2; exit 2"}
	r = Run(context.Background(), s)
	require.Equal(t, int64(2), r.ExitCode)
	require.True(t, r.Stderr.Brace)
	require.Zero(t, r.Stdout.Dropped)

	s.Command = []string{"yes"}
	r = Run(context.Background(), within(s, 300*time.Millisecond))
	require.True(t, r.TimedOut)
}

func TestCollectorKeepsBothEnds(t *testing.T) {
	for _, size := range []int{1, 3, 7, 100} { // bytes in one write
		c := newCollector(16) // 12 and 4
		all := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
		for rest := all; len(rest) > 0; {
			n := min(size, len(rest))
			c.add(rest[:n])
			rest = rest[n:]
		}
		o := c.take()
		c.add([]byte("too late"))
		require.Equal(t, Output{Head: []byte("0123456789ab"), Tail: []byte("wxyz"), Dropped: 20}, o)
	}
	c := newCollector(16)
	c.add([]byte("0123456789abcd"))
	require.Equal(t, Output{Head: []byte("0123456789abcd")}, c.take())
}
