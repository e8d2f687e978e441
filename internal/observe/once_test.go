package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/reason"
)

const fixtureSession = "00000000-0000-4000-8000-000000000001"

func fixedNow() time.Time { return time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC) }

func hookEvent(t *testing.T, name, transcript string, more map[string]any) *event.Event {
	t.Helper()
	m := map[string]any{"session_id": fixtureSession, "transcript_path": transcript, "hook_event_name": name}
	for k, v := range more {
		m[k] = v
	}
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	e, err := event.Parse(raw, event.Limits{})
	require.NoError(t, err)
	return &e
}

func readSource(t *testing.T, path string) []*audit.Event {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // only read
	src, err := Read(f, path, Lookup{}, fixedNow())
	require.NoError(t, err)
	return src.Events
}

// throughHooks plays a session: the batch's payload while the transcript lags,
// then the transcript in two parts, cut in the middle of a line.
func throughHooks(t *testing.T, transcript, batch string) []*audit.Event {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	whole, err := os.ReadFile(transcript)
	require.NoError(t, err)
	ob := New(Options{StateDir: filepath.Join(dir, "state"), Now: fixedNow, Budget: 5 * time.Second})
	var all []*audit.Event
	step := func(n int, name string, more map[string]any) {
		require.NoError(t, os.WriteFile(path, whole[:n], 0o600))
		events, commit := ob.Observe(t.Context(), hookEvent(t, name, path, more))
		require.NoError(t, commit())
		all = append(all, events...)
	}
	step(len(whole)/2, "UserPromptSubmit", nil)
	if batch != "" {
		raw, err := os.ReadFile("testdata/payload/" + batch)
		require.NoError(t, err)
		var m map[string]any
		require.NoError(t, json.Unmarshal(raw, &m))
		step(len(whole)/2, "PostToolBatch", map[string]any{"tool_calls": m["tool_calls"]})
	}
	step(len(whole)*3/4, "Stop", nil)
	step(len(whole), "SessionEnd", nil)
	step(len(whole), "SessionEnd", nil)
	return all
}

// TestAForkedSessionIsToldOnce: a session that is forked copies the records under
// another id. The same call at another time is another fact.
func TestAForkedSessionIsToldOnce(t *testing.T) {
	fact := func(session string, at time.Time) []*audit.Event {
		return []*audit.Event{{Kind: audit.Callback, SessionID: session, ToolUseID: "toolu_1", HookEvent: "PreToolUse", HookName: "/guard.sh",
			Decision: reason.Allowed, Reason: reason.HookFailedOpen, Layer: reason.LayerFailure, Time: at}}
	}
	var l Ledger
	require.Len(t, l.New(fact("a", fixedNow())), 1)
	require.Empty(t, l.New(fact("a", fixedNow())))
	require.Empty(t, l.New(fact("b", fixedNow())))
	require.Len(t, l.New(fact("b", fixedNow().Add(time.Second))), 1)
}

// TestABatchSpeaksWhereNoTranscriptDoes: the sentence of a call that nobody
// allowed does not say why it was asked about. It is left to the transcript, and
// counts where there is none.
func TestABatchSpeaksWhereNoTranscriptDoes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	batch := map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": map[string]any{"command": "ls"},
		"tool_response": "Claude requested permissions to use Bash, but you haven't granted it yet."}}}
	for _, tt := range []struct {
		name string
		off  bool
		path string
		want int
	}{
		{"a transcript", false, path, 0}, {"no transcript wanted", true, path, 1}, {"no transcript named", false, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ob := New(Options{StateDir: filepath.Join(t.TempDir(), "state"), Now: fixedNow, Budget: 5 * time.Second, NoTranscript: tt.off})
			events, commit := ob.Observe(t.Context(), hookEvent(t, "PostToolBatch", tt.path, batch))
			require.NoError(t, commit())
			require.Len(t, events, tt.want)
			for _, e := range events {
				require.Equal(t, "permission permission denied permission_unattended <batch:text>", story(e))
			}
		})
	}
}

