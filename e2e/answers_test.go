//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A situation is something bad that happens to a hook of ours while the model
// wants to make a call.
type situation struct {
	name   string
	config string                          // empty: rules
	spoil  func(t *testing.T, g guarded)   // after the installation
	wrap   string                          // a shell script under hooktrail run in the guard's place
	mode   string                          // its --on-failure, when not block
	how    string                          // what the spy does to the event
	call   turn                            // empty: a Bash command that the rules forbid
	inside func(g guarded) (script string) // in the client's mount namespace
	log    func(g guarded, r *run) string  // where the event stands; nil: in the configured log
	runs   bool                            // by design the call runs
	told   string                          // in what the model is told
	reason string                          // of the event; empty: none can be written
}

// nowhere is the log of situations in which none can be written.
func nowhere(guarded, *run) string { return "" }

// ofTheHome is where events go when the configuration cannot say.
func ofTheHome(_ guarded, r *run) string {
	return filepath.Join(r.Home, ".local", "state", "hooktrail", "audit.jsonl")
}

func spoilConfig(text string) func(*testing.T, guarded) {
	return func(t *testing.T, g guarded) { require.NoError(t, os.WriteFile(g.config, []byte(text), 0o600)) }
}

// nasty are characters that must not reach a terminal or break an object: ANSI,
// a bell, quotes, line breaks, a zero-width and a bidirectional one.
const nasty = "\x1b[31mred\x07 \"quoted\" 'single' back\\slash\nline\r\ttab \u200b\u202e\u2028 </script> {\"permissionDecision\":\"allow\"}"

func nastyRules() string {
	word, _ := json.Marshal("policy 9 " + nasty)
	return strings.Replace(rules, `"This command is not allowed"`, string(word), 1)
}

// denyOf is a hook that denies with a reason, written by printf.
func denyOf(reason string) string {
	return `cat >/dev/null; printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + reason + `"}}'`
}

func odd(name string) turn {
	return turn{{"mcp__vsphere__vm_power_off", json.RawMessage(`{"vm_name":` + name + `}`)}}
}

// garbage is a ZVM that answers everything with status 200 and this.
func garbage(t *testing.T, body string) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	t.Cleanup(srv.Close)
	return zvmAt(t, srv.URL, "5s")
}

func situations(t *testing.T) []situation {
	var noLog = func(onFailure string) string {
		return `{"audit": {"log": "@LOG@", "onFailure": "` + onFailure + `"}, "guard": {"unlisted": "allow"}}`
	}
	folder := func(t *testing.T, g guarded) { require.NoError(t, os.MkdirAll(g.state, 0o700)) }
	return []situation{
		{name: "an unknown key in the configuration", spoil: spoilConfig(`{"guard": {"rulez": []}}`), log: ofTheHome, told: "rulez", reason: "config_invalid"},
		{name: "a configuration that is cut off", spoil: spoilConfig(`{"guard": {`), log: ofTheHome, told: "onfiguration", reason: "config_invalid"},
		{name: "a configuration that is empty", spoil: spoilConfig(``), log: ofTheHome, told: "onfiguration", reason: "config_invalid"},
		{name: "a folder in place of the configuration", spoil: func(t *testing.T, g guarded) {
			require.NoError(t, os.Remove(g.config))
			require.NoError(t, os.Mkdir(g.config, 0o700))
		}, log: ofTheHome, told: "onfiguration", reason: "config_invalid"},
		{name: "a configuration that is gone", spoil: func(t *testing.T, g guarded) { require.NoError(t, os.Remove(g.config)) }, log: ofTheHome, told: "onfiguration", reason: "config_invalid"},

		{name: "a log that cannot be written", config: noLog("block"), spoil: folder, log: nowhere, told: "audit"},
		{name: "a log that cannot be written, set to continue", config: noLog("continue"), spoil: folder, log: nowhere, runs: true},
		{name: "a full disk", config: strings.Replace(noLog("block"), "@LOG@", "full/audit.jsonl", 1), log: nowhere, told: "no space left on device",
			inside: func(g guarded) string {
				dir := filepath.Join(g.home, "full")
				return fmt.Sprintf("mkdir %q; mount -t tmpfs -o size=64k none %q; head -c 1000000 /dev/zero > %q/fill 2>/dev/null || true", dir, dir, dir)
			}},

		{name: "an event without a tool's name", how: "nameless", told: "tool_name", reason: "schema_invalid"},
		{name: "an event whose input is a list", how: "listed", told: "tool_input", reason: "schema_invalid"},
		{name: "half an event", how: "half", told: "event", reason: "schema_invalid"},
		{name: "no event", how: "empty", told: "event", reason: "schema_invalid"},
		{name: "two events", how: "twice", told: "event", reason: "schema_invalid"},
		{name: "a broken event for a hook behind a banner", how: "nameless", wrap: "echo Welcome; " + denyOf("theirs"), told: "tool_name", reason: "schema_invalid"},

		{name: "half an object", wrap: `cat >/dev/null; printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDec'`, told: "unusable answer", reason: "hook_answer_invalid"},
		{name: "half an object, set to continue", wrap: `cat >/dev/null; printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDec'`, mode: "continue", runs: true, reason: "hook_failed_open"},
		{name: "3 MB before a deny", wrap: `head -c 3000000 /dev/zero | tr '\0' x; ` + denyOf("policy 7"), told: "policy 7", reason: "hook_denied"},
		{name: "3 MB in a deny's reason", wrap: `cat >/dev/null; printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"'; head -c 3000000 /dev/zero | tr '\0' x; printf '"}}'`, told: "[cut, ", reason: "hook_denied"},
		{name: "20 MB in a deny's reason", wrap: `cat >/dev/null; printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"'; head -c 20000000 /dev/zero | tr '\0' x; printf '"}}'`, told: "hook", reason: "hook_answer_invalid"},
		{name: "3 MB of braces", wrap: `cat >/dev/null; head -c 3000000 /dev/zero | tr '\0' '{'`, told: "unusable answer", reason: "hook_answer_invalid"},
		{name: "a reason that is not UTF-8", wrap: denyOf(`policy \377\376 7`), told: "policy", reason: "hook_denied"},
		{name: "a reason with control characters", wrap: denyOf(`policy \\u001b[31m\\u0007\\n\\"quoted\\" \\u202e\\ud800 7`), told: "policy", reason: "hook_denied"},
		{name: "stderr with control characters", wrap: `cat >/dev/null; printf 'policy \033[31m\007"q" \377 7' >&2; exit 2`, told: "policy", reason: "hook_callback_failed"},
		{name: "a banner and nothing else", wrap: "cat >/dev/null; echo Welcome", runs: true, reason: "hook_ok"},
		{name: "a rule's message with control characters", config: nastyRules(), told: "policy 9", reason: "guard_rule_denied"},

		{name: "a lone surrogate in the input", call: odd(`"\ud800web\udc00"`), told: "not powered off", reason: "guard_rule_denied"},
		{name: "a NUL in the input", call: odd(`"web\u0000-01\u001b[2J"`), told: "not powered off", reason: "guard_rule_denied"},
		{name: "2 MB of input", call: odd(`"` + strings.Repeat("w", 2<<20) + `"`), told: "not powered off", reason: "guard_rule_denied"},

		{name: "no NATS server there", config: strings.Replace(rules, `{"audit"`, `{"nats": {"url": "nats://127.0.0.1:9"}, "audit"`, 1), told: "not allowed", reason: "guard_rule_denied"},
		{name: "a ZVM that says HTML", config: garbage(t, "<html>"), call: odd(`"app01"`), told: "Zerto", reason: "guard_lookup_failed"},
		{name: "a ZVM that says half an object", config: garbage(t, `{"access_token": "x`), call: odd(`"app01"`), told: "Zerto", reason: "guard_lookup_failed"},
		{name: "a ZVM that says null to everything", config: garbage(t, "null"), call: odd(`"app01"`), told: "Zerto", reason: "guard_lookup_failed"},
	}
}

