//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSafetyNet puts a guard of somebody else's under run: cc-safety-net of the
// npm registry. SAFETY_NET names the folder of the installed package.
func TestSafetyNet(t *testing.T) {
	dir := os.Getenv("SAFETY_NET")
	if dir == "" {
		t.Skip("SAFETY_NET names no folder of the npm package cc-safety-net, a hook of others that this test wraps")
	}
	bin, err := runProduct()
	require.NoError(t, err)
	script := filepath.Join(dir, "dist", "bin", "cc-safety-net.js")
	require.FileExists(t, script)

	for _, command := range []string{"git reset --hard", "rm -rf ~/", "ls -l", "git status", "echo 'rm -rf /'"} {
		t.Run(command, func(t *testing.T) {
			bare, _ := pipeThrough(t, command, "node", script, "hook", "--claude-code")
			wrapped, status := pipeThrough(t, command, bin, "run", "--log", filepath.Join(t.TempDir(), "a.jsonl"), "--", "node", script, "hook", "--claude-code")
			if len(bytes.TrimSpace(bare)) == 0 {
				require.Empty(t, wrapped)
				require.Zero(t, status)
				return
			}
			want, got := decided(t, bare), decided(t, wrapped)
			require.Equal(t, want.PermissionDecision, got.PermissionDecision)
			reason, _, ok := strings.Cut(got.PermissionDecisionReason, " [hooktrail event ")
			require.True(t, ok)
			require.Equal(t, want.PermissionDecisionReason, reason, "its words are unchanged")
			require.Equal(t, 2, status)
		})
	}

	t.Run("its file is gone", func(t *testing.T) {
		_, status := pipeThrough(t, "ls", bin, "run", "--log", filepath.Join(t.TempDir(), "a.jsonl"), "--", "node", script+".gone", "hook", "--claude-code")
		require.Equal(t, 2, status)
	})
	t.Run("node is gone", func(t *testing.T) {
		_, status := pipeThrough(t, "ls", bin, "run", "--log", filepath.Join(t.TempDir(), "a.jsonl"), "--", "/nope/node", script, "hook", "--claude-code")
		require.Equal(t, 2, status)
	})
	t.Run("its file is cut short", func(t *testing.T) {
		b, err := os.ReadFile(script)
		require.NoError(t, err)
		cut := filepath.Join(t.TempDir(), "cut.mjs")
		require.NoError(t, os.WriteFile(cut, b[:len(b)/2], 0o600))
		_, status := pipeThrough(t, "ls", bin, "run", "--log", filepath.Join(t.TempDir(), "a.jsonl"), "--", "node", cut, "hook", "--claude-code")
		require.Equal(t, 2, status)
	})
}

type decision struct {
	PermissionDecision, PermissionDecisionReason string
}

func decided(t *testing.T, out []byte) decision {
	t.Helper()
	var o struct{ HookSpecificOutput decision }
	require.NoError(t, json.Unmarshal(out, &o), string(out))
	return o.HookSpecificOutput
}

// pipeThrough gives a hook the event of a Bash command.
func pipeThrough(t *testing.T, command string, hook ...string) (stdout []byte, status int) {
	t.Helper()
	in, err := json.Marshal(map[string]any{
		"session_id": "s", "transcript_path": "/t", "cwd": t.TempDir(), "hook_event_name": "PreToolUse",
		"tool_name": "Bash", "tool_input": map[string]any{"command": command}, "tool_use_id": "t",
	})
	require.NoError(t, err)
	cmd := exec.Command(hook[0], hook[1:]...)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	var e *exec.ExitError
	if errors.As(err, &e) {
		return out, e.ExitCode()
	}
	require.NoError(t, err)
	return out, 0
}
