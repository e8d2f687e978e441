//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// failures are hooks that want to stop the call, or fail on the way to it. Bare,
// each of them lets it run.
var failures = []struct {
	name, script string
	told         string // what the model is told under run
}{
	{"exit 1", "cat >/dev/null; echo no >&2; exit 1", "exit status 1"},
	{"exit 127", "cat >/dev/null; no-such-program-here", "exit status 127"},
	{"not there", "", "could not be started (127)"},
	{"kill -9", "cat >/dev/null; kill -9 $$", "died of a signal"},
	{"timeout", "cat >/dev/null; sleep 30", "did not end within"},
	{"text before JSON", `cat >/dev/null; echo Loading; printf '%s' '` + denies + `'`, "policy 7"},
	{"truncated JSON", `cat >/dev/null; printf '%s' '` + denies[:len(denies)-1] + `'`, "unusable answer"},
	{"truncated inside", `cat >/dev/null; printf '%s' '` + denies[:60] + `'`, "unusable answer"},
}

const denies = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"policy 7"}}`

func entry(hook map[string]any) map[string]any {
	hook["type"] = "command"
	return map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{"hooks": []any{hook}}}}}
}

// TestWrapped shows each failure twice: bare, where the call runs, and under
// hooktrail run, where it does not. CLAUDE_BIN is a client of today, and
// CLAUDE_OLD_BIN one that knows no onFailure; onFailure is not set for either.
func TestWrapped(t *testing.T) {
	bin, err := runProduct()
	require.NoError(t, err)
	for _, variable := range []string{"CLAUDE_BIN", "CLAUDE_OLD_BIN"} {
		t.Run(variable, func(t *testing.T) {
			client := os.Getenv(variable)
			if client == "" {
				t.Skip(variable + " names no client: set it to the path of one to compare run with its bare hooks")
			}
			for _, f := range failures {
				t.Run(f.name, func(t *testing.T) {
					bare := map[string]any{"command": "sh", "args": []string{"-c", f.script}, "timeout": 1}
					command := []string{"sh", "-c", f.script}
					if f.script == "" {
						bare = map[string]any{"command": "/nope/guard", "args": []string{}}
						command = []string{"/nope/guard"}
					}
					got := runClient(t, client, entry(bare))
					require.True(t, got.ran, "bare, the call runs; the model was told: %s", got.told)

					log := filepath.Join(t.TempDir(), "audit.jsonl")
					args := append([]string{"run", "--name", "guard", "--timeout", "1s", "--log", log, "--"}, command...)
					got = runClient(t, client, entry(map[string]any{"command": bin, "args": args, "timeout": 10}))
					require.False(t, got.ran, "under run, it does not")
					require.Contains(t, got.told, f.told)
					b, err := os.ReadFile(log)
					require.NoError(t, err)
					require.Contains(t, string(b), `"decision":"blocked"`)
					t.Logf("bare: the call ran; under run: %s", got.told)
				})
			}
			t.Run("a hook that works", func(t *testing.T) {
				log := filepath.Join(t.TempDir(), "audit.jsonl")
				args := []string{"run", "--log", log, "--", "sh", "-c", "cat >/dev/null"}
				require.True(t, runClient(t, client, entry(map[string]any{"command": bin, "args": args})).ran)
			})
		})
	}
}
