package observe

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
	"hooktrail/internal/gate"
	"hooktrail/internal/reason"
)

// TestBranchesAreThoseOfTheGate holds every event that names a branch against
// the gate's own word for the same onFailure, exit code and timeout, under
// settings that say block, continue and nothing.
func TestBranchesAreThoseOfTheGate(t *testing.T) {
	names, err := filepath.Glob("testdata/transcript/*.jsonl")
	require.NoError(t, err)
	streams, err := filepath.Glob("testdata/stream/*.jsonl")
	require.NoError(t, err)
	seen := map[string]int{}
	for _, mode := range []string{"block", "continue", ""} {
		l := Lookup{OnFailure: func(string, string, string) (string, bool) { return mode, mode != "" }}
		for _, n := range append(names, streams...) {
			b, err := os.ReadFile(n)
			require.NoError(t, err)
			src, err := Read(bytes.NewReader(b), n, l, fixedNow())
			require.NoError(t, err)
			for _, e := range src.Events {
				seen[agree(t, n, e)]++
			}
		}
	}
	for _, branch := range []gate.Branch{gate.NotBlockMode, gate.TimeoutBlock, gate.Allow, gate.Block} {
		require.NotZero(t, seen[string(branch)], branch)
	}
	require.NotZero(t, seen["open in block mode"])
}

// agree holds one event against the gate and returns the branch that was held.
func agree(t *testing.T, file string, e *audit.Event) string {
	t.Helper()
	switch {
	case e.Kind != audit.Callback || e.TimedOut == nil || e.OnFailure == "":
		return ""
	case e.OnFailure == "block" && e.Reason == reason.HookFailedOpen:
		require.Empty(t, e.Gate, "%s: no branch goes on over a failure in block mode", file)
		return "open in block mode"
	case e.Gate == "":
		return ""
	}
	r := gate.Result{HookName: e.HookName, OnFailure: e.OnFailure, TimedOut: *e.TimedOut}
	switch {
	case e.ExitCode != nil:
		r.ExitCode = *e.ExitCode
	case e.Layer == reason.LayerFailure:
		r.ExitCode = 1 // the host says that it failed and not how: any code but 0 gives this branch
	}
	want := gate.Decide(r)
	if want.Reason == reason.HookOK && e.Reason == reason.HookFailedOpen {
		// It ended with 0, and its answer was lost: the failure is in what it said.
		r.ExitCode = 1
		want = gate.Decide(r)
	}
	require.Equal(t, string(want.Branch), e.Gate, "%s: %s", file, story(e))
	if e.Layer == reason.LayerFailure {
		require.Equal(t, want.Reason, e.Reason, file)
		require.Equal(t, want.Decision, e.Decision, file)
	}
	return e.Gate
}
