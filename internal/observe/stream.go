package observe

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// A streamReader reads stream-json, as SDK hosts get it.
type streamReader struct {
	lookup  Lookup
	counts  Counts
	open    map[string]call
	order   []string
	denied  map[string]string // decision_reason_type of permission_denied lines, by call
	callees map[string]string // the last call each SDK callback was asked about
	last    time.Time
	// waiting are events of failed hooks that no call could be given to yet.
	waiting []*audit.Event
	out     []*audit.Event
}

type streamLine struct {
	Type          string         `json:"type"`
	Subtype       string         `json:"subtype"`
	UUID          string         `json:"uuid"`
	SessionID     string         `json:"session_id"`
	Timestamp     string         `json:"timestamp"`
	Message       jsontext.Value `json:"message"`
	HookName      string         `json:"hook_name"`
	HookEvent     string         `json:"hook_event"`
	Stdout        string         `json:"stdout"`
	Stderr        string         `json:"stderr"`
	ExitCode      *int64         `json:"exit_code"`
	Outcome       string         `json:"outcome"`
	Tag           string         `json:"tag"`
	Content       jsontext.Value `json:"content"`
	ToolUseID     string         `json:"tool_use_id"`
	ReasonType    string         `json:"decision_reason_type"`
	PromptOutcome struct {
		Kind string `json:"kind"`
	} `json:"prompt_submit_outcome"`
	NoVerdict struct {
		HookEvent string `json:"hook_event"`
		ToolUseID string `json:"tool_use_id"`
		TimedOut  bool   `json:"timed_out"`
	} `json:"hook_no_verdict"`
	Meta []struct {
		ID               string `json:"id"`
		NonExecutionKind string `json:"non_execution_kind"`
		Decision         struct {
			Decision   string `json:"decision"`
			Source     string `json:"source"`
			ReasonType string `json:"reason_type"`
		} `json:"permission_decision"`
	} `json:"tool_result_meta"`
	Request struct {
		Subtype    string `json:"subtype"`
		CallbackID string `json:"callback_id"`
		ToolUseID  string `json:"tool_use_id"`
	} `json:"request"`
}

func (t *streamReader) line(b []byte) {
	eachRecord(b, &t.counts, func(r *streamLine) bool { return r.Type != "" }, func(_ []byte, r streamLine) { t.record(r) })
}

func (t *streamReader) record(r streamLine) {
	if t.counts.SessionID == "" {
		t.counts.SessionID = r.SessionID
	}
	if ts := parseTime(r.Timestamp); !ts.IsZero() {
		t.last = ts
	}
	t.counts.Known++
	s := stamp{id: r.UUID, time: t.last, session: r.SessionID}
	switch r.Type {
	case "assistant":
		bs, _ := blocks(r.Message)
		for _, b := range bs {
			if b.Type == "tool_use" {
				if t.open == nil {
					t.open = map[string]call{}
				}
				t.open[b.ID] = callOf(b.Name, b.Input)
				t.order = append(t.order, b.ID)
			}
		}
	case "user":
		t.results(s, r)
	case "system":
		t.system(s, r)
	case "control_request":
		if r.Request.Subtype == "hook_callback" {
			if t.callees == nil {
				t.callees = map[string]string{}
			}
			t.callees[r.Request.CallbackID] = r.Request.ToolUseID
		}
	case "result", "control_response", "control_cancel_request", "stream_event":
	default:
		t.counts.Known--
		t.counts.unknown(r.Type)
	}
}

func (t *streamReader) results(s stamp, r streamLine) {
	bs, _ := blocks(r.Message)
	for _, b := range bs {
		if b.Type != "tool_result" || b.ToolUseID == "" {
			continue
		}
		s.id = r.UUID + b.ToolUseID
		d := denial{text: textOf(b.Content)}
		accepted := ""
		for _, m := range r.Meta {
			if m.ID == b.ToolUseID {
				d.source, d.reasonType, d.kind = m.Decision.Source, m.Decision.ReasonType, m.NonExecutionKind
				if m.Decision.Decision == "accept" {
					accepted = m.Decision.Source
				}
			}
		}
		c := t.open[b.ToolUseID]
		if e := granted(s, b.ToolUseID, c, accepted, "stream"); e != nil {
			t.out = append(t.out, e)
		}
		if accepted == "" && b.IsError {
			d.deniedType, d.deniedLine = t.deniedType(b.ToolUseID)
			if d.deniedLine && d.deniedType == "hook" && d.source == "hook" {
				d.reasonCode = "hook:PermissionRequest" // a PreToolUse hook's block has no such line
			}
			if e := t.lookup.refused(s, b.ToolUseID, c, d, "stream"); e != nil {
				if d.reasonCode != "" {
					e.Evidence = "stream:permission_denied=hook"
				}
				t.absorb(e)
				t.out = append(t.out, e)
			}
		}
		t.waiting = slices.DeleteFunc(t.waiting, func(w *audit.Event) bool { return w.ToolUseID == b.ToolUseID })
		delete(t.open, b.ToolUseID)
		t.order = slices.DeleteFunc(t.order, func(id string) bool { return id == b.ToolUseID })
	}
}

func (t *streamReader) deniedType(id string) (string, bool) {
	v, ok := t.denied[id]
	return v, ok
}

