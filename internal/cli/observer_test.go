package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLookupReadsTheSettingsInForce: of the user and of the project that the
// host names, again after a while.
func TestLookupReadsTheSettingsInForce(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	put := func(dir, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".claude"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".claude", "settings.json"), []byte(text), 0o600))
	}
	entry := func(command, mode string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"` + command + `","onFailure":"` + mode + `"}]}]}}`
	}
	put(home, entry("mine.sh", "block"))
	put(project, entry("theirs.sh", "continue"))
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	env := map[string]string{"HOME": home, "CLAUDE_PROJECT_DIR": project}
	l := lookup(&Stdio{Getenv: func(name string) string { return env[name] }, Now: func() time.Time { return now }})
	is := func(command, want string) {
		t.Helper()
		got, ok := l.OnFailure("PreToolUse", "Bash", command)
		require.Equal(t, want, got)
		require.Equal(t, want != "", ok)
	}
	is("mine.sh", "block")
	is("theirs.sh", "continue")
	is("nobodys.sh", "")
	require.ElementsMatch(t, []string{"mine.sh", "theirs.sh"}, l.Commands("PreToolUse", "Bash"))

	put(home, entry("mine.sh", "continue"))
	is("mine.sh", "block")
	now = now.Add(inForceFor + time.Second)
	is("mine.sh", "continue")
}
