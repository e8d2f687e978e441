package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRandomHooks runs hooks with random ends, delays, outputs and grandchildren.
// Branch, decision, answer and exit status must agree with the table, nothing may
// be left running, and the memory must stay the same whatever was printed.
// HOOKTRAIL_RUNS sets how many there are.
func TestRandomHooks(t *testing.T) {
	needSetsid(t)
	runs := 20
	if n, err := strconv.Atoi(os.Getenv("HOOKTRAIL_RUNS")); err == nil {
		runs = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	var late, most int
	for i := range runs {
		mode := []string{"block", "block", "continue"}[rnd.IntN(3)]
		script, ends := randomScript(rnd)
		cmd, log := supervisor(t, script)
		cmd.Args = append([]string{"hooktrail", "run", "--on-failure", mode, "--timeout", "150ms"}, cmd.Args[2:]...)
		mark := fmt.Sprintf("HOOK_MARK=%d.%d", os.Getpid(), i)
		kept := filepath.Join(t.TempDir(), "status")
		cmd.Env = append(cmd.Env, mark, "PROCESS_STATUS="+kept)
		cmd.Stdin = strings.NewReader(strings.Replace(bashEvent, "make", strings.Repeat("x", rnd.IntN(300_000)), 1))
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		got := status(cmd.Run())
		what := fmt.Sprintf("run %d, %s: %s\n%s%s", i, mode, script, out.String(), errs.String())

		e := onlyEvent(t, log, what)
		blockedBy := want(mode, ends, e)
		require.Equal(t, blockedBy, e.Reason+" "+e.Gate+" "+e.Decision, what)
		require.Equal(t, e.Decision == "blocked", got == 2, what)
		require.Equal(t, e.Decision != "blocked", got == 0, what)
		require.Equal(t, e.Decision == "blocked", strings.Contains(out.String(), `"permissionDecision":"deny"`), what)
		require.Less(t, out.Len(), 20_000, what)
		if e.TimedOut {
			late++
		} else {
			require.Equal(t, ends, e.ExitCode, what)
			require.Less(t, e.DurationMs, int64(150), what)
		}
		require.Empty(t, marked(mark), what)
		most = max(most, peak(t, kept))
	}
	require.Less(t, most, mostMemory, "kilobytes at most")
	t.Logf("%d runs, %d late, at most %d kB", runs, late, most)
}

// mostMemory is what run may hold, in kilobytes, whatever a hook prints.
const mostMemory = 80_000 * raceMemory

// TestAFloodIsNotKept prints as much as run may hold to each stream. An answer may
// have stood in the part that is not kept, since it has a brace.
func TestAFloodIsNotKept(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "status")
	cmd, log := supervisor(t, fmt.Sprintf(
		`many() { head -c %d /dev/zero | tr '\0' o; }; many; printf '{'; many; many >&2`, 1024*mostMemory/2))
	cmd.Env = append(cmd.Env, "PROCESS_STATUS="+kept)
	code := status(cmd.Run())
	require.Less(t, peak(t, kept), mostMemory, "kilobytes at most")
	require.Equal(t, 2, code)
	require.Equal(t, "hook_answer_invalid", onlyEvent(t, log, "flood").Reason)
}

// want is the table: what an ending means, spelled out.
func want(mode string, ends int64, e event) string {
	switch {
	case mode == "continue" && e.ExitCode == 2 && !e.TimedOut:
		return "hook_denied not_block_mode blocked"
	case mode == "continue" && ends == 0 && !e.TimedOut:
		return "hook_ok not_block_mode allowed"
	case mode == "continue" && e.ExitCode == 2: // late, and still its own refusal
		return "hook_denied not_block_mode blocked"
	case mode == "continue":
		return "hook_failed_open not_block_mode allowed"
	case e.TimedOut:
		return "hook_callback_failed timeout_block blocked"
	case ends == 0:
		return "hook_ok allow allowed"
	default:
		return "hook_callback_failed block blocked"
	}
}

// randomScript is what a hook does, and the exit code of its end.
func randomScript(rnd *rand.Rand) (script string, ends int64) {
	var b strings.Builder
	pick := func(n int) bool { return rnd.IntN(n) == 0 }
	if pick(2) {
		b.WriteString("cat >/dev/null; ")
	} else if pick(3) {
		b.WriteString("exec 0<&-; ")
	}
	if pick(6) {
		b.WriteString("trap '' TERM; ")
	}
	if pick(4) {
		b.WriteString("sleep 60 & ")
	}
	if pick(6) {
		b.WriteString("setsid sleep 60 & ")
	}
	if pick(3) {
		fmt.Fprintf(&b, "head -c %d /dev/zero | tr '\\0' o; ", rnd.IntN(3_000_000))
	}
	if pick(3) {
		fmt.Fprintf(&b, "head -c %d /dev/zero | tr '\\0' e >&2; ", rnd.IntN(300_000))
	}
	switch rnd.IntN(3) {
	case 0: // around the deadline
		fmt.Fprintf(&b, "sleep 0.%03d; ", 120+rnd.IntN(35))
	case 1:
		fmt.Fprintf(&b, "sleep 0.%03d; ", rnd.IntN(40))
	}
	if pick(4) {
		sig := []int{9, 15, 11, 1}[rnd.IntN(4)]
		fmt.Fprintf(&b, "trap - TERM; kill -%d $$; sleep 5", sig)
		return b.String(), int64(128 + sig)
	}
	code := []int{0, 0, 0, 1, 2, 3, 126, 127, rnd.IntN(256)}[rnd.IntN(9)]
	fmt.Fprintf(&b, "exit %d", code)
	return b.String(), int64(code)
}

// An event is what the table speaks of.
type event struct {
	Kind, Reason, Gate, Decision string
	ExitCode, DurationMs         int64
	TimedOut                     bool
}

func onlyEvent(t *testing.T, log, what string) event {
	t.Helper()
	b, err := os.ReadFile(log)
	require.NoError(t, err, what)
	var found []event
	for _, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		var e event
		require.NoError(t, json.Unmarshal(line, &e), what)
		if e.Kind == "invocation" {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1, what)
	return found[0]
}

// peak reads the most memory a process held, in kilobytes, from its kept status.
func peak(t *testing.T, kept string) int {
	t.Helper()
	b, err := os.ReadFile(kept)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(b), "VmHWM:")
	require.True(t, found)
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return n
}

// marked returns the living processes that carry the mark in their environment.
func marked(mark string) []string {
	var pids []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if b, _ := os.ReadFile(f); bytes.Contains(b, append([]byte(mark), 0)) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}
