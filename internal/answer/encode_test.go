package answer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/event"
	"hooktrail/internal/schema"
)

func TestEncode(t *testing.T) {
	for _, tt := range []struct {
		name, event string
		v           Verdict
		stdout      string
		stderr      string
		blocked     bool
	}{
		{"the zero verdict denies", "PreToolUse", Verdict{Message: "no"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "no", true},
		{"no event is answered like a call", "", Verdict{Message: "no"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "no", true},
		{"ask", "PreToolUse", Verdict{Decision: Ask, Message: "sure?"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}`, "", false},
		{"no decision", "PreToolUse", Verdict{Decision: NoDecision, Message: "fine"}, "", "", false},
		{"context", "PreToolUse", Verdict{Decision: NoDecision, Context: "cp"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"cp"}}`, "", false},
		{"a rewrite passed on", "PreToolUse", Verdict{Decision: Allow, UpdatedInput: []byte(`{"a":1}`)},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":1}}}`, "", false},
		{"a denied call is not rewritten", "PreToolUse", Verdict{Message: "no", UpdatedInput: []byte(`{"a":1}`)},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "no", true},
		{"the turn is to end", "PreToolUse", Verdict{Message: "no", Stop: true, StopReason: "enough"},
			`{"continue":false,"stopReason":"enough","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "no", true},
		{"a word for the user alone", "PreToolUse", Verdict{Decision: NoDecision, SystemMessage: "m"}, `{"systemMessage":"m"}`, "", false},
		{"a word for the user beside an ask", "PreToolUse", Verdict{Decision: Ask, Message: "sure?", SystemMessage: "m"},
			`{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}`, "", false},
		{"a permission request", "PermissionRequest", Verdict{Message: "no"},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`, "no", false},
		{"a permission request, interrupted", "PermissionRequest", Verdict{Message: "no", Interrupt: true},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}`, "no", false},
		{"a call has no interrupt", "PreToolUse", Verdict{Message: "no", Interrupt: true},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "no", true},
		{"a permission request, asked", "PermissionRequest", Verdict{Decision: Ask, Message: "?"}, "", "", false},
		{"after the fact", "PostToolBatch", Verdict{Message: "audit"}, "", "audit", false},
		{"the end of a turn", "Stop", Verdict{Message: "audit"}, "", "audit", false},
		{"observed", "Stop", Verdict{Decision: NoDecision}, "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Encode(tt.event, tt.v)
			require.Equal(t, tt.stdout, string(r.Stdout))
			require.Equal(t, tt.stderr, r.Stderr)
			require.Equal(t, tt.blocked, r.Blocked)
			if len(r.Stdout) > 0 {
				v, err := event.Decode(r.Stdout, 20)
				require.NoError(t, err)
				require.Empty(t, schema.Validate("answer", v))
			}
		})
	}
}

func TestReasonsAreCutAtWholeCharacters(t *testing.T) {
	r := Encode("PreToolUse", Verdict{Message: strings.Repeat("€", 5000)})
	require.Equal(t, MaxReason, utf8.RuneCountInString(r.Stderr))
	require.True(t, utf8.ValidString(r.Stderr))
	require.True(t, strings.HasSuffix(r.Stderr, "[cut]"))
}
