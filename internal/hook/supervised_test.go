//go:build unix

package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/answer"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/schema"
)

// sh is a hook that is a piece of shell.
func sh(mode, script string) Wrapped {
	return Wrapped{Name: "h", Command: []string{"sh", "-c", script}, OnFailure: mode}
}

func supervised(limit time.Duration, hooks ...Wrapped) *Supervised {
	return &Supervised{Hooks: hooks, Deadline: time.Now().Add(limit), Now: time.Now}
}

const (
	denyJSON  = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"policy 7"}}'`
	allowJSON = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`
	askJSON   = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}'`
	longDeny  = `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"'; yes 'no { no' | head -c 3000000 | tr '\n' ' '; echo '"}}'`
)

// TestSupervised holds the contract's table at PreToolUse: what is answered and
// recorded for each way in which a hook can end. The words are spelled out.
func TestSupervised(t *testing.T) {
	gone := Wrapped{Name: "h", Command: []string{"/nope/guard"}, OnFailure: "block"}
	goneOpen := gone
	goneOpen.OnFailure = "continue"
	for _, tt := range []struct {
		name     string
		hook     Wrapped
		answer   string // deny, ask, allow or none
		decision string
		reason   string
		branch   string
		code     int64
		message  string
	}{
		{"works", sh("block", "exit 0"), "none", "allowed", "hook_ok", "allow", 0, ""},
		{"plain text", sh("block", "echo fine"), "none", "allowed", "hook_ok", "allow", 0, ""},
		{"exit 1", sh("block", "echo why >&2; exit 1"), "deny", "blocked", "hook_callback_failed", "block", 1, "exit status 1"},
		{"exit 2", sh("block", "echo why >&2; exit 2"), "deny", "blocked", "hook_callback_failed", "block", 2, "why"},
		{"exit 3 beside an allow", sh("block", allowJSON+"; exit 3"), "deny", "blocked", "hook_callback_failed", "block", 3, "exit status 3"},
		{"exit 1 beside a deny", sh("block", denyJSON+"; exit 1"), "deny", "blocked", "hook_callback_failed", "block", 1, "policy 7"},
		{"a signal", sh("block", "kill -9 $$"), "deny", "blocked", "hook_callback_failed", "block", 137, "signal"},
		{"cannot start", gone, "deny", "blocked", "hook_callback_failed", "block", 127, "could not be started"},
		{"denies", sh("block", denyJSON), "deny", "blocked", "hook_denied", "allow", 0, "policy 7"},
		{"denies behind a banner", sh("block", "echo hi; "+denyJSON), "deny", "blocked", "hook_denied", "allow", 0, "policy 7"},
		{"asks", sh("block", askJSON), "ask", "asked", "hook_asked", "allow", 0, "sure?"},
		{"allows", sh("block", allowJSON), "allow", "allowed", "hook_allowed", "allow", 0, ""},
		{"two objects", sh("block", "echo '{}{}'"), "deny", "blocked", "hook_answer_invalid", "schema", 0, "unusable answer"},
		{"an allow behind a banner", sh("block", "echo hi; "+allowJSON), "deny", "blocked", "hook_answer_invalid", "schema", 0, "unusable answer"},

		{"continue: works", sh("continue", "exit 0"), "none", "allowed", "hook_ok", "not_block_mode", 0, ""},
		{"continue: exit 1", sh("continue", "exit 1"), "none", "allowed", "hook_failed_open", "not_block_mode", 1, "exit status 1"},
		{"continue: exit 2", sh("continue", "echo why >&2; exit 2"), "deny", "blocked", "hook_denied", "not_block_mode", 2, "why"},
		{"continue: exit 1 beside a deny", sh("continue", denyJSON+"; exit 1"), "deny", "blocked", "hook_denied", "not_block_mode", 1, "policy 7"},
		{"continue: exit 1 beside an allow", sh("continue", allowJSON+"; exit 1"), "none", "allowed", "hook_failed_open", "not_block_mode", 1, ""},
		{"continue: exit 1 beside an ask", sh("continue", askJSON+"; exit 1"), "ask", "asked", "hook_asked", "not_block_mode", 1, "sure?"},
		{"continue: exit 2 beside an ask", sh("continue", askJSON+"; exit 2"), "deny", "blocked", "hook_denied", "not_block_mode", 2, "sure?"},
		{"continue: exit 2 beside an allow", sh("continue", allowJSON+"; echo why >&2; exit 2"), "deny", "blocked", "hook_denied", "not_block_mode", 2, "why"},
		{"continue: a deny of 3 MB", sh("continue", longDeny), "deny", "blocked", "hook_denied", "not_block_mode", 0, "no { no"},
		{"a deny of 3 MB", sh("block", longDeny), "deny", "blocked", "hook_denied", "allow", 0, "no { no"},
		{"continue: denies", sh("continue", denyJSON), "deny", "blocked", "hook_denied", "not_block_mode", 0, "policy 7"},
		{"continue: denies behind a banner", sh("continue", "echo hi; "+denyJSON), "deny", "blocked", "hook_denied", "not_block_mode", 0, "policy 7"},
		{"continue: asks", sh("continue", askJSON), "ask", "asked", "hook_asked", "not_block_mode", 0, "sure?"},
		{"continue: cut", sh("continue", `printf '{"decision":"bl'`), "none", "allowed", "hook_failed_open", "not_block_mode", 0, "unusable answer"},
		{"continue: cannot start", goneOpen, "none", "allowed", "hook_failed_open", "not_block_mode", 127, "could not be started"},

		{"a wrong mode", sh("Block", "exit 0"), "deny", "blocked", "schema_invalid", "schema", 0, "onFailure"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log recorder
			reply := flow(&log, supervised(20*time.Second, tt.hook)).Run(context.Background(), strings.NewReader(pre))
			require.Len(t, log.invocations(), 1)
			e := log.events[0]
			require.Equal(t, tt.decision, string(e.Decision))
			require.Equal(t, tt.reason, string(e.Reason))
			require.Equal(t, tt.branch, e.Gate)
			require.Equal(t, "h", e.HookName)
			require.Equal(t, tt.hook.OnFailure, e.OnFailure)
			require.Equal(t, tt.code, *e.ExitCode)
			require.False(t, *e.TimedOut)
			require.Contains(t, e.Message, tt.message)
			require.Equal(t, tt.answer, spoken(t, reply))
			require.Equal(t, tt.answer == "deny", reply.Blocked)
		})
	}
}

