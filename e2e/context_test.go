//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/zerto/zertotest"
)

// TestAConfirmedCheckpointWidensNothing: the call runs and the model is told of
// its checkpoint, but only where the user's own permission rules let it run.
// hooktrail gives no decision then; an allow of its own would beat the mode.
func TestAConfirmedCheckpointWidensNothing(t *testing.T) {
	config := zvm(t, "20s", func(w *zertotest.World) { w.Groups[0].Cadence, w.Groups[0].Latency = time.Second, time.Millisecond })
	config = reword(t, config, func(all obj) {
		all["guard"].(obj)["scope"] = []any{"Bash"}
		all["guard"].(obj)["rules"] = []any{obj{"tools": []any{"Bash"}, "class": "mutating", "vm": obj{"path": "command", "match": `VM=(\S+)`}}}
	})
	s, g := install(t, config)
	s.User = reword(t, s.User, func(all obj) {
		all["permissions"] = obj{"allow": []any{"Bash(touch allowed*)"}, "deny": []any{"Bash(touch denied*)"}, "ask": []any{"Bash(touch asked*)"}}
	})
	kept := spied(t, &s, "")
	s.Args = nil // the default mode
	names := []string{"allowed", "denied", "asked", "unlisted"}
	for _, n := range names {
		s.Turns = append(s.Turns, bash("touch "+n+" VM=app01"))
	}
	r := play(t, s)

	require.True(t, r.made("allowed"), "confirmed, and a rule of the user's allows it")
	require.False(t, r.made("denied"), "a deny rule holds")
	require.False(t, r.made("asked"), "an ask rule asks, and in print mode there is nobody")
	require.False(t, r.made("unlisted"), "a call that needs approval still does")
	all := g.decided(t, "PreToolUse")
	require.Len(t, all, len(names))
	for i, e := range all {
		require.Equal(t, "guard_checkpoint_confirmed", e["reason"], names[i])
		require.Contains(t, r.last, e["checkpoint"].(map[string]any)["tag"], "the model is told of the checkpoint, whatever became of the call")
	}
	require.Contains(t, r.last, "PreToolUse:Bash hook additional context")
	for _, o := range heard(t, kept, "PreToolUse") {
		o.sound(t)
		require.Contains(t, string(o.Stdout), `"additionalContext"`)
		require.NotContains(t, string(o.Stdout), "permissionDecision")
	}
}
