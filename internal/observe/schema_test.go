package observe

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/schema"
)

// TestEveryEventPassesTheSchema records what all the records tell, and holds
// each line against the schema.
func TestEveryEventPassesTheSchema(t *testing.T) {
	var events []*audit.Event
	for _, glob := range []string{"testdata/transcript/*.jsonl", "testdata/transcript/session/*.jsonl", "testdata/stream/*.jsonl", "testdata/otel/*.jsonl"} {
		names, err := filepath.Glob(glob)
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, n := range names {
			events = append(events, readSource(t, n)...)
		}
	}
	names, err := filepath.Glob("testdata/payload/*.json")
	require.NoError(t, err)
	for _, n := range names {
		raw, err := os.ReadFile(n)
		require.NoError(t, err)
		e, err := event.Parse(raw, event.Limits{})
		require.NoError(t, err)
		p, ok := payloadOf(e.Value)
		require.True(t, ok)
		events = append(events, Lookup{}.fromPayload(p, fixedNow(), nil)...)
	}
	require.Greater(t, len(events), 100)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.New(audit.Options{Path: path, Now: time.Now})
	require.NoError(t, err)
	require.NoError(t, log.Record(t.Context(), events...))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // only read
	n := 0
	require.NoError(t, audit.Scan(f, func(l audit.Line) error {
		n++
		e, err := event.Parse(l.Bytes, event.Limits{})
		require.NoError(t, err)
		require.Empty(t, schema.Validate("audit-event", e.Value), "%s", l.Bytes)
		return nil
	}))
	require.GreaterOrEqual(t, n, len(events))
}

// TestPayloads: what each recorded payload says at once. Sentences that a tool
// could have printed as well say nothing.
func TestPayloads(t *testing.T) {
	for name, want := range map[string]string{
		"PermissionDenied.Bash.auto":                 "permission PermissionDenied permission denied permission_classifier <payload:PermissionDenied>",
		"PostToolBatch.deny_rule":                    "permission permission denied permission_rule <batch:text>",
		"PostToolBatch.dontask":                      "permission permission denied permission_mode <batch:text>",
		"PostToolBatch.hook_ask_unattended":          "",
		"PostToolBatch.hook_deny_json":               "callback PreToolUse hook blocked hook_denied <batch:text>",
		"PostToolBatch.hook_exit2":                   "callback PreToolUse hook blocked hook_denied_plain <batch:text>",
		"PostToolBatch.invalid_input":                "permission none none observed <batch:text>",
		"PostToolBatch":                              "",
		"PostToolBatch.mixed_hook_deny":              "callback PreToolUse hook blocked hook_denied_plain <batch:text>",
		"PostToolBatch.onfailure_block_exit1":        "callback PreToolUse failure blocked hook_callback_failed block block <batch:text>",
		"PostToolBatch.onfailure_block_timeout":      "callback PreToolUse failure blocked hook_callback_failed timeout_block timedOut block <batch:text>",
		"PostToolBatch.permission_denied":            "",
		"PostToolBatch.permission_request_hook_deny": "",
		"PostToolBatch.three_calls":                  "",
		"PostToolBatch.tool_denied_whole":            "permission permission denied permission_rule <batch:text>",
		"PostToolBatch.unknown_tool":                 "permission none none observed <batch:text>",
		"PermissionRequest.Bash":                     "",
		"PostToolUse.Bash":                           "",
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile("testdata/payload/" + name + ".json")
			require.NoError(t, err)
			e, err := event.Parse(raw, event.Limits{})
			require.NoError(t, err)
			p, _ := payloadOf(e.Value)
			events := Lookup{}.fromPayload(p, fixedNow(), nil)
			if want == "" {
				require.Empty(t, events)
				return
			}
			require.Len(t, events, 1)
			require.Equal(t, want, story(events[0]))
		})
	}
}
