package hooks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings"
)

func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "hooktrail")
	out, err := exec.Command("go", "build", "-o", bin, "hooktrail/cmd/hooktrail").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// TestEachHookBlocks runs the proof for every host.
func TestEachHookBlocks(t *testing.T) {
	for _, need := range []string{"sh", "jq"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("the scripts for other hosts need %s, which is not here", need)
		}
	}
	cmd := exec.Command("sh", "prove.sh")
	cmd.Env = append(os.Environ(), "HOOKTRAIL_BIN="+build(t))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "WRONG")
}

func TestTheSettingsAreSound(t *testing.T) {
	for _, name := range []string{"command.json", "http.json", "managed-settings.json"} {
		t.Run(name, func(t *testing.T) {
			r := settings.Check([]settings.File{settings.Load(filepath.Join("claude-code", name), "")}, settings.Options{})
			require.Zero(t, r.Count(settings.Error), "%v", r.Findings)
			guard := 0
			for _, e := range r.Entries {
				if e.Event == "PreToolUse" && e.Blocks {
					guard++
				}
			}
			require.Equal(t, 1, guard)
		})
	}
}

// TestThePythonCallback: it hands the answer back, and denies when there is
// none.
func TestThePythonCallback(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here, and the callback is a Python program; CI installs it")
	}
	script := `
import asyncio, json, sys
sys.path.insert(0, "claude-code")
import sdk
event = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": sys.argv[3]}}
sdk.COMMAND = [sys.argv[1], "hook", "--config", sys.argv[2]]
print(json.dumps(asyncio.run(sdk.guard(event))))
`
	dir := t.TempDir()
	config := filepath.Join(dir, "config.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"audit":{"log":"`+dir+`/a.jsonl"},"guard":{"unlisted":"allow","rules":[{"tools":["Bash"],"class":"deny","when":{"path":"command","matches":"power-off"}}]}}`), 0o600))
	run := func(bin, command string) string {
		cmd := exec.Command(python, "-B", "-c", script, bin, config, command)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	bin := build(t)
	require.Contains(t, run(bin, "power-off"), `"permissionDecision": "deny"`)
	require.Equal(t, "{}\n", run(bin, "ls"))
	require.Contains(t, run("/nonexistent/hooktrail", "ls"), `"permissionDecision": "deny"`)
}