// absorb takes back the failed run that turns out to be the block e.
func (t *streamReader) absorb(e *audit.Event) {
	if e.Reason != reason.HookCallbackFailed {
		return
	}
	for i, w := range t.waiting {
		if w.HookEvent != e.HookEvent || w.ToolUseID != e.ToolUseID || *w.TimedOut != *e.TimedOut {
			continue
		}
		e.ExitCode = w.ExitCode
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.out = slices.DeleteFunc(t.out, func(o *audit.Event) bool { return o == w })
		return
	}
}

func (t *streamReader) system(s stamp, r streamLine) {
	switch r.Subtype {
	case "hook_response":
		t.response(s, r)
	case "permission_denied":
		if t.denied == nil {
			t.denied = map[string]string{}
		}
		t.denied[r.ToolUseID] = r.ReasonType
	case "informational":
		t.informational(s, r)
	}
}

// response reads the end of one hook's run. The line names no call: it is given
// to the one call of that tool that is open, if there is but one.
func (t *streamReader) response(s stamp, r streamLine) {
	if r.Outcome == "success" && r.Stdout == "" && r.Stderr == "" {
		t.counts.Silent++
		return
	}
	a := attachment{HookName: r.HookName, HookEvent: r.HookEvent, Stdout: r.Stdout, Stderr: r.Stderr, ExitCode: r.ExitCode}
	tool := toolOfHook(r.HookName)
	if tool != "" {
		a.ToolUseID = t.callOfTool(tool)
	}
	timeout := r.Outcome == "cancelled"
	switch {
	case timeout:
		a.Type, a.TimedOut, a.ExitCode = "hook_cancelled", true, nil
	case r.Outcome == "success":
		a.Type = "hook_success"
		if heard, _ := readAnswer(r.Stdout); r.HookEvent == "PermissionRequest" && heard != saidNothing {
			if heard != saidAllow {
				return
			}
			a.Type, a.Decision = "hook_permission_decision", "allow"
		}
	case r.ExitCode != nil && *r.ExitCode == 2 && tool != "" && stopsCall(r.HookEvent):
		return // the call's result tells it
	case r.ExitCode != nil && *r.ExitCode == 2 && r.HookEvent == "UserPromptSubmit":
		return // the line about the prompt tells it
	case r.ExitCode != nil && *r.ExitCode == 2:
		e := blockedBy(s, hookRun{event: r.HookEvent, name: r.HookName, toolUse: a.ToolUseID, exitCode: r.ExitCode, evidence: "stream:hook_response"},
			blockText{rest: r.Stderr, plain: true}, stopsCall(r.HookEvent))
		t.out = append(t.out, e)
		return
	default:
		a.Type = "hook_non_blocking_error"
	}
	e := t.lookup.callback(s, a, "stream")
	if e == nil {
		return
	}
	e.Evidence = "stream:hook_response"
	t.open[e.ToolUseID].about(e)
	if e.Reason.Layer() == "failure" {
		t.waiting = append(t.waiting, e)
	}
	t.out = append(t.out, e)
}

// callOfTool returns the open call of a tool, or nothing when there are several.
func (t *streamReader) callOfTool(tool string) string {
	found := ""
	for _, id := range t.order {
		if t.open[id].Tool == tool {
			if found != "" {
				return ""
			}
			found = id
		}
	}
	return found
}

func (t *streamReader) informational(s stamp, r streamLine) {
	text := textOf(r.Content)
	switch {
	case r.Tag == "hook_no_verdict":
		v := r.NoVerdict
		for i, e := range t.waiting {
			if e.HookEvent == v.HookEvent && (e.ToolUseID == "" || e.ToolUseID == v.ToolUseID) {
				e.ToolUseID, e.TimedOut = v.ToolUseID, &v.TimedOut
				t.open[v.ToolUseID].about(e)
				t.waiting = slices.Delete(t.waiting, i, i+1)
				return
			}
		}
		c := t.open[v.ToolUseID]
		run := hookRun{event: v.HookEvent, name: v.HookEvent + ":" + c.Tool, tool: c.Tool, toolUse: v.ToolUseID, evidence: "stream:hook_no_verdict"}
		t.out = append(t.out, failedOpen(s, run, v.TimedOut, "", ""))
	case r.Tag == "hook_callback_failed":
		event, words, _ := strings.Cut(text, ": ")
		_, id, _ := strings.Cut(words, "Hook callback ")
		id, _, _ = strings.Cut(id, " ")
		use := t.callees[id]
		run := hookRun{event: event, name: event, tool: t.open[use].Tool, toolUse: use, evidence: "stream:hook_callback_failed"}
		if run.tool != "" {
			run.name = event + ":" + run.tool
		}
		switch blocks := strings.Contains(text, `onFailure is "block"`); {
		case !blocks:
			t.out = append(t.out, failedOpen(s, run, false, "continue", words))
		case event != "PreToolUse" && event != "PermissionRequest": // else the call's result tells it
			t.out = append(t.out, blockedBy(s, run, blockText{how: failed, rest: words}, true))
		}
	case r.PromptOutcome.Kind != "":
		for _, e := range promptBlocked(t.lookup, s, r.PromptOutcome.Kind, text, "stream") {
			t.absorb(e)
			t.out = append(t.out, e)
		}
	}
}