// spoken is the decision in a reply, which must be sound.
func spoken(t *testing.T, r answer.Reply) string {
	t.Helper()
	if len(r.Stdout) == 0 {
		return "none"
	}
	v, err := event.Decode(r.Stdout, 64)
	require.NoError(t, err, string(r.Stdout))
	require.Empty(t, schema.Validate("answer", v), string(r.Stdout))
	out, _ := v.(map[string]any)["hookSpecificOutput"].(map[string]any)
	if word, ok := out["permissionDecision"].(string); ok {
		return word
	}
	return "none"
}

// TestALargeEventGivenBack: hooks that pass their input through must not block
// every large Write, and one that cuts it short is unusable.
func TestALargeEventGivenBack(t *testing.T) {
	big := strings.Replace(pre, `"ls"`, `"`+strings.Repeat("y", 9<<20)+`"`, 1)
	for script, want := range map[string]string{"cat": "hook_ok", "head -c 65536; cat >/dev/null": "hook_answer_invalid"} {
		var log recorder
		flow(&log, supervised(20*time.Second, sh("block", script))).Run(context.Background(), strings.NewReader(big))
		require.Equal(t, want, string(log.invocations()[0].Reason), script)
	}
	require.Equal(t, 8<<20, room(100))
	require.Equal(t, 16<<20, room(64<<20))
}

func TestALateHook(t *testing.T) {
	for mode, want := range map[string]string{"block": "hook_callback_failed timeout_block blocked", "continue": "hook_failed_open not_block_mode allowed"} {
		var log recorder
		reply := flow(&log, supervised(200*time.Millisecond, sh(mode, `trap 'exit 0' TERM; sleep 30 & wait`))).Run(context.Background(), strings.NewReader(pre))
		e := log.events[0]
		require.Equal(t, want, fmt.Sprintf("%s %s %s", e.Reason, e.Gate, e.Decision))
		require.True(t, *e.TimedOut)
		require.Equal(t, int64(0), *e.ExitCode)
		require.Equal(t, mode == "block", reply.Blocked)
		require.Contains(t, e.Message, "did not end within")
	}
}

func TestAHostThatGivesUp(t *testing.T) {
	interrupt := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() { close(interrupt) })
	s := supervised(30*time.Second, sh("block", `trap '' TERM; sleep 30`))
	s.Interrupt = interrupt
	var log recorder
	start := time.Now()
	reply := flow(&log, s).Run(context.Background(), strings.NewReader(pre))
	require.Less(t, time.Since(start), 1400*time.Millisecond, "the host sends KILL 1.5 s after TERM")
	require.True(t, reply.Blocked)
	require.Equal(t, "timeout_block", log.events[0].Gate)
	require.Contains(t, log.events[0].Message, "host gave up")
}

