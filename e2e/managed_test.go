//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHooksFromManagedSettings: entries in the machine's own settings, as a fleet
// has them, guard without anything of the user's, and no other file turns them
// off.
func TestHooksFromManagedSettings(t *testing.T) {
	for _, where := range []string{"managed", "drop-in"} {
		for other, text := range map[string]string{"nothing": "", "disableAllHooks": `{"disableAllHooks":true}`, "a file that is not JSON": "{"} {
			t.Run(where+", against "+other, func(t *testing.T) {
				t.Parallel()
				s, g := install(t, rules)
				lay(t, &s, map[string]string{where: s.User})
				s.User, s.Project, s.Local = text, text, text
				s.Turns = []turn{bash("touch forbidden"), bash("touch ran")}
				guards(t, s, g)
			})
		}
	}
}

// TestHooksFromAPlugin: the same entries as a plugin's hooks/hooks.json, from a
// folder that is named at the start and from an installed plugin.
func TestHooksFromAPlugin(t *testing.T) {
	for _, where := range []string{"plugin", "installed"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s, g := install(t, rules)
			lay(t, &s, map[string]string{where: s.User})
			s.User = ""
			s.Turns = []turn{bash("touch forbidden"), bash("touch ran")}
			guards(t, s, g)
		})
	}
}

// guards requires that the guard judges both calls of a session, and stops the
// first.
func guards(t *testing.T, s session, g guarded) {
	t.Helper()
	r := play(t, s)
	require.False(t, r.made("forbidden"))
	require.True(t, r.made("ran"))
	told, _ := r.result(0, 0)
	require.Contains(t, told.Text, "This command is not allowed")
	all := g.decided(t, "PreToolUse")
	require.Len(t, all, 2)
	require.Equal(t, "guard_rule_denied", all[0]["reason"])
	require.Contains(t, told.Text, all[0]["eventId"])
	require.NotEmpty(t, g.decided(t, "SessionEnd"), "the other events come, too")
}
