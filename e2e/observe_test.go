//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings"
)

const (
	denyAnswer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"theirs says no"}}`
	askAnswer  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"theirs asks"}}`
	noRequest  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"theirs refuses"}}}`
)

// says is a command that prints an answer.
func says(answer string) string { return "cat >/dev/null; printf '%s' '" + answer + "'" }

// observed returns a session in which hooktrail stands on every event as an
// observer, without a guard, and a hook of somebody else's on one of them.
func observed(t *testing.T, hookEvent string, theirs obj, permissions obj) session {
	t.Helper()
	bin := product(t)
	all, bad := settings.Events("all")
	require.Empty(t, bad)
	hooks := obj{}
	for _, e := range all {
		hooks[e] = []any{obj{"hooks": []any{obj{"type": "command", "command": bin, "args": []any{"hook", "--log", "@HOME@/audit.jsonl"}}}}}
	}
	if theirs != nil {
		hooks[hookEvent] = append(hooks[hookEvent].([]any), obj{"hooks": []any{theirs}})
	}
	all2 := obj{"hooks": hooks}
	if permissions != nil {
		all2["permissions"] = permissions
	}
	b, err := json.Marshal(all2)
	require.NoError(t, err)
	return session{User: string(b), Turns: []turn{bash("touch ran")}}
}

// facts returns the events that tell of other hooks and of permissions.
func (r *run) facts(t *testing.T) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Home, "audit.jsonl"))
	require.NoError(t, err, "%s", r.Stderr)
	var all []map[string]any
	for line := range strings.Lines(string(b)) {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e["kind"] == "callback" || e["kind"] == "permission" {
			all = append(all, e)
		}
	}
	require.Contains(t, string(b), `"hookEvent":"SessionEnd"`, "the observer saw the end")
	return all
}

// fact is one event in a line; what is absent is a dash. How long a hook took
// differs from run to run, so only whether it is there.
func fact(e map[string]any, fields ...string) string {
	var words []string
	for _, f := range fields {
		v, ok := e[f]
		switch {
		case !ok:
			words = append(words, "-")
		case f == "durationMs":
			words = append(words, "took")
		default:
			words = append(words, fmt.Sprint(v))
		}
	}
	return strings.Join(words, " ")
}

// TestHooksOfOthersAreObserved: hooks that hooktrail does not wrap end in every
// way, with and without onFailure block. Each run is one event with its branch
// and what the host has recorded of it; a run that ends well in silence is none.
func TestHooksOfOthersAreObserved(t *testing.T) {
	client(t)
	none := []string(nil)
	// layer, decision, reason, gate, onFailure, exit code, timed out, time, limit
	cases := []struct {
		name, command string
		more          obj
		blocks        bool // in block mode
		open, block   []string
	}{
		{"silent", "cat >/dev/null", nil, false, none, none},
		{
			"prints", "cat >/dev/null; echo all is well", nil, false,
			[]string{"hook allowed hook_ok not_block_mode continue 0 false took -"},
			[]string{"hook allowed hook_ok allow block 0 false took -"},
		},
		{
			"exit 1", "/bin/sh", obj{"args": []any{"-c", "exit 1"}}, true,
			[]string{"failure allowed hook_failed_open not_block_mode continue 1 false took -"},
			[]string{"failure blocked hook_callback_failed block block - false - -"},
		},
		{
			"exit 127", "/nonexistent/hook", nil, true,
			[]string{"failure allowed hook_failed_open not_block_mode continue 127 false took -"},
			[]string{"failure blocked hook_callback_failed block block - false - -"},
		},
		{
			"killed", "cat >/dev/null; kill -9 $$", nil, true,
			[]string{"failure allowed hook_failed_open not_block_mode continue 1 false took -"},
			[]string{"failure blocked hook_callback_failed block block - false - -"},
		},
		{
			"times out", "cat >/dev/null; sleep 30", obj{"timeout": 1}, true,
			[]string{"failure allowed hook_failed_open not_block_mode continue - true took 1000"},
			[]string{"failure blocked hook_callback_failed timeout_block block - true - -"},
		},
		{
			"a deny behind a banner", "echo loading; " + says(denyAnswer), nil, false,
			[]string{"failure allowed hook_failed_open not_block_mode continue 0 false took -"},
			[]string{"failure allowed hook_failed_open - block 0 false took -"},
		},
	}
	limit := make(chan struct{}, 2)
	for _, tt := range cases {
		for _, mode := range []string{"", "block"} {
			t.Run(tt.name+" "+yes(mode == "", "without onFailure", "with block"), func(t *testing.T) {
				t.Parallel()
				limit <- struct{}{}
				defer func() { <-limit }()
				theirs, want := obj{"type": "command", "command": tt.command}, tt.open
				for k, v := range tt.more {
					theirs[k] = v
				}
				if mode != "" {
					theirs["onFailure"], want = mode, tt.block
				}
				s := observed(t, "PreToolUse", theirs, nil)
				s.Args = bypass
				r := play(t, s)
				require.Equal(t, mode == "block" && tt.blocks, !r.made("ran"))
				var got []string
				for _, e := range r.facts(t) {
					got = append(got, fact(e, "layer", "decision", "reason", "gate", "onFailure", "exitCode", "timedOut", "durationMs", "deadlineMs"))
					require.Equal(t, "toolu_msg_1_0", e["toolUseId"])
					require.Equal(t, "PreToolUse", e["hookEvent"])
					require.Contains(t, e["hookName"], tt.command)
					require.Equal(t, "touch ran", e["command"])
				}
				require.Equal(t, want, got)
			})
		}
	}
}

// TestDenialsAreToldApartLive is the table of denials with the real client: no
// two have the same layer, decision and reason. A person's no needs a terminal:
// TestAPersonSaysNo.
func TestDenialsAreToldApartLive(t *testing.T) {
	client(t)
	pre := func(command string, more obj) obj {
		e := obj{"type": "command", "command": command}
		for k, v := range more {
			e[k] = v
		}
		return e
	}
	cases := []struct {
		name        string
		event       string
		theirs      obj
		permissions obj
		args        []string
		ran         bool
		want        string // layer, decision, reason, gate
		tells       string // stands in the hook's name or in the message
	}{
		{"deny by a hook", "PreToolUse", pre(says(denyAnswer), nil), nil, bypass, false, "hook blocked hook_denied -", `PreToolUse:Bash: theirs says no`},
		{"exit 2", "PreToolUse", pre("cat >/dev/null; echo no >&2; exit 2", nil), nil, bypass, false, "hook blocked hook_denied_plain -", `exit 2: no`},
		{"onFailure block", "PreToolUse", pre("cat >/dev/null; exit 1", obj{"onFailure": "block"}), nil, bypass, false, "failure blocked hook_callback_failed block", `exit 1: failed; blocking because onFailure is "block"`},
		{"a hook asks, nobody answers", "PreToolUse", pre(says(askAnswer), nil), nil, bypass, false, "permission denied permission_unattended_hook -", `theirs asks`},
		{"PermissionRequest hook", "PermissionRequest", pre(says(noRequest), nil), nil, nil, false, "permission denied permission_hook -", `theirs refuses`},
		{"needs approval, nobody answers", "", nil, nil, nil, false, "permission denied permission_unattended -", `needs approval`},
		{"deny rule", "", nil, obj{"deny": []any{"Bash(touch:*)"}}, bypass, false, "permission denied permission_rule -", `has been denied.`},
		{"ask rule, nobody answers", "", nil, obj{"ask": []any{"Bash(touch:*)"}}, bypass, false, "permission denied permission_unattended_rule -", `but you haven't granted it yet`},
		{"dontAsk", "", nil, nil, []string{"--permission-mode", "dontAsk"}, false, "permission denied permission_mode -", `don't ask mode`},
		{"auto mode unavailable", "", nil, nil, []string{"--permission-mode", "auto"}, false, "permission denied permission_classifier -", `lassifier unavailable`},
		{"a hook fails and the call runs", "PreToolUse", pre("cat >/dev/null; exit 1", nil), nil, bypass, true, "failure allowed hook_failed_open not_block_mode", `the host went on`},
	}
	var mu sync.Mutex
	said := map[string]string{}
	limit := make(chan struct{}, 2)
	t.Run("all", func(t *testing.T) {
		for _, tt := range cases {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				limit <- struct{}{}
				defer func() { <-limit }()
				s := observed(t, tt.event, tt.theirs, tt.permissions)
				s.Args = tt.args
				if strings.HasPrefix(tt.name, "auto mode") { // a command that the classifier is asked about
					s.Turns = []turn{bash("touch ran; curl http://127.0.0.1:9/x")}
				}
				r := play(t, s)
				require.Equal(t, tt.ran, r.made("ran"))
				var got [][2]string
				for _, e := range r.facts(t) {
					require.Equal(t, "toolu_msg_1_0", e["toolUseId"])
					if e["decision"] != "asked" { // that a hook asked is a fact of its own
						got = append(got, [2]string{fact(e, "layer", "decision", "reason", "gate"), fact(e, "hookName") + ": " + fact(e, "message")})
					}
				}
				require.Len(t, got, 1, "%v", got)
				require.Equal(t, tt.want, got[0][0])
				require.Contains(t, got[0][1], tt.tells)
				mu.Lock()
				defer mu.Unlock()
				said[tt.name] = strings.Join(strings.Fields(got[0][0])[:3], " ") // without the branch
			})
		}
	})
	seen := map[string]string{}
	for name, words := range said {
		require.Empty(t, seen[words], "%s has the same layer, decision and reason", name)
		seen[words] = name
	}
	require.Empty(t, seen["permission denied permission_user"], "a person's no: see TestAPersonSaysNo")
}
