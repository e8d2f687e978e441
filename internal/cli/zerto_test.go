package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"hooktrail/internal/zerto/zertotest"
)

// TestSeedsDecisionTable drives "hook" through the rows of the table of the hook
// that hooktrail grew from, with its own words for the settings.
func TestSeedsDecisionTable(t *testing.T) {
	world := zertotest.Three()
	world.Groups[0].Latency = 300 * time.Millisecond
	world.Groups[1].SubStatus = 25 // paused
	world.Secret = "s3cr3t-marker"
	zvm := zertotest.New(world, zertotest.Options{Now: time.Now})
	url, stop, err := zvm.Listen(t.Context())
	require.NoError(t, err)
	defer stop()
	dir := t.TempDir()
	cfg, log := filepath.Join(dir, "c.json"), filepath.Join(dir, "log", "audit.jsonl")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("s3cr3t-marker"), 0o600))
	require.NoError(t, os.WriteFile(cfg, []byte(`{
		"read_only_tools": ["mcp__vm__list"],
		"mutating_tools": {"mcp__vm__stop": {"vm_arg": "name"}},
		"zerto": {"url": "`+url+`", "auth": {"clientSecretFile": "secret"}}}`), 0o600))

	for _, tt := range []struct {
		name, tool, input, unknown string
		decision, reason           string
		status                     int
	}{
		{"read-only", "mcp__vm__list", `{}`, "", "", "guard_read_only", 0},
		{"mutating, confirmed", "mcp__vm__stop", `{"name":"app01"}`, "", "", "guard_checkpoint_confirmed", 0},
		{"mutating, failed", "mcp__vm__stop", `{"name":"app02"}`, "", "deny", "guard_checkpoint_failed", 2},
		{"mutating, unconfirmed", "mcp__vm__stop", `{"name":"app03"}`, "", "deny", "guard_checkpoint_unconfirmed", 2},
		{"mutating, unknown to Zerto", "mcp__vm__stop", `{"name":"nobody"}`, "", "ask", "guard_vm_unknown", 0},
		{"mutating, no VM in the arguments", "mcp__vm__stop", `{"vm":"app01"}`, "", "ask", "guard_vm_missing", 0},
		{"unlisted", "mcp__vm__format", `{}`, "", "ask", "guard_tool_unlisted", 0},
		{"unlisted, prompt", "mcp__vm__format", `{}`, "prompt", "ask", "guard_tool_unlisted", 0},
		{"unlisted, allowed", "mcp__vm__format", `{}`, "allow", "", "guard_tool_unlisted", 0},
		{"unlisted, denied", "mcp__vm__format", `{}`, "deny", "deny", "guard_tool_unlisted", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"ZERTO_REWIND_CONFIG": cfg, "ZERTO_HOOK_LOG": log, "ZERTO_HOOK_UNKNOWN": tt.unknown, "ZERTO_HOOK_GUARD_TIMEOUT": "5"}
			event := `{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","permission_mode":"bypassPermissions","tool_name":"` + tt.tool + `","tool_input":` + tt.input + `,"tool_use_id":"t"}`
			before := invocationsOf(log)
			var out, errs bytes.Buffer
			status := Main(context.Background(), []string{"hook"}, &Stdio{In: strings.NewReader(event), Out: &out, Err: &errs, Getenv: func(n string) string { return env[n] }, Now: time.Now})
			require.Equal(t, tt.status, status, errs.String())
			require.Equal(t, tt.decision, gjson.Get(out.String(), "hookSpecificOutput.permissionDecision").Str)
			after := invocationsOf(log)
			require.Len(t, after, len(before)+1, "one event")
			last := after[len(after)-1]
			require.Equal(t, tt.reason, last.Get("reason").Str, last.Raw)
			require.NotContains(t, out.String()+errs.String()+last.Raw, "s3cr3t")
			if tt.reason == "guard_checkpoint_confirmed" {
				tag := zvm.Posts()[0].Tag
				require.Contains(t, gjson.Get(out.String(), "hookSpecificOutput.additionalContext").Str, tag)
				require.Equal(t, tag, last.Get("checkpoint.tag").Str)
			}
		})
	}
}

// invocationsOf returns the decision events of a log.
func invocationsOf(log string) (all []gjson.Result) {
	b, err := os.ReadFile(log)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		if e := gjson.Parse(line); e.Get("kind").Str == "invocation" {
			all = append(all, e)
		}
	}
	return all
}
