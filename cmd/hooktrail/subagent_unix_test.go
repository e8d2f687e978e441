//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// A transcript is a file of the host's records that grows.
type transcript struct {
	t           *testing.T
	path, agent string
	lines       int
}

// add appends a record. It gets what all records have.
func (tr *transcript) add(record map[string]any) {
	tr.t.Helper()
	tr.lines++
	record["sessionId"], record["version"], record["entrypoint"] = "s", "2.1.328", "sdk-cli"
	record["uuid"] = fmt.Sprintf("%s-%d", filepath.Base(tr.path), tr.lines)
	record["timestamp"] = fmt.Sprintf("2026-12-01T09:00:%02d.000Z", tr.lines)
	if tr.agent != "" {
		record["agentId"], record["isSidechain"] = tr.agent, true
	}
	b, err := json.Marshal(record)
	require.NoError(tr.t, err)
	require.NoError(tr.t, os.MkdirAll(filepath.Dir(tr.path), 0o700))
	f, err := os.OpenFile(tr.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(tr.t, err)
	_, err = f.Write(append(b, '\n'))
	require.NoError(tr.t, err)
	require.NoError(tr.t, f.Close())
}

func (tr *transcript) call(id string) {
	tr.add(map[string]any{"type": "assistant", "message": map[string]any{"content": []any{
		map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "make " + id}},
	}}})
}

func (tr *transcript) failedOpen(id string) {
	tr.add(map[string]any{"type": "attachment", "attachment": map[string]any{
		"type": "hook_non_blocking_error", "hookName": "PreToolUse:Bash", "hookEvent": "PreToolUse", "toolUseID": id,
		"command": "theirs.sh", "exitCode": 127, "stderr": "Failed with non-blocking status code: not found",
	}})
}

func (tr *transcript) denied(id, text, source, code string) {
	tr.add(map[string]any{
		"type": "user", "toolDenialKind": "permission-rule",
		"permissionDecision": map[string]any{"decision": "reject", "source": source, "reasonCode": code},
		"message": map[string]any{"content": []any{map[string]any{
			"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text,
		}}},
	})
}

const hookBlocked = `PreToolUse:Bash hook error: [mine.sh]: failed; blocking because onFailure is "block"`

// TestSubagentsFactsOnceEach: a session and two subagents whose hooks run at the
// same time, each of them a process. What stopped or failed at calls of each is
// recorded once, with the agent it belongs to, though a subagent's records come
// by its own batch, by SubagentStop, late at Stop, or at the session's end only.
func TestSubagentsFactsOnceEach(t *testing.T) {
	p := newPlace(t)
	base := filepath.Join(p.dir, "projects", "p", "s")
	parent := &transcript{t: t, path: base + ".jsonl"}
	one := &transcript{t: t, path: filepath.Join(base, "subagents", "agent-a1.jsonl"), agent: "a1"}
	two := &transcript{t: t, path: filepath.Join(base, "subagents", "agent-a2.jsonl"), agent: "a2"}
	hook := func(event, agent string, more map[string]any) {
		m := map[string]any{"session_id": "s", "transcript_path": parent.path, "cwd": "/", "hook_event_name": event}
		if agent != "" {
			m["agent_id"], m["agent_type"] = agent, "general-purpose"
		}
		for k, v := range more {
			m[k] = v
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Error(err)
			return
		}
		if got := p.run(string(b), "hook", "--config", filepath.Join(p.dir, "config.json"), "--log", p.log); got.status != 0 {
			t.Errorf("%s: %+v", event, got)
		}
	}
	atOnce := func(hooks ...func()) {
		var wg sync.WaitGroup
		for _, h := range slices.Concat(hooks, hooks) { // registered twice, say by two layers
			wg.Go(h)
		}
		wg.Wait()
	}
	batch := func(id string) map[string]any {
		return map[string]any{"tool_calls": []any{map[string]any{
			"tool_name": "Bash", "tool_input": map[string]any{"command": "make " + id}, "tool_use_id": id, "tool_response": hookBlocked,
		}}}
	}
	stop := func(tr *transcript) func() {
		return func() { hook("SubagentStop", tr.agent, map[string]any{"agent_transcript_path": tr.path}) }
	}

	for _, tr := range []*transcript{parent, one, two} {
		id := func(n int) string { return fmt.Sprintf("toolu_%s%d", tr.agent, n) }
		tr.call(id(1))
		tr.denied(id(1), hookBlocked, "hook", "hook:PreToolUse")
		tr.call(id(2))
		tr.failedOpen(id(2))
	}
	atOnce(
		func() { hook("PostToolBatch", "", batch("toolu_1")) },
		func() { hook("PostToolBatch", "a1", batch("toolu_a11")) },
		stop(one), stop(two),
	)
	rule := func(tr *transcript, id string) {
		tr.call(id)
		tr.denied(id, "Permission to use Bash has been denied.", "config", "rule:userSettings")
	}
	rule(one, "toolu_a13") // after its SubagentStop: the host writes late
	atOnce(func() { hook("Stop", "", nil) }, stop(two), func() { hook("UserPromptSubmit", "", map[string]any{"prompt": "x"}) })
	require.True(t, slices.ContainsFunc(p.events(), func(e audit.Event) bool { return e.ToolUseID == "toolu_a13" && e.Kind == "permission" }), "it came with the session's Stop")
	three := &transcript{t: t, path: filepath.Join(base, "subagents", "agent-a3.jsonl"), agent: "a3"}
	rule(three, "toolu_a31") // its SubagentStop never came
	atOnce(func() { hook("SessionEnd", "", nil) }, func() { hook("SessionEnd", "", nil) })
	hook("SessionEnd", "", nil)

	var got []string
	for _, e := range p.events() {
		if e.Kind == "callback" || e.Kind == "permission" {
			got = append(got, fmt.Sprintf("%s agent=%s %s %s %s %s %q", e.ToolUseID, e.AgentID, e.Kind, e.Layer, e.Decision, e.Reason, e.Command))
		}
	}
	slices.Sort(got)
	require.Equal(t, []string{
		`toolu_1 agent= callback failure blocked hook_callback_failed "make toolu_1"`,
		`toolu_2 agent= callback failure allowed hook_failed_open "make toolu_2"`,
		`toolu_a11 agent=a1 callback failure blocked hook_callback_failed "make toolu_a11"`,
		`toolu_a12 agent=a1 callback failure allowed hook_failed_open "make toolu_a12"`,
		`toolu_a13 agent=a1 permission permission denied permission_rule "make toolu_a13"`,
		`toolu_a21 agent=a2 callback failure blocked hook_callback_failed "make toolu_a21"`,
		`toolu_a22 agent=a2 callback failure allowed hook_failed_open "make toolu_a22"`,
		`toolu_a31 agent=a3 permission permission denied permission_rule "make toolu_a31"`,
	}, got)
}

