package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/event"
)

func TestEverySchemaCompilesAndEveryKnownEventHasOne(t *testing.T) {
	for _, n := range Names() {
		_, err := get(n)
		require.NoError(t, err, n)
		text, err := Text(n)
		require.NoError(t, err)
		require.True(t, json.Valid(text), n)
	}
	for _, n := range event.Known() {
		require.True(t, Has("events/"+n), n)
	}
}

func TestEvent(t *testing.T) {
	for _, tt := range []struct{ name, in, path string }{
		{"a call", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"B","tool_input":{}}`, "ok"},
		{"new fields", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"B","tool_input":{},"zz":[1]}`, "ok"},
		{"a new mode", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"B","tool_input":{},"permission_mode":"zen"}`, "ok"},
		{"a new event", `{"session_id":"s","hook_event_name":"WorktreeMerged"}`, "ok"},
		{"no session", `{"hook_event_name":"PreToolUse","tool_name":"B","tool_input":{}}`, ""},
		{"an empty session", `{"session_id":"","hook_event_name":"PreToolUse","tool_name":"B","tool_input":{}}`, "/session_id"},
		{"no event", `{"session_id":"s"}`, ""},
		{"an event that is a number", `{"session_id":"s","hook_event_name":1}`, "/hook_event_name"},
		{"another spelling", `{"session_id":"s","hook_event_name":"pretooluse","tool_name":"B","tool_input":{}}`, "/hook_event_name"},
		{"no tool", `{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{}}`, ""},
		{"an empty tool", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"","tool_input":{}}`, "/tool_name"},
		{"no input", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"B"}`, ""},
		{"input as text", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"B","tool_input":"{}"}`, "/tool_input"},
		{"input as a list", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"B","tool_input":["a"]}`, "/tool_input"},
		{"cwd as a number", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"B","tool_input":{},"cwd":1}`, "/cwd"},
		{"an integral float", `{"session_id":"s","hook_event_name":"MessageDisplay","index":2.0}`, "ok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := event.Parse([]byte(tt.in), event.Limits{})
			require.NoError(t, err)
			v := Event(&e)
			if tt.path == "ok" {
				require.Empty(t, v)
				return
			}
			require.NotEmpty(t, v)
			require.Equal(t, tt.path, v[0].Path)
			require.NotEmpty(t, v[0].Message)
		})
	}
}

// TestAnotherHostIsNamed: an event of another host's form says whose it seems to
// be before it says what it lacks.
func TestAnotherHostIsNamed(t *testing.T) {
	for in, host := range map[string]string{
		`{"timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":"{}"}`:        "Copilot CLI",
		`{"agent_action_name":"pre_run_command","tool_info":{}}`:              "Windsurf",
		`{"conversation_id":"c","command":"ls"}`:                              "Cursor",
		`{"clineVersion":"3","hookName":"PreToolUse"}`:                        "Cline",
		`{"hookEventName":"PreToolUse","tool_name":"x"}`:                      "another host",
		`{"session_id":"s","hook_event_name":"tool_call","tool_name":"bash"}`: "another host",
	} {
		e, err := event.Parse([]byte(in), event.Limits{})
		require.NoError(t, err)
		v := Event(&e)
		require.NotEmpty(t, v, in)
		require.Contains(t, v[0].Message, host, in)
	}
}

func TestAMissingSchemaAdmitsNothing(t *testing.T) {
	require.NotEmpty(t, Validate("no-such-schema", map[string]any{}))
}

// A value that the library cannot handle panics inside it.
func TestAPanicAdmitsNothing(t *testing.T) {
	v := Validate("callback-result", map[string]any{"exitCode": json.Number("1e1000001")})
	require.NotEmpty(t, v)
	require.NotEmpty(t, Validate("callback-result", struct{}{}))
}

func TestAPatternIsToldInWords(t *testing.T) {
	found := Validate("config", map[string]any{"guard": map[string]any{"budget": "150"}})
	require.Equal(t, []Violation{{Path: "/guard/budget", Message: "must be a time with its unit, such as 150s, 2m or 50ms"}}, found)
}