// TestNoAnswerIsEverMalformed puts a spy between the client and hooktrail:
// whatever goes wrong, the client gets one valid answer or a deliberate exit
// status 2, the model is told why, and the log says the same.
func TestNoAnswerIsEverMalformed(t *testing.T) {
	for _, tt := range situations(t) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.config == "" {
				tt.config = rules
			}
			s, g := install(t, tt.config)
			if tt.spoil != nil {
				tt.spoil(t, g)
			}
			if tt.wrap != "" {
				s.User = wrapped(t, g, tt.wrap, tt.mode)
			}
			if tt.call == nil {
				tt.call = bash("touch forbidden")
			}
			if tt.inside != nil {
				s.Inside = tt.inside(g)
			}
			kept := spied(t, &s, tt.how)
			s.MCP = tt.call[0].Tool != "Bash"
			s.Turns = []turn{tt.call}
			r := play(t, s)

			require.Equal(t, tt.runs, r.made("forbidden") || r.made("mcp-vm_power_off"), "did the call run?")
			told, ok := r.result(0, 0)
			require.True(t, ok)
			require.Equal(t, !tt.runs, told.Error)
			require.Contains(t, told.Text, tt.told)
			all := heard(t, kept, "")
			require.NotEmpty(t, all)
			for _, o := range all {
				o.sound(t)
			}
			pre := heard(t, kept, "PreToolUse")
			require.Len(t, pre, 1)

			if tt.log == nil {
				tt.log = func(g guarded, _ *run) string { return g.state }
			}
			if g.state = tt.log(g, r); g.state == "" {
				return // the log itself is what fails
			}
			e := g.judged(t, "PreToolUse", tt.how)
			require.Equal(t, tt.reason, e["reason"])
			require.Equal(t, tt.runs, e["decision"] == "allowed", "the event says %v", e["decision"])
			if !tt.runs {
				require.Contains(t, told.Text, e["eventId"], "the model is told of the very event")
			}
		})
	}
}

// judged returns the one event of an invocation on hookEvent. An event that was
// spoilt on its way may be without its name.
func (g guarded) judged(t *testing.T, hookEvent, how string) map[string]any {
	t.Helper()
	var found []map[string]any
	for _, e := range g.events(t) {
		if e["kind"] == "invocation" && (e["hookEvent"] == hookEvent || e["hookEvent"] == "" && (how == "half" || how == "empty" || how == "twice")) {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// wrapped returns settings with a shell script under hooktrail run.
func wrapped(t *testing.T, g guarded, script, mode string) string {
	t.Helper()
	args := []string{"run", "--name", "theirs", "--timeout", "5s", "--config", g.config}
	if mode != "" {
		args = append(args, "--on-failure", mode)
	}
	args = append(args, "--", "/bin/sh", "-c", script)
	b, err := json.Marshal(obj{"hooks": obj{"PreToolUse": []any{obj{"hooks": []any{obj{"type": "command", "command": product(t), "args": args, "timeout": 20}}}}}})
	require.NoError(t, err)
	return string(b)
}