// TestOnlyTheInterruptHurriesAHook: the flow's own time is over a little after
// the hook's, and must not be taken for a host that gives up.
func TestOnlyTheInterruptHurriesAHook(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	j := supervised(20*time.Second, sh("block", "exit 0")).Judge(ctx, &event.Event{Name: "PreToolUse", Raw: []byte(pre)}, nil)
	require.False(t, j.Callback.TimedOut)
}

// TestAReplyGoesOnlyOutWithItsVerdict: what the gate has changed must not be
// answered in the hook's own words.
func TestAReplyGoesOnlyOutWithItsVerdict(t *testing.T) {
	var log recorder
	j := Judgement{Reply: &answer.Reply{Stdout: []byte(`{"systemMessage":"fine"}`)}, Stops: true,
		Verdict:  answer.Verdict{Decision: answer.NoDecision, Code: "hook_ok"},
		Callback: gate.Result{HookName: "h", OnFailure: "block", ExitCode: 1}}
	judge := judgeFunc(func(context.Context, *event.Event) Judgement { return j })
	reply := flow(&log, judge).Run(context.Background(), strings.NewReader(ev("UserPromptSubmit")))
	require.True(t, reply.Blocked)
	require.Empty(t, reply.Stdout)

	j.Callback.ExitCode = 0
	reply = flow(&log, judge).Run(context.Background(), strings.NewReader(ev("UserPromptSubmit")))
	require.Equal(t, `{"systemMessage":"fine"}`, string(reply.Stdout))
	log.err = os.ErrPermission
	require.True(t, flow(&log, judge).Run(context.Background(), strings.NewReader(ev("UserPromptSubmit"))).Blocked)
}

// TestOtherEvents holds that a failure never blocks where a block
// would loop or mean nothing, and that a hook's own words go on there.
func TestOtherEvents(t *testing.T) {
	for _, tt := range []struct {
		name, event, script string
		mode                string
		stdout              string
		blocked             bool
		want                string // reason, branch, decision
	}{
		{"Stop fails", "Stop", "exit 1", "block", "", false, "hook_failed_open not_block_mode allowed"},
		{"Stop says 2", "Stop", "echo go on >&2; exit 2", "block", "", false, "hook_failed_open not_block_mode allowed"},
		{"Stop says 2, continue", "Stop", "echo go on >&2; exit 2", "continue", "", false, "hook_failed_open not_block_mode allowed"},
		{"Stop fails beside a block", "Stop", `echo '{"decision":"block","reason":"r"}'; exit 1`, "block", "", false, "hook_failed_open not_block_mode allowed"},
		{"Stop works and wants more", "Stop", `echo '{"decision":"block","reason":"run the tests"}'`, "block", `{"decision":"block","reason":"run the tests"}`, false, "hook_denied not_block_mode none"},
		{"Stop, unusable", "Stop", `echo '{}{}'`, "block", "", false, "hook_failed_open not_block_mode allowed"},
		{"PostToolBatch says 2", "PostToolBatch", "exit 2", "block", "", false, "hook_failed_open not_block_mode allowed"},
		{"PostToolUse fails", "PostToolUse", "exit 1", "block", "", false, "hook_failed_open not_block_mode allowed"},
		{"PostToolUse says 2", "PostToolUse", "echo fix it >&2; exit 2", "block", "", true, "hook_denied not_block_mode none"},
		{"SessionStart fails", "SessionStart", "exit 1", "block", "", false, "hook_failed_open not_block_mode allowed"},
		{"SessionStart prints", "SessionStart", "echo hello", "block", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"hello"}}`, false, "hook_ok not_block_mode allowed"},
		{"a prompt's hook prints", "UserPromptSubmit", "echo hello", "block", `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"hello"}}`, false, "hook_ok allow allowed"},
		{"a prompt's hook fails", "UserPromptSubmit", "exit 1", "block", "", true, "hook_callback_failed block blocked"},
		{"a prompt's hook fails, continue", "UserPromptSubmit", "echo hello; exit 1", "continue", "", false, "hook_failed_open not_block_mode allowed"},
		{"a prompt's hook says 2", "UserPromptSubmit", "echo no >&2; exit 2", "continue", "", true, "hook_denied not_block_mode blocked"},
		{"a prompt's hook refuses", "UserPromptSubmit", `echo '{"decision":"block","reason":"r"}'`, "block", `{"decision":"block","reason":"r"}`, false, "hook_denied allow blocked"},
		{"the prompt given back", "UserPromptSubmit", `cat`, "block", "", false, "hook_ok allow allowed"},
		{"a request's hook fails", "PermissionRequest", "exit 3", "block", "deny", false, "hook_callback_failed block blocked"},
		{"a request's hook says 2", "PermissionRequest", "echo no >&2; exit 2", "continue", "deny", false, "hook_denied not_block_mode blocked"},
		{"a request's hook fails, continue", "PermissionRequest", "exit 3", "continue", "", false, "hook_failed_open not_block_mode allowed"},
		{"a request is allowed", "PermissionRequest", `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`, "block",
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, false, "hook_allowed allow allowed"},
		{"a new event fails", "WorktreeMerged", "exit 1", "block", "deny", true, "hook_callback_failed block blocked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log recorder
			in := `{"session_id":"s","hook_event_name":"` + tt.event + `","tool_name":"Bash","tool_input":{},"prompt":"p"}`
			reply := flow(&log, supervised(20*time.Second, sh(tt.mode, tt.script))).Run(context.Background(), strings.NewReader(in))
			e := log.events[0]
			require.Equal(t, tt.want, fmt.Sprintf("%s %s %s", e.Reason, e.Gate, e.Decision), e.Message)
			require.Equal(t, tt.blocked, reply.Blocked)
			if tt.stdout == "deny" {
				require.Contains(t, string(reply.Stdout), `deny`)
			} else {
				require.Equal(t, tt.stdout, string(reply.Stdout))
			}
		})
	}
}

// TestAnInterruptIsPassedOn: it ends the run, so a denial without it is weaker
// than what the hook has said. Of several hooks, one is enough.
func TestAnInterruptIsPassedOn(t *testing.T) {
	const in = `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{}}`
	denies := func(more string) Wrapped {
		return sh("block", `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"`+more+`}}}'`)
	}
	for _, tt := range []struct {
		name  string
		hooks []Wrapped
		want  bool
	}{
		{"true", []Wrapped{denies(`,"interrupt":true`)}, true},
		{"false", []Wrapped{denies(`,"interrupt":false`)}, false},
		{"not said", []Wrapped{denies("")}, false},
		{"not a boolean", []Wrapped{denies(`,"interrupt":"true"`)}, false},
		{"the second of two", []Wrapped{denies(""), denies(`,"interrupt":true`)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log recorder
			reply := flow(&log, supervised(20*time.Second, tt.hooks...)).Run(context.Background(), strings.NewReader(in))
			require.Contains(t, string(reply.Stdout), `"decision":{"behavior":"deny","message":"no [hooktrail event `)
			require.Equal(t, tt.want, strings.Contains(string(reply.Stdout), `"interrupt":true`), string(reply.Stdout))
		})
	}
}

