package answer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const clean = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r1"}}`

const (
	fault = "fault"
	plain = "plain"
	deny  = "deny"
	ask   = "ask"
	allow = "allow"
	defr  = "defer"
	none  = "none"
)

// wide is s in UTF-16, the lower byte first.
func wide(s string) string { return strings.Join(strings.Split(s, ""), "\x00") + "\x00" }

// word says in one word what was read.
func word(s Said) string {
	switch {
	case s.Decision == Deny:
		return deny
	case s.Fault != "":
		return fault
	case s.Text != "":
		return plain
	}
	return map[Decision]string{Ask: ask, Allow: allow, Defer: defr, NoDecision: none}[s.Decision]
}

func pre(decision string) string {
	return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":` + decision + `}}`
}

func TestParsePreToolUse(t *testing.T) {
	for _, tt := range []struct {
		name, out, want string
	}{
		{"nothing", "", none},
		{"blanks", " \r\n\t\n", none},
		{"a byte order mark alone", "\xef\xbb\xbf", none},
		{"deny", clean, deny},
		{"ask", pre(`"ask"`), ask},
		{"allow", pre(`"allow"`), allow},
		{"defer", pre(`"defer"`), defr},
		{"empty object", "{}", none},
		{"unknown names only", `{"level":"info","msg":"x"}`, none},
		{"context alone", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}`, none},
		{"a word for the user", `{"systemMessage":"m"}`, none},
		{"continue true", `{"continue":true}`, none},
		{"suppressed output", `{"suppressOutput":true}`, none},

		// how it is written
		{"byte order mark", "\xef\xbb\xbf" + clean, deny},
		{"blank lines before and behind", "\r\n\n" + clean + "\r\n\r\n", deny},
		{"pretty", strings.NewReplacer("{", "{\r\n  ", ",", ",\r\n  ", ":", ": ").Replace(clean), deny},
		{"pretty allow", strings.NewReplacer("{", "{\n  ", ",", ",\n  ").Replace(pre(`"allow"`)), allow},
		{"escaped letters", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permission\u0044ecision":"den\u0079"}}`, deny},
		{"bad UTF-8 in the reason", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + "\xff" + `"}}`, deny},

		// a deny survives noise
		{"banner before", "Loading rules...\n" + clean, deny},
		{"banner on the same line", "ok: " + clean, deny},
		{"banner behind", clean + "\ndone in 3 ms\n", deny},
		{"banner with braces", "{INFO} starting {a, b} [x]\n" + clean + "\n}", deny},
		{"banner that opens an object", "{\"a\": 1, \n" + clean, deny},
		{"two objects, the second denies", "{}" + clean, deny},
		{"two objects, the first denies", clean + `{"a":1}`, deny},
		{"allow, then deny", pre(`"allow"`) + "\n" + clean, deny},
		{"in a list", "[" + clean + "]", deny},
		{"in a fence", "```json\n" + clean + "\n```\n", deny},
		{"in a wrapping", `{"result":` + clean + `}`, deny},
		{"where the output belongs", `{"hookSpecificOutput":` + clean + `}`, deny},
		{"quotes before", `it said "no": ` + clean, deny},
		{"UTF-16", "\xff\xfe" + wide(clean), deny},
		{"UTF-16 without a mark", wide(clean), deny},
		{"UTF-16, the other order", "\xfe\xff\x00" + strings.TrimSuffix(wide(clean), "\x00"), deny},
		{"UTF-16 with an allow", "\xff\xfe" + wide(pre(`"allow"`)), fault},
		{"coloured, as jq -C does it", "\x1b[1;39m{\x1b[0m\x1b[34;1m\"decision\"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m\"block\"\x1b[0m\x1b[1;39m,\x1b[0m\x1b[34;1m\"reason\"\x1b[0m:\x1b[0;32m\"r1\"\x1b[0m}\x1b[0m\n", deny},
		{"coloured with an allow", "\x1b[32m" + pre(`"allow"`) + "\x1b[0m", fault},
		{"behind the title of a window", "\x1b]0;hook\x07" + clean, deny},
		{"behind a title without an end", "\x1b]0;hook " + clean, deny},
		{"as a JSON string", `"{\"decision\":\"block\",\"reason\":\"r1\"}"`, deny},
		{"as a JSON string in a JSON string", `"\"{\\\"decision\\\":\\\"block\\\",\\\"reason\\\":\\\"r1\\\"}\""`, deny},
		{"an allow as a JSON string", `"{\"decision\":\"approve\"}"`, fault},

		// what is not one valid answer
		{"cut", `{"hookSpecificOutput":{"permissionDecision":"de`, fault},
		{"cut after the word", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`, fault},
		{"only the last brace is missing", clean[:len(clean)-1], fault},
		{"only the last brace is missing, no event", `{"hookSpecificOutput": {"permissionDecision":"deny"}`, fault},
		{"two objects", `{}{"a":1}`, fault},
		{"two allows", pre(`"allow"`) + pre(`"allow"`), fault},
		{"text before", "hello\n" + pre(`"allow"`), fault},
		{"text behind", pre(`"allow"`) + "\nbye", fault},
		{"text before {}", "hello\n{}", fault},
		{"text before, not at a line's beginning", "hello " + pre(`"allow"`), fault},
		{"a list", "[]", fault},
		{"a list of objects, cut", `[{"a":`, fault},
		{"trailing comma", `{"decision":"approve",}`, fault},
		{"missing brace", `{"decision":"approve"`, fault},
		{"single quotes", `{'hookSpecificOutput': {'permissionDecision': 'deny'}}`, fault},
		{"single quotes behind a banner line", "loading\n{'decision': 'block', 'reason': 'no'}", fault},
		{"single quotes behind a word", "Result: {'decision': 'block'}", fault},
		{"no quotes, as Node prints an object", "{ decision: 'block', reason: 'no' }", fault},
		{"no quotes behind a banner", "loading\n{ reason: 'no', decision: 'block' }", fault},
		{"an object in a text, as JavaScript writes it", "[object Object]\n", fault},
		{"single quotes behind a banner", `rules ok {'hookSpecificOutput': {'permissionDecision': 'deny'}}`, fault},
		{"comments", "{ // no\n}", fault},
		{"a NUL", "{\x00}", fault},
		{"unknown decision", pre(`"prompt"`), fault},
		{"wrong case", pre(`"Deny"`), fault},
		{"blank behind", pre(`"deny "`), fault},
		{"null decision", pre(`null`), fault},
		{"a number", pre(`1`), fault},
		{"wrong event", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny"}}`, fault},
		{"wrong event in wrong case", `{"hookSpecificOutput":{"hookEventName":"pretooluse","permissionDecision":"deny"}}`, fault},
		{"wrong event behind a banner", "x\n" + `{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny"}}`, fault},
		{"no event, allow", `{"hookSpecificOutput":{"permissionDecision":"allow"}}`, fault},
		{"no event, context", `{"hookSpecificOutput":{"additionalContext":"x"}}`, fault},
		{"a name in another case", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","PermissionDecision":"deny"}}`, fault},
		{"snake case", `{"hook_specific_output":{"permission_decision":"deny"}}`, fault},
		{"output that is text", `{"hookSpecificOutput":"deny"}`, fault},
		{"null output", `{"hookSpecificOutput":null}`, fault},
		{"null reason beside an allow", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":null}}`, fault},
		{"null reason beside a deny", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":null}}`, deny},
		{"context of the wrong type", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":{}}}`, fault},
		{"a rewrite that is no object", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":"rm"}}`, fault},
		{"continue as text", `{"continue":"false"}`, fault},
		{"unknown old decision", `{"decision":"allow"}`, fault},
		{"old decision in wrong case", `{"decision":"Block"}`, fault},
		{"null old decision", `{"decision":null}`, fault},
		{"a name twice", `{"decision":"approve","decision":"approve"}`, fault},

		// a name twice: the stricter reading
		{"deny, then allow", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecision":"allow"}}`, deny},
		{"allow, then deny in one object", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecision":"deny"}}`, deny},
		{"output twice", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"},"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, deny},

		// old shapes
		{"block", `{"decision":"block","reason":"r1"}`, deny},
		{"deny at the top", `{"decision":"deny","reason":"r1"}`, deny},
		{"approve", `{"decision":"approve","reason":"r2"}`, none},
		{"approve beside a deny", `{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r1"}}`, deny},
		{"approve beside an ask", `{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}`, ask},
		{"block beside an allow", `{"decision":"block","reason":"r1","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, deny},
		{"permissionDecision at the top: deny", `{"permissionDecision":"deny","permissionDecisionReason":"r1"}`, deny},
		{"permissionDecision at the top: ask", `{"permissionDecision":"ask"}`, ask},
		{"permissionDecision at the top: allow", `{"permissionDecision":"allow"}`, none},
		{"permissionDecision at the top: other", `{"permissionDecision":"maybe"}`, fault},
		{"stop", `{"continue":false,"stopReason":"r1"}`, deny},
		{"stop beside an allow", `{"continue":false,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, deny},
		{"no event, deny", `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r1"}}`, deny},
		{"block beside another event's output", `{"decision":"block","reason":"r1","hookSpecificOutput":{"hookEventName":"Stop"}}`, deny},
		{"another host's deny", `{"permission":"deny","user_message":"r1"}`, deny},
		{"another host's ask", `{"permission":"ask","user_message":"r1"}`, ask},
		{"another host's allow", `{"permission":"allow"}`, none},
		{"another host's unknown word", `{"permission":"Deny"}`, fault},
		{"another host's rewrite", `{"permission":"allow","updated_input":{"command":"ls"}}`, fault},
		{"a rewrite at the top", `{"updatedInput":{"command":"ls"}}`, fault},
		{"not approved", `{"approve":false,"message":"r1"}`, deny},
		{"approved", `{"approve":true}`, none},
		{"not allowed", `{"allowed":false,"reason":"r1"}`, deny},
		{"blocked", `{"blocked":true,"reason":"r1"}`, deny},
		{"not blocked", `{"blocked":false}`, none},
		{"an action to block", `{"action":"block","message":"r1"}`, deny},
		{"not ok, with a reason", `{"ok":false,"reason":"r1"}`, deny},
		{"not ok", `{"ok":false}`, none},
		{"in a response", `{"response":{"decision":"block","reason":"r1"}}`, deny},
		{"the report of an error", `{"error":"no connection"}`, fault},
		{"no error", `{"error":null,"took":3}`, none},
		{"a permission request's deny", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","decision":{"behavior":"deny","message":"r1"}}}`, deny},

		// plain text
		{"plain text", "checked 3 files, ok\n", plain},
		{"brackets in text", "[INFO] files {a,b} ok\n[WARN] {}", plain},
		{"a word", "deny", plain},
		{"a JSON string", `"deny"`, plain},
		{"a number alone", "0", plain},
		{"null alone", "null", plain},
		{"bad UTF-8", "caf\xe9 ok", plain},
		{"a shell function", "f() {\n  true\n}\n", plain},

		// the event given back
		{"the event", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"decision":"block","permissionDecision":"deny"}}`, none},
		{"the event behind a banner", "got\n" + `{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{"decision":"block"}}`, fault},
		{"a rewrite with our words in it", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"decision":"block","permissionDecision":"deny"}}}`, allow},
		{"our words in a text", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"{\"permissionDecision\":\"deny\"}"}}`, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Parse(Child{Event: "PreToolUse", Stdout: []byte(tt.out)})
			require.Equal(t, tt.want, word(s), "%+v", s)
			if strings.Contains(tt.out, `"r1"`) && tt.want == deny {
				require.Equal(t, "r1", s.Message)
			}
			if tt.want == deny {
				require.NotEmpty(t, s.Message)
				require.Empty(t, s.Fault)
			}
			require.Equal(t, s, Parse(Child{Event: "PreToolUse", Stdout: []byte(tt.out)}))
		})
	}
}

func TestParseExitStatus(t *testing.T) {
	for _, tt := range []struct {
		name, out, err string
		code           int64
		want, message  string
	}{
		{"2 says no", "", "policy 7\n", 2, deny, "policy 7"},
		{"2 without a word", "", "", 2, deny, "Blocked by hook, without a reason."},
		{"2 beside an allow", pre(`"allow"`), "no", 2, deny, "no"},
		{"2 beside a deny", clean, "no", 2, deny, "r1"},
		{"2 beside an ask", pre(`"ask"`), "no", 2, deny, "no"},
		{"2 beside an ask, without a word", pre(`"ask"`), "", 2, deny, "The hook wants a person to decide."},
		{"2 beside garbage", `{"a`, "no", 2, deny, "no"},
		{"1 beside an allow", pre(`"allow"`), "", 1, none, ""},
		{"1 beside a deny", clean, "", 1, deny, "r1"},
		{"1 beside a rewrite", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{}}}`, "", 1, none, ""},
		{"0 and a deny on stderr", "", `{"decision":"block","reason":"r1"}`, 0, deny, "r1"},
		{"0 and a deny in a log on stderr", "", `{"msg":"start"}` + "\n" + clean, 0, none, ""},
		{"0 and an allow on stderr", "", pre(`"allow"`), 0, none, ""},
		{"2 and a deny on stderr", "", clean, 2, deny, "r1"},
		{"1 beside an ask", pre(`"ask"`), "", 1, ask, "The hook wants a person to decide."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Parse(Child{Event: "PreToolUse", Stdout: []byte(tt.out), Stderr: []byte(tt.err), ExitCode: tt.code, Failed: tt.code != 0})
			require.Equal(t, tt.want, word(s))
			require.Equal(t, tt.message, s.Message)
			require.Nil(t, s.UpdatedInput)
		})
	}
}

func TestParseLongOutput(t *testing.T) {
	text := bytes.Repeat([]byte("text\n"), 1000)
	s := Parse(Child{Event: "PreToolUse", Stdout: text, Tail: []byte("text\n" + clean), Dropped: 1})
	require.Equal(t, deny, word(s))
	s = Parse(Child{Event: "PreToolUse", Stdout: text, Tail: text, Dropped: 1})
	require.Empty(t, s.Fault, "there was no brace in what was dropped")
	s = Parse(Child{Event: "PreToolUse", Stdout: text, Tail: text, Dropped: 1, Brace: true})
	require.NotEmpty(t, s.Fault)
	s = Parse(Child{Event: "PreToolUse", Stdout: []byte(pre(`"allow"`)), Tail: text, Dropped: 1})
	require.NotEmpty(t, s.Fault, "an allow is not taken from a part")
	s = Parse(Child{Event: "PreToolUse", Stdout: []byte(`{"a":"`), Tail: []byte(`"}`), Dropped: 1})
	require.NotEmpty(t, s.Fault, "the parts are not put together")
}

// TestSearchIsBounded feeds noise in which every byte could begin a refusal.
func TestSearchIsBounded(t *testing.T) {
	noise := bytes.Repeat([]byte(`{"permissionDecision":"deny",`), 40_000)
	require.Equal(t, fault, word(Parse(Child{Event: "PreToolUse", Stdout: noise})))
	deep := bytes.Repeat([]byte(`{"a":`), 200_000)
	require.Equal(t, deny, word(Parse(Child{Event: "PreToolUse", Stdout: append(deep, clean...)})))
}

func TestParseOtherEvents(t *testing.T) {
	for _, tt := range []struct {
		name, event, out, want, object string
	}{
		{"a prompt dropped", "UserPromptSubmit", `{"decision":"block","reason":"r"}`, deny, `{"decision":"block","reason":"r"}`},
		{"a prompt dropped behind a banner", "UserPromptSubmit", "x\n" + `{"decision":"block","reason":"r"}`, deny, `{"decision":"block","reason":"r"}`},
		{"another host's word", "UserPromptSubmit", `{"decision":"deny","reason":"r"}`, deny, `{"decision":"block","reason":"r"}`},
		{"context", "UserPromptSubmit", `{"x":1,"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`, none,
			`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`},
		{"plain text", "UserPromptSubmit", "remember the milk", plain, ""},
		{"paths to watch", "SessionStart", `{"hookSpecificOutput":{"hookEventName":"SessionStart","watchPaths":["/a"]}}`, none,
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","watchPaths":["/a"]}}`},
		{"feedback", "PostToolUse", `{"decision":"block","reason":"tests fail"}`, deny, `{"decision":"block","reason":"tests fail"}`},
		{"the output replaced", "PostToolUse", `{"suppressOutput":true,"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"a":1}}}`, none,
			`{"suppressOutput":true,"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"a":1}}}`},
		{"go on", "Stop", `{"decision":"block","reason":"run the tests"}`, deny, `{"decision":"block","reason":"run the tests"}`},
		{"the end", "PostToolUse", `{"continue":false,"stopReason":"enough"}`, deny, `{"continue":false,"stopReason":"enough"}`},
		{"nothing to hand on", "PostToolUse", `{"a":1}`, none, ""},
		{"the event given back", "PostToolUse", `{"session_id":"s","hook_event_name":"PostToolUse"}`, none, ""},
		{"a switch of the model", "PreModelSwitch", `{"hookSpecificOutput":{"hookEventName":"PreModelSwitch","permissionDecision":"deny","permissionDecisionReason":"r"}}`, deny,
			`{"hookSpecificOutput":{"hookEventName":"PreModelSwitch","permissionDecision":"deny","permissionDecisionReason":"r"}}`},
		{"a request allowed", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1}}}}`, allow,
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1}}}}`},
		{"a request denied", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"r1"}}}`, deny, ""},
		{"a request denied in the wrong form", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","permissionDecision":"deny"}}`, deny, ""},
		{"a request allowed in the wrong form", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","permissionDecision":"allow"}}`, fault, ""},
		{"a request not approved", "PermissionRequest", `{"approve":false,"message":"r1"}`, deny, ""},
		{"another host's words after the fact", "PostToolUse", `{"blocked":true,"error":"x"}`, none, ""},
		{"a request, unknown behavior", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"Allow"}}}`, fault, ""},
		{"a request, decision as text", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":"allow"}}`, fault, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Parse(Child{Event: tt.event, Stdout: []byte(tt.out)})
			require.Equal(t, tt.want, word(s), "%+v", s)
			require.Equal(t, tt.object, string(s.Object))
		})
	}
}

func TestTextsAreCleaned(t *testing.T) {
	c := Child{Event: "PostToolUse", Clean: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }}
	c.Stdout = []byte(`{"systemMessage":"a secret","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"secret"}}`)
	require.NotContains(t, string(Parse(c).Object), "secret")
	c.Stdout = []byte(`{"decision":"block","reason":"secret"}`)
	require.NotContains(t, string(Parse(c).Object)+Parse(c).Message, "secret")
	c.Stdout = []byte("the secret")
	require.Equal(t, "the ***", Parse(c).Text)
	c.Stderr, c.ExitCode, c.Stdout = []byte("secret"), 2, nil
	require.Equal(t, "***", Parse(c).Message)
}

func TestContext(t *testing.T) {
	require.Equal(t, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a\n\"b\""}}`, string(Context("SessionStart", "a\n\"b\"\n")))
	require.Equal(t, `{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":"/w"}}`, string(Context("WorktreeCreate", "/w\n")))
	require.Nil(t, Context("PostToolUse", "done"))
	require.Nil(t, Context("SessionStart", " \n"))
}

// FuzzParse holds that nothing panics, that the same output reads the same, and
// that a clean deny is not lost in whatever noise that has no quotes of its own.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "{", "}", "[", "{}{", "banner\n", "\x00", "\xef\xbb\xbf", "{{[,:", clean, pre(`"allow"`), `{"a":`, `{"decision":"block","decision":1}`} {
		f.Add([]byte(s), []byte("\n"), int64(0))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, code int64) {
		for _, event := range []string{"PreToolUse", "PermissionRequest", "UserPromptSubmit"} {
			c := Child{Event: event, Stdout: append(append([]byte{}, a...), b...), Tail: b, ExitCode: code, Failed: code != 0}
			one, two := Parse(c), Parse(c)
			require.Equal(t, one, two)
			if one.Decision == Allow {
				require.False(t, c.Failed)
				require.Empty(t, one.Fault)
			}
			if one.Fault != "" {
				require.Equal(t, NoDecision, one.Decision)
				require.Nil(t, one.Object)
			}
		}
		if bytes.ContainsAny(a, `"`) {
			return
		}
		out := append(append(append([]byte{}, a...), clean...), b...)
		require.Equal(t, Deny, Parse(Child{Event: "PreToolUse", Stdout: out}).Decision)
	})
}