// TestSubagentsPathIsNotTrusted: what agent_transcript_path leads to is read only
// when it is a transcript of this session in a regular file, and nobody waits
// for it.
func TestSubagentsPathIsNotTrusted(t *testing.T) {
	for _, tt := range []struct {
		name string
		path func(p *place) string
		want []string // kinds of events beside the hook's own
	}{
		{"not there", func(p *place) string { return filepath.Join(p.dir, "none.jsonl") }, nil},
		{"a relative path", func(p *place) string {
			here, err := os.Getwd()
			require.NoError(p.t, err)
			path, err := filepath.Rel(here, p.subagent("s"))
			require.NoError(p.t, err)
			return path
		}, nil},
		{"no transcript by its name", func(p *place) string { return "/etc/passwd" }, nil},
		{"nothing", func(*place) string { return "" }, nil},
		{"a pipe", func(p *place) string { return p.special("pipe.jsonl", mkfifo) }, []string{"log"}},
		{"a folder", func(p *place) string {
			return p.special("folder.jsonl", func(name string) error { return os.Mkdir(name, 0o700) })
		}, []string{"log"}},
		{"a link", func(p *place) string {
			return p.special("link.jsonl", func(name string) error { return os.Symlink(p.subagent("s"), name) })
		}, []string{"log"}},
		{"a link to an endless device", func(p *place) string {
			return p.special("zero.jsonl", func(name string) error { return os.Symlink("/dev/zero", name) })
		}, []string{"log"}},
		{"another session's", func(p *place) string { return p.subagent("another") }, nil},
		{"another program's", func(p *place) string {
			return p.special("other.jsonl", func(name string) error { return os.WriteFile(name, []byte("root:x:0:0\n"), 0o600) })
		}, []string{"log"}},
		{"its own", func(p *place) string { return p.subagent("s") }, []string{"permission"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			b, err := json.Marshal(map[string]any{
				"session_id": "s", "transcript_path": filepath.Join(p.dir, "s.jsonl"), "cwd": p.dir, "hook_event_name": "SubagentStop",
				"agent_id": "a1", "agent_type": "general-purpose", "agent_transcript_path": tt.path(p),
			})
			require.NoError(t, err)
			for range 2 {
				require.Equal(t, outcome{}, p.run(string(b), "hook"))
			}
			var got []string
			for _, e := range p.events() {
				if e.Kind != "invocation" && e.Action != "opened" {
					got = append(got, string(e.Kind))
				}
				require.NotContains(t, e.Message, "root:x")
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// subagent writes a transcript with one denial, of a session, and returns its
// path.
func (p *place) subagent(session string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, "agent.jsonl")
	p.file("agent.jsonl", `{"type":"user","uuid":"u","timestamp":"2026-12-01T09:00:00Z","sessionId":"`+session+`","agentId":"a1","toolDenialKind":"permission-rule","permissionDecision":{"decision":"reject","source":"config","reasonCode":"rule:userSettings"},"message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":"no"}]}}`+"\n")
	return path
}

func (p *place) special(name string, make func(string) error) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	require.NoError(p.t, make(path))
	return path
}

func mkfifo(name string) error { return syscall.Mkfifo(name, 0o600) }
