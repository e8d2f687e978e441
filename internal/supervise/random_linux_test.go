package supervise

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDaemonsAreFound(t *testing.T) {
	orphans := AdoptOrphans()
	r := Run(context.Background(), hook("daemon,daemon,exit:0"))
	require.Equal(t, int64(0), r.ExitCode)
	require.NotEmpty(t, alive("deaf,sleep:60000"), "they left the group")
	orphans.Kill()
	require.Empty(t, alive("deaf,sleep:60000"))
}

// alive returns the processes that have this habit.
func alive(habit string) []string {
	var pids []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, v := range strings.Split(string(b), "\x00") {
			if v == "HOOK_HABIT="+habit {
				pids = append(pids, filepath.Base(filepath.Dir(f)))
			}
		}
	}
	return pids
}

// TestRandomChildren runs children with random ends: whatever they do, the
// result says what the clock and the status say, nothing is left running, and
// the memory does not grow. HOOKTRAIL_RUNS sets how many there are.
func TestRandomChildren(t *testing.T) {
	orphans := AdoptOrphans()
	runs := 25
	if n, err := strconv.Atoi(os.Getenv("HOOKTRAIL_RUNS")); err == nil {
		runs = n
	}
	const timeout = 120 * time.Millisecond
	mark := "sleep:" + itoa(int64(60_000+os.Getpid()))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	before := heap()
	for i := range runs {
		habit, ends := randomHabit(rnd, timeout)
		s := hook(habit)
		s.Env = append(s.Env, "HOOK_MARK="+mark)
		s.Stdin = make([]byte, rnd.IntN(200_000))
		s.Deadline, s.KillAfter = time.Now().Add(timeout), 50*time.Millisecond
		start := time.Now()
		r := Run(context.Background(), s)
		took := time.Since(start)
		orphans.Kill()
		what := fmt.Sprintf("run %d: %s: %+v", i, habit, Result{ExitCode: r.ExitCode, TimedOut: r.TimedOut, Signal: r.Signal, Duration: r.Duration})
		require.True(t, r.Started, what)
		require.False(t, r.Cancelled, what)
		// The clock decides, and nothing else. The deadline was read a little
		// before the start, which may only make it stricter.
		if r.TimedOut {
			require.GreaterOrEqual(t, r.Duration, timeout-20*time.Millisecond, what)
		} else {
			require.Less(t, r.Duration, timeout, what)
			require.Equal(t, ends, r.ExitCode, what)
		}
		require.Less(t, took, timeout+4*time.Second, what)
		require.Empty(t, marked(mark), what)
	}
	require.Less(t, int64(heap())-int64(before), int64(4<<20), "bytes of heap gained")
}

// randomHabit returns what a child does, and the exit code it ends with if it
// ends in time.
func randomHabit(rnd *rand.Rand, timeout time.Duration) (habit string, ends int64) {
	var words []string
	add := func(f string, a ...any) { words = append(words, fmt.Sprintf(f, a...)) }
	pick := func(n int) bool { return rnd.IntN(n) == 0 }
	if pick(2) {
		add("read")
	} else if pick(3) {
		add("close")
	}
	if pick(6) {
		add("deaf")
	}
	if pick(4) {
		add("child")
	}
	if pick(6) {
		add("daemon")
	}
	if pick(3) {
		add("out:%d", rnd.IntN(3_000_000))
	}
	if pick(3) {
		add("err:%d", rnd.IntN(300_000))
	}
	switch rnd.IntN(3) {
	case 0: // around the deadline
		add("sleep:%d", timeout.Milliseconds()-5+int64(rnd.IntN(11)))
	case 1:
		add("sleep:%d", rnd.IntN(40))
	}
	if pick(4) {
		sig := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT}[rnd.IntN(4)]
		add("die:%d", sig)
		return strings.Join(words, ","), 128 + int64(sig)
	}
	code := rnd.IntN(256)
	add("exit:%d", code)
	return strings.Join(words, ","), int64(code)
}

// marked returns the living processes that carry the mark.
func marked(mark string) []string {
	var pids []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "HOOK_MARK="+mark) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
