//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrappedHooksFailClosed: hooks of others under hooktrail run, whose
// failures the host alone would let through.
func TestWrappedHooksFailClosed(t *testing.T) {
	deny := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"theirs says no"}}`
	for _, tt := range []struct {
		name, script string
		blocked      bool
		says         string
	}{
		{"says nothing", "cat >/dev/null", false, ""},
		{"exit 1", "exit 1", true, ""},
		{"killed", "kill -9 $$", true, ""},
		{"hangs", "sleep 60", true, ""},
		{"its answer is cut off", `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDec'`, true, ""},
		{"a deny behind a banner", "echo loading; echo '" + deny + "'", true, "theirs says no"},
		{"exit 2", "echo 'no, says theirs' >&2; exit 2", true, "no, says theirs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bin := product(t)
			dir := t.TempDir()
			hook := filepath.Join(dir, "theirs.sh")
			require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700))
			args, _ := json.Marshal([]string{"run", "--timeout", "3s", "--log", filepath.Join(dir, "audit.jsonl"), "--", hook})
			s := session{Args: bypass, Turns: []turn{bash("touch ran")}}
			s.User = fmt.Sprintf(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":%q,"args":%s,"timeout":10}]}]}}`, bin, args)
			r := play(t, s)
			require.Equal(t, tt.blocked, !r.made("ran"))
			told, _ := r.result(0, 0)
			require.Contains(t, told.Text, tt.says)
		})
	}
}

// TestAWrappedHookBlocksWithoutUs: what install --wrap has made holds the call
// back, too, when hooktrail itself is gone.
func TestAWrappedHookBlocksWithoutUs(t *testing.T) {
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprintf("gone %v", gone), func(t *testing.T) {
			t.Parallel()
			bin, home := product(t), t.TempDir()
			file, config := filepath.Join(home, "settings.json"), filepath.Join(home, "config.json")
			require.NoError(t, os.WriteFile(file, []byte(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"cat >/dev/null"}]}]}}`), 0o600))
			require.NoError(t, os.WriteFile(config, []byte(`{"audit":{"log":"audit.jsonl"}}`), 0o600))
			cmd := exec.Command(bin, "install", "--file", file, "--guard", config, "--events", "Stop", "--wrap")
			cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			s := session{User: string(b), Args: bypass, Turns: []turn{bash("touch ran")}}
			if gone {
				s.User = strings.ReplaceAll(s.User, bin, bin+"-gone")
			}
			require.Equal(t, !gone, play(t, s).made("ran"))
		})
	}
}
