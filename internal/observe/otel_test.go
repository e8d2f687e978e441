package observe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// otelLines makes flat records of short words: "hooks EVENT:TOOL b=1 e=1 c=1",
// "ask TOOL", and "decision CALL TOOL accept|reject SOURCE [VERDICT]".
func otelLines(words []string) string {
	var b strings.Builder
	for i, w := range words {
		f := strings.Fields(w)
		attr := map[string]string{"event.timestamp": fmt.Sprintf("2026-12-01T09:00:%02dZ", i), "event.sequence": fmt.Sprint(i), "session.id": "s", "permission_mode": "default"}
		switch f[0] {
		case "hooks":
			event, _, _ := strings.Cut(f[1], ":")
			attr["event.name"], attr["hook_event"], attr["hook_name"] = "hook_execution_complete", event, f[1]
			for _, n := range f[2:] {
				attr[map[string]string{"b=1": "num_blocking", "e=1": "num_non_blocking_error", "c=1": "num_cancelled"}[n]] = "1"
			}
		case "ask":
			attr["event.name"], attr["hook_event"], attr["hook_name"] = "hook_execution_start", "PermissionRequest", "PermissionRequest:"+f[1]
		case "decision":
			attr["event.name"], attr["tool_use_id"], attr["tool_name"], attr["decision"], attr["source"] = "tool_decision", f[1], f[2], f[3], f[4]
			if len(f) > 5 {
				attr["classifier_verdict"] = f[5]
			}
		}
		var list []string
		for k, v := range attr {
			list = append(list, fmt.Sprintf("%q:%q", k, v))
		}
		fmt.Fprintf(&b, "{\"body\":\"x\",\"attributes\":{%s}}\n", strings.Join(list, ","))
	}
	return b.String()
}

// TestOtelTellsHooksFromPermissions: the source of a decision says which of the
// two refused a call, and a hook's failure is never put to a call that it was
// not before.
func TestOtelTellsHooksFromPermissions(t *testing.T) {
	const (
		byHook = " callback none blocked observed"
		config = " permission permission denied permission_unknown"
		asked  = " permission permission denied permission_hook"
		open   = " callback failure allowed hook_failed_open"
	)
	for _, tt := range []struct {
		name    string
		records []string
		want    []string
	}{
		{"a hook blocked", []string{"hooks PreToolUse:Bash b=1", "decision a Bash reject hook"}, []string{"a PreToolUse" + byHook}},
		{"the permissions refused", []string{"hooks PreToolUse:Bash", "decision a Bash reject config"}, []string{"a " + config}},
		{"and no hook ran", []string{"decision a Bash reject config"}, []string{"a " + config}},
		{"the classifier", []string{"decision a Bash reject config unavailable"}, []string{"a  permission permission denied permission_classifier"}},
		{"a person", []string{"decision a Bash reject user_reject"}, []string{"a  permission permission denied permission_user"}},
		{"a hook on PermissionRequest", []string{"hooks PreToolUse:Bash", "ask Bash", "decision a Bash reject hook"}, []string{"a " + asked}},
		{"likewise, without PreToolUse hooks", []string{"ask Bash", "decision a Bash reject hook"}, []string{"a " + asked}},
		{"the records of hooks are not there", []string{"decision a Bash reject hook"}, []string{"a " + byHook}},
		{"a hook failed, and a rule refused", []string{"hooks PreToolUse:Bash e=1", "decision a Bash reject config"}, []string{"a PreToolUse" + open, "a " + config}},
		{"let through by a hook", []string{"hooks PreToolUse:Bash", "decision a Bash accept hook"}, nil},
		{"let through by a person", []string{"ask Bash", "decision a Bash accept user_temporary"}, []string{"a  permission permission allowed permission_allowed"}},

		{"two calls at once, one blocked", []string{"hooks PreToolUse:Bash b=1", "hooks PreToolUse:Bash", "decision b Bash accept config", "decision a Bash reject hook"}, []string{"a PreToolUse" + byHook}},
		{"two calls at once, both blocked", []string{"hooks PreToolUse:Bash b=1", "hooks PreToolUse:Bash b=1", "decision b Bash reject hook", "decision a Bash reject hook"}, []string{"b PreToolUse" + byHook, "a PreToolUse" + byHook}},
		{"two calls at once, at one of which a hook failed", []string{"hooks PreToolUse:Bash e=1", "hooks PreToolUse:Bash", "decision a Bash accept config", "decision b Bash accept config"}, []string{" PreToolUse" + open}},
		{"one blocked, the other refused when it was asked about", []string{"hooks PreToolUse:Bash b=1", "hooks PreToolUse:Bash", "ask Bash", "decision b Bash reject hook", "decision a Bash reject hook", "decision c Bash reject config"}, []string{"b " + byHook, "a " + byHook, "c " + config}},
		{"calls of two tools", []string{"hooks PreToolUse:Bash b=1", "hooks PreToolUse:Write", "decision b Write reject config", "decision a Bash reject hook"}, []string{"b " + config, "a PreToolUse" + byHook}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, err := Read(strings.NewReader(otelLines(tt.records)), "otel.jsonl", Lookup{}, fixedNow())
			require.NoError(t, err)
			require.Equal(t, "otlp", src.Format)
			var got []string
			ids := map[string]bool{}
			for _, e := range src.Events {
				got = append(got, fmt.Sprintf("%s %s %s %s %s %s", e.ToolUseID, e.HookEvent, e.Kind, e.Layer, e.Decision, e.Reason))
				require.Equal(t, e.Reason.Layer(), e.Layer)
				require.False(t, ids[e.EventID], "an id twice")
				ids[e.EventID] = true
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// TestOtelAroundATornRecord: a collector that dies while it writes leaves half a
// record, and the next one on the same line.
func TestOtelAroundATornRecord(t *testing.T) {
	var words []string
	for _, call := range strings.Fields("a b c d e f g h i j k l") {
		words = append(words, "decision "+call+" Bash reject config")
	}
	lines := strings.SplitAfter(otelLines(words), "\n")
	lines[1] += lines[1][:len(lines[1])/2]
	src, err := Read(strings.NewReader(strings.Join(lines, "")), "", Lookup{}, fixedNow())
	require.NoError(t, err)
	require.Equal(t, 1, src.Counts.Broken)
	var calls []string
	for _, e := range src.Events {
		calls = append(calls, e.ToolUseID)
	}
	require.Equal(t, strings.Fields("a b c d e f g h i j k l"), calls)
}