func short(events []*audit.Event) []string {
	var out []string
	for _, e := range events {
		c, _ := classOf(e)
		out = append(out, fmt.Sprintf("%s %s %s", c.toolUse, c.kind, c.outcome))
	}
	slices.Sort(out)
	return out
}

// TestOneSessionFourWays reads the same session through hooks, transcript,
// stream-json and OpenTelemetry, each first in its turn: the facts are the same,
// once each.
func TestOneSessionFourWays(t *testing.T) {
	for _, tt := range []struct {
		transcript, stream, otel, batch string
		why                             string
		want                            []string
	}{
		{"session/b_byp_exit1", "b_byp_exit1", "o_b_byp_exit1", "", "hook_failed_open", []string{"toolu_fixture_0001 callback open"}},
		{"session/c_block_timeout", "c_block_timeout", "o_c_block_timeout", "PostToolBatch.onfailure_block_timeout.json", "hook_callback_failed", []string{"toolu_fixture_0001 callback blocked"}},
		{"c_block_exit1", "c_block_exit1", "o_c_block_exit1", "PostToolBatch.onfailure_block_exit1.json", "hook_callback_failed", []string{"toolu_fixture_0001 callback blocked"}},
		{"b_byp_exit2", "b_byp_exit2", "o_e_hookexit2", "PostToolBatch.hook_exit2.json", "hook_denied_plain", []string{"toolu_fixture_0001 callback blocked"}},
		{"e_denyrule", "e_denyrule", "o_e_denyrule", "PostToolBatch.deny_rule.json", "permission_rule", []string{"toolu_fixture_0001 permission denied"}},
		{"e_dontask", "e_dontask", "o_e_dontask", "PostToolBatch.dontask.json", "permission_mode", []string{"toolu_fixture_0001 permission denied"}},
		{"e_auto_block", "e_auto_block", "o_e_auto_block", "", "permission_classifier", []string{"toolu_fixture_0001 permission denied"}},
		{"e_default", "e_default", "o_e_default", "PostToolBatch.permission_denied.json", "permission_unattended", []string{"toolu_fixture_0001 permission denied"}},
		{"e_permreq_deny", "e_permreq_deny", "o_e_permreq_deny", "PostToolBatch.permission_request_hook_deny.json", "permission_hook", []string{"toolu_fixture_0001 permission denied"}},
	} {
		t.Run(tt.stream, func(t *testing.T) {
			transcript := "testdata/transcript/" + tt.transcript + ".jsonl"
			sources := [][]*audit.Event{
				throughHooks(t, transcript, tt.batch),
				readSource(t, transcript),
				readSource(t, "testdata/stream/"+tt.stream+".jsonl"),
				readSource(t, "testdata/otel/"+tt.otel+".jsonl"),
			}
			for i := range 3 { // the last, OpenTelemetry, does not tell why
				require.Equal(t, tt.why, string(sources[i][0].Reason), "source %d", i)
			}
			for first := range sources {
				require.Equal(t, tt.want, short(sources[first]), "source %d alone", first)
				var l Ledger
				var all []*audit.Event
				for i := range sources {
					all = append(all, l.New(sources[(first+i)%len(sources)])...)
				}
				require.Equal(t, tt.want, short(all), "source %d first", first)
			}
		})
	}
}

// TestParallelHooksRecordAFactOnce lets many hooks of one session observe the
// same transcript at the same time.
func TestParallelHooksRecordAFactOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	b, err := os.ReadFile("testdata/transcript/session/b_byp_exit1.jsonl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	ob := New(Options{StateDir: filepath.Join(dir, "state"), Now: fixedNow, Budget: 10 * time.Second})
	stop := hookEvent(t, "Stop", path, nil)
	var mu sync.Mutex
	var all []*audit.Event
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			events, commit := ob.Observe(t.Context(), stop)
			mu.Lock()
			all = append(all, events...)
			mu.Unlock()
			if commit() != nil {
				t.Error("commit failed")
			}
		})
	}
	wg.Wait()
	require.Len(t, all, 1)
}

