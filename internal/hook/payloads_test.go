package hook

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
	"hooktrail/internal/config"
	"hooktrail/internal/event"
	"hooktrail/internal/guard"
	"hooktrail/internal/schema"
)

// TestEveryRecordedPayloadLeavesOneSoundLine runs what the real client sent
// through the flow and the real log: one line of kind invocation each, and every
// line passes the audit event's schema.
func TestEveryRecordedPayloadLeavesOneSoundLine(t *testing.T) {
	files, err := filepath.Glob("testdata/claude/*.json")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.New(audit.Options{Path: path, Now: time.Now})
	require.NoError(t, err)
	g, err := guard.New(config.Config{Guard: config.Guard{Scope: []string{"*"}, Rules: []config.Rule{{Tools: []string{"Read"}, Class: "readOnly"}, {Tools: []string{"mcp__*"}, Class: "deny"}}}}, nil)
	require.NoError(t, err)
	h := New(Options{Log: log, Judge: &Guarded{Guard: g}, Now: time.Now})
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		h.Run(context.Background(), bytes.NewReader(raw))
	}
	for _, broken := range []string{"", "{", `{"session_id":"s","hook_event_name":"PreToolUse"}`, `{"session_id":1,"hook_event_name":"Stop"}`, "[" + strings.Repeat("[", 300)} {
		h.Run(context.Background(), strings.NewReader(broken))
	}
	lines, err := os.ReadFile(path)
	require.NoError(t, err)
	invocations := 0
	for line := range bytes.Lines(lines) {
		v, err := event.Decode(line, 20)
		require.NoError(t, err)
		require.Empty(t, schema.Validate("audit-event", v), "%s", line)
		if m, ok := v.(map[string]any); ok && m["kind"] == "invocation" {
			invocations++
		}
	}
	require.Equal(t, len(files)+5, invocations)
	r, err := audit.Verify(context.Background(), path)
	require.NoError(t, err)
	require.True(t, r.Sound())
}