func TestNobodyIsAsked(t *testing.T) {
	in := strings.Replace(pre, `{"session_id"`, `{"permission_mode":"dontAsk","session_id"`, 1)
	var log recorder
	s := supervised(20*time.Second, sh("block", askJSON))
	reply := flow(&log, s).Run(context.Background(), strings.NewReader(in))
	require.Equal(t, "deny", spoken(t, reply))
	require.Equal(t, "hook_asked", string(log.events[0].Reason))
	s.MayAsk = true
	require.Equal(t, "ask", spoken(t, flow(&log, s).Run(context.Background(), strings.NewReader(in))))
}

func TestSeveralHooks(t *testing.T) {
	const ok, deny, ask, allow = "exit 0", "sleep 0.05; " + denyJSON, askJSON, allowJSON
	context1 := `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"one"}}'`
	rewrite := func(s string) string {
		return `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"` + s + `"}}}'`
	}
	for _, tt := range []struct {
		name    string
		mode    string
		scripts []string
		answer  string
		first   string // the reason of the event whose answer counts
	}{
		{"deny over ask over allow", "block", []string{allow, ask, deny}, "deny", "hook_denied"},
		{"ask over allow", "block", []string{allow, ok, ask}, "ask", "hook_asked"},
		{"allow beside nothing", "block", []string{ok, allow}, "allow", "hook_allowed"},
		{"a failure over all", "block", []string{allow, "exit 1", ask}, "deny", "hook_callback_failed"},
		{"a failure that may be", "continue", []string{"exit 1", ask}, "ask", "hook_asked"},
		{"an unusable answer", "block", []string{ok, "echo '{}{}'"}, "deny", "hook_answer_invalid"},
		{"two rewrites", "block", []string{rewrite("a"), rewrite("b")}, "deny", "hook_answer_invalid"},
		{"one rewrite twice", "block", []string{rewrite("a"), rewrite("a")}, "allow", "hook_allowed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var hooks []Wrapped
			for i, s := range tt.scripts {
				w := sh(tt.mode, s)
				w.Name = fmt.Sprint("h", i)
				hooks = append(hooks, w)
			}
			var log recorder
			reply := flow(&log, supervised(20*time.Second, hooks...)).Run(context.Background(), strings.NewReader(pre))
			require.Equal(t, tt.answer, spoken(t, reply))
			require.Len(t, log.invocations(), len(hooks))
			require.Equal(t, tt.first, string(log.events[0].Reason))
			names := map[string]bool{}
			for _, e := range log.events {
				names[e.HookName] = true
			}
			require.Len(t, names, len(hooks))
		})
	}

	var log recorder
	s := supervised(20*time.Second, sh("block", context1), sh("block", strings.Replace(context1, "one", "two", 1)), sh("block", ask))
	reply := flow(&log, s).Run(context.Background(), strings.NewReader(pre))
	require.Contains(t, string(reply.Stdout), `"additionalContext":"one\ntwo"`)
	require.Equal(t, "ask", spoken(t, reply))

	s = supervised(20*time.Second, sh("block", "echo one"), sh("block", "echo two"))
	reply = flow(&log, s).Run(context.Background(), strings.NewReader(ev("SessionStart")))
	require.Equal(t, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"one\ntwo"}}`, string(reply.Stdout))
}

// TestTheHookGetsTheBytesOfTheHost also holds that no hook runs on an event that
// the schema does not admit.
func TestTheHookGetsTheBytesOfTheHost(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "in")
	var log recorder
	in := "\xef\xbb\xbf" + strings.Replace(pre, `"tool_name"`, "\t\"new\" : [1,  2.50],\r\n\"tool_name\"", 1) + "\n"
	reply := flow(&log, supervised(20*time.Second, sh("block", "cat >"+kept))).Run(context.Background(), strings.NewReader(in))
	require.False(t, reply.Blocked)
	b, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, in, string(b))

	require.NoError(t, os.Remove(kept))
	reply = flow(&log, supervised(20*time.Second, sh("continue", "cat >"+kept))).Run(context.Background(), strings.NewReader(`{"session_id":"s"}`))
	require.True(t, reply.Blocked)
	require.NoFileExists(t, kept)
}

func TestAnUnusableCommandLineDenies(t *testing.T) {
	for _, s := range []*Supervised{{Now: time.Now}, {Now: time.Now, Fault: gateError{}}} {
		var log recorder
		reply := flow(&log, s).Run(context.Background(), strings.NewReader(pre))
		require.True(t, reply.Blocked)
		require.Equal(t, "config_invalid", string(log.events[0].Reason))
	}
	var log recorder
	reply := flow(&log, &Supervised{Now: time.Now}).Run(context.Background(), strings.NewReader(ev("Stop")))
	require.False(t, reply.Blocked)
}

type gateError struct{}

func (gateError) Error() string { return "flag provided but not defined: -x" }

// TestAPanicBlocks plants a clock that panics in one hook's run.
func TestAPanicBlocks(t *testing.T) {
	s := supervised(20*time.Second, sh(gate.OnFailureContinue, "exit 0"))
	s.Now = func() time.Time { panic("no clock") }
	var log recorder
	reply := flow(&log, s).Run(context.Background(), strings.NewReader(pre))
	require.True(t, reply.Blocked)
	require.Equal(t, "hook_callback_failed", string(log.events[0].Reason))

	log = recorder{}
	reply = flow(&log, s).Run(context.Background(), strings.NewReader(ev("Stop")))
	require.False(t, reply.Blocked)
	require.Contains(t, log.events[0].Message, "no clock")
	require.NotContains(t, log.events[0].Message, "was stopped")
}

// TestARewriteTooManyLosesNoQuestion: of two rewrites only one can be carried out,
// but in continue mode the other hook's question must not go with its rewrite.
func TestARewriteTooManyLosesNoQuestion(t *testing.T) {
	rewrite := func(word, to string) string {
		return `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + word + `"updatedInput":{"command":"` + to + `"}}}'`
	}
	first, second := sh("continue", rewrite("", "a")), sh("continue", rewrite(`"permissionDecision":"ask","permissionDecisionReason":"sure?",`, "b"))
	var log recorder
	reply := flow(&log, supervised(20*time.Second, first, second)).Run(context.Background(), strings.NewReader(pre))
	require.Equal(t, "ask", spoken(t, reply))
	require.Contains(t, string(reply.Stdout), `"updatedInput":{"command":"a"}`)
}