// TestWithoutCommitTheSameEventsComeAgain with the same ids.
func TestWithoutCommitTheSameEventsComeAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	b, err := os.ReadFile("testdata/transcript/b_byp_exit1.jsonl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	ob := New(Options{StateDir: filepath.Join(dir, "state"), Now: fixedNow, Budget: 10 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	first, _ := ob.Observe(ctx, hookEvent(t, "Stop", path, nil))
	cancel()
	again, commit := ob.Observe(t.Context(), hookEvent(t, "Stop", path, nil))
	require.NoError(t, commit())
	require.Len(t, first, 1)
	require.Equal(t, first, again)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, first[0].EventID)

	// The file is written anew: what is on record is not recorded again.
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, append([]byte(`{"type":"mode","sessionId":"`+fixtureSession+`"}`+"\n"), b...), 0o600))
	events, commit := ob.Observe(t.Context(), hookEvent(t, "Stop", path, nil))
	require.NoError(t, commit())
	require.Empty(t, events)
}

// TestOutputIsNotTheHostsWord: a call that ran may print what it likes.
func TestOutputIsNotTheHostsWord(t *testing.T) {
	dir := t.TempDir()
	log, err := audit.New(audit.Options{Path: filepath.Join(dir, "audit.jsonl"), Now: time.Now})
	require.NoError(t, err)
	require.NoError(t, log.Record(t.Context(), &audit.Event{
		Kind: audit.Invocation, SessionID: fixtureSession, HookEvent: "PostToolUse", ToolUseID: "toolu_1",
		Layer: "none", Decision: "none", Reason: "observed",
	}))
	batch := hookEvent(t, "PostToolBatch", "/none.jsonl", map[string]any{"tool_calls": []any{
		map[string]any{"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_response": "PreToolUse:Bash hook error: forged"},
		map[string]any{"tool_name": "Bash", "tool_use_id": "toolu_2", "tool_response": "PreToolUse:Bash hook error: real"},
	}})
	ob := New(Options{StateDir: filepath.Join(dir, "s"), LogPath: log.Path(), Now: fixedNow, Budget: 10 * time.Second})
	events, commit := ob.Observe(t.Context(), batch)
	require.NoError(t, commit())
	require.Len(t, events, 1)
	require.Equal(t, "toolu_2", events[0].ToolUseID)
}

// TestOddTranscripts: whatever stands at the path, the observation ends, and an
// unknown shape is one event.
func TestOddTranscripts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		make  func(t *testing.T, path string)
		count int
	}{
		{"not there", func(*testing.T, string) {}, 0},
		{"a directory", func(t *testing.T, p string) { require.NoError(t, os.Mkdir(p, 0o700)) }, 1},
		{"a link", func(t *testing.T, p string) { require.NoError(t, os.Symlink("/etc/passwd", p)) }, 1},
		{"a pipe", mkfifo, 1},
		{"no JSON", func(t *testing.T, p string) {
			require.NoError(t, os.WriteFile(p, bytes.Repeat([]byte("nothing of ours\n"), 9), 0o600))
		}, 1},
		{"other kinds", func(t *testing.T, p string) {
			require.NoError(t, os.WriteFile(p, []byte(`{"type":"from-the-future"}`+"\n"), 0o600))
		}, 1},
		{"a line without end", func(t *testing.T, p string) {
			require.NoError(t, os.WriteFile(p, []byte(strings.Repeat("x", 3<<20)), 0o600))
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "s.jsonl")
			tt.make(t, path)
			ob := New(Options{StateDir: filepath.Join(dir, "state"), Now: fixedNow, MaxBytes: 1 << 20, Budget: 10 * time.Second})
			var all []*audit.Event
			for range 3 {
				events, commit := ob.Observe(t.Context(), hookEvent(t, "Stop", path, nil))
				require.NoError(t, commit())
				all = append(all, events...)
			}
			require.Len(t, all, tt.count)
			for _, e := range all {
				require.Equal(t, audit.LogKind, e.Kind)
			}
		})
	}
}

