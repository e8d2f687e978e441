package observe

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// story is one event in short.
func story(e *audit.Event) string {
	b := fmt.Sprintf("%s %s %s %s %s %s", e.Kind, e.HookEvent, e.Layer, e.Decision, e.Reason, e.Gate)
	if e.ExitCode != nil {
		b += fmt.Sprintf(" exit=%d", *e.ExitCode)
	}
	if e.TimedOut != nil && *e.TimedOut {
		b += " timedOut"
	}
	if e.OnFailure != "" {
		b += " " + e.OnFailure
	}
	return strings.Join(strings.Fields(b), " ") + " <" + e.Evidence + ">"
}

func readTranscript(t *testing.T, path string) ([]*audit.Event, *transcriptReader) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	r := &transcriptReader{path: path}
	var events []*audit.Event
	for line := range bytes.SplitSeq(bytes.TrimSpace(b), []byte("\n")) {
		events = append(events, r.line(line)...)
	}
	return events, r
}

// TestStories holds what each recorded transcript tells, spelled out: the table
// of denials among them.
func TestStories(t *testing.T) {
	names, err := filepath.Glob("testdata/transcript/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	var got strings.Builder
	for _, n := range names {
		events, r := readTranscript(t, n)
		require.Zero(t, r.counts.Broken, n)
		require.Empty(t, r.counts.Unknown, n)
		fmt.Fprintln(&got, strings.TrimSuffix(filepath.Base(n), ".jsonl"))
		for _, e := range events {
			require.Equal(t, e.Reason.Layer(), e.Layer, n)
			fmt.Fprintln(&got, "  "+story(e))
		}
	}
	want, err := os.ReadFile("testdata/stories.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

// TestDenialsAreToldApart is the table of denials: what refused the call, and
// its layer, decision and reason. No two share them. After these stand the
// branch and whether the hook is known by its command, or the evidence.
func TestDenialsAreToldApart(t *testing.T) {
	seen := map[string]string{}
	for _, tt := range []struct{ name, file, want string }{
		{"deny by a hook", "b_byp_deny", "hook blocked hook_denied  false"},
		{"exit 2", "b_byp_exit2", "hook blocked hook_denied_plain  true"},
		{"onFailure block", "c_block_exit1", "failure blocked hook_callback_failed block true"},
		{"a hook asks, nobody answers", "b_byp_ask", "permission denied permission_unattended_hook transcript:reasonCode=hook:PreToolUse"},
		{"PermissionRequest hook", "e_permreq_deny", "permission denied permission_hook transcript:reasonCode=hook:PermissionRequest"},
		{"needs approval, nobody answers", "e_default", "permission denied permission_unattended transcript:toolDenialKind=user-rejected"},
		{"deny rule", "e_denyrule", "permission denied permission_rule transcript:reasonCode=rule:flagSettings"},
		{"ask rule, nobody answers", "e_askrule", "permission denied permission_unattended_rule transcript:reasonCode=rule:flagSettings"},
		{"dontAsk", "e_dontask", "permission denied permission_mode transcript:reasonCode=mode:dontAsk"},
		{"auto mode unavailable", "e_auto_block", "permission denied permission_classifier transcript:reasonCode=classifier:auto-mode:unavailable"},
		{"a person says no", "tui_reject", "permission denied permission_user transcript:toolDenialKind=user-rejected"},
		{"a hook fails and the call runs", "b_byp_exit1", "failure allowed hook_failed_open not_block_mode true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events, _ := readTranscript(t, "testdata/transcript/"+tt.file+".jsonl")
			require.NotEmpty(t, events)
			e := events[len(events)-1]
			got := fmt.Sprintf("%s %s %s ", e.Layer, e.Decision, e.Reason)
			require.Empty(t, seen[got], "the same layer, decision and reason")
			seen[got] = tt.name
			if e.Kind == audit.Callback {
				got += fmt.Sprintf("%s %t", e.Gate, e.HookName != "PreToolUse:Bash")
			} else {
				got += e.Evidence
			}
			require.Equal(t, tt.want, got)
		})
	}
}