// TestAFaultOfTheObservationIsNoneOfTheHook: it is one event of the log, and the
// place is free for whoever reads next.
func TestAFaultOfTheObservationIsNoneOfTheHook(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	b, err := os.ReadFile("testdata/transcript/session/b_byp_exit1.jsonl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	o := Options{StateDir: filepath.Join(dir, "state"), Now: fixedNow, Budget: 10 * time.Second}
	o.Lookup.OnFailure = func(string, string, string) (string, bool) { panic("planted") }
	events, commit := New(o).Observe(t.Context(), hookEvent(t, "Stop", path, nil))
	require.NoError(t, commit())
	require.Len(t, events, 1)
	require.Equal(t, audit.LogKind, events[0].Kind)
	require.Contains(t, events[0].Message, "planted")

	o.Lookup = Lookup{}
	events, commit = New(o).Observe(t.Context(), hookEvent(t, "Stop", path, nil))
	require.NoError(t, commit())
	require.Len(t, events, 1)
	require.Equal(t, audit.Callback, events[0].Kind, "nothing is lost for it")
}

// TestALostDenyIsFound: a deny that the host took for plain text.
func TestALostDenyIsFound(t *testing.T) {
	deny := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	for _, tt := range []struct {
		name, stdout string
		want         said
	}{
		{"behind a banner", "checking ...\n" + deny, saidDeny},
		{"before a banner", deny + "\ndone", saidDeny},
		{"cut off", `{"hookSpecificOutput":{"permissionDecision": "deny", "perm`, saidDeny},
		{"in a list", "[" + deny + "]", saidDeny},
		{"in the old form", `log {"decision": "block"}`, saidDeny},
		{"an ask", `hi {"hookSpecificOutput":{"permissionDecision":"ask"}}`, saidAsk},
		{"a brace in text", "set {x} to {y}", saidNothing},
		{"plain text", "all is well", saidNothing},
		{"heard", deny, saidNothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, lost := readAnswer(tt.stdout)
			require.Equal(t, tt.want, lost)
		})
	}
	e := Lookup{}.callback(stamp{}, attachment{
		Type: "hook_success", HookName: "PreToolUse:Bash", HookEvent: "PreToolUse", ToolUseID: "toolu_1",
		Stdout: "checking ...\n" + deny, ExitCode: ptr(int64(0)), Command: "guard.sh",
	}, "transcript")
	require.Equal(t, "callback PreToolUse failure allowed hook_failed_open not_block_mode exit=0 <transcript:hook_success>", story(e))
	require.Contains(t, e.Message, "took its deny for plain text")
}

// TestAnAnswerThroughTheHostIsAPersons: a host that asks through a channel of its
// own shows no person at the client, and yet there was an answer.
func TestAnAnswerThroughTheHostIsAPersons(t *testing.T) {
	for code, want := range map[string]string{
		"permissionPromptTool": "permission_user", "rule:flagSettings": "permission_unattended_rule", "mode:default": "permission_unattended",
	} {
		f := denial{kind: "user-rejected", reasonCode: code}.judge(nil)
		require.Equal(t, want, string(f.code), code)
	}
}

// TestEventsOfOneRecordHaveTheirOwnIDs: one line may hold several results.
func TestEventsOfOneRecordHaveTheirOwnIDs(t *testing.T) {
	r := &transcriptReader{}
	events := r.line([]byte(`{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-11-30T08:00:00Z","toolDenialKind":"user-rejected","message":{"content":[` +
		`{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"no"},{"type":"tool_result","tool_use_id":"b","is_error":true,"content":"no"}]}}`))
	require.Len(t, events, 2)
	require.NotEqual(t, events[0].EventID, events[1].EventID)
}

func FuzzLines(f *testing.F) {
	names, _ := filepath.Glob("testdata/transcript/*.jsonl")
	for _, n := range names {
		b, _ := os.ReadFile(n)
		for line := range bytes.SplitSeq(b, []byte("\n")) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := &transcriptReader{}
		events := tr.line(b)
		st := &streamReader{}
		st.line(b)
		ot := &otelReader{}
		ot.line(b)
		ot.end()
		for _, e := range append(append(events, st.out...), ot.out...) {
			if e.Reason.Layer() != e.Layer || e.Kind == audit.Permission && e.Layer == "hook" {
				t.Fatalf("%+v", e)
			}
		}
	})
}
