package observe

import (
	"strings"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// fromPayload returns what an event's payload itself says of other layers.
// ran tells whether a call is known to have run: its output may then imitate
// any sentence of the host's. It may be nil.
func (l Lookup) fromPayload(p payload, now time.Time, ran func(toolUse string) bool) []*audit.Event {
	s := stamp{time: now, session: p.session, prompt: p.prompt, agent: p.agent, cwd: p.cwd, transcript: p.transcript}
	switch p.event {
	case "PermissionDenied":
		id := str(p.value, "tool_use_id")
		s.id = "PermissionDenied:" + id
		e := s.newEvent(audit.Permission)
		e.ToolUseID, e.HookEvent, e.PermissionMode = id, p.event, p.mode
		callOfValue(str(p.value, "tool_name"), p.value["tool_input"]).fill(e)
		e.Layer, e.Decision, e.Reason = reason.LayerPermission, reason.Denied, reason.PermissionClassifier
		e.Evidence = "payload:PermissionDenied"
		e.Message = audit.Text(str(p.value, "reason"), maxMessage)
		return []*audit.Event{e}
	case "PostToolBatch":
		return l.fromBatch(p, s, ran)
	}
	return nil
}

func (l Lookup) fromBatch(p payload, s stamp, ran func(string) bool) []*audit.Event {
	var events []*audit.Event
	calls, _ := p.value["tool_calls"].([]any)
	for _, v := range calls {
		m, _ := v.(map[string]any)
		id := str(m, "tool_use_id")
		d := denial{text: textOfValue(m["tool_response"])}
		if id == "" || d.text == "" {
			continue
		}
		s.id = "PostToolBatch:" + id
		e := l.refused(s, id, callOfValue(str(m, "tool_name"), m["tool_input"]), d, "batch")
		if e == nil || ran != nil && ran(id) {
			continue
		}
		e.PermissionMode = p.mode
		events = append(events, e)
	}
	return events
}

// A payload is the part of a hook event's payload that is used here.
type payload struct {
	event, session, transcript, agentTranscript string
	cwd, prompt, agent, mode                    string
	value                                       map[string]any
}

func payloadOf(value any) (payload, bool) {
	m, ok := value.(map[string]any)
	if !ok {
		return payload{}, false
	}
	return payload{
		event: str(m, "hook_event_name"), session: str(m, "session_id"), transcript: str(m, "transcript_path"),
		agentTranscript: str(m, "agent_transcript_path"), cwd: str(m, "cwd"), prompt: str(m, "prompt_id"),
		agent: str(m, "agent_id"), mode: str(m, "permission_mode"), value: m,
	}, true
}

func str(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

func callOfValue(tool string, input any) call {
	c := call{Tool: tool}
	m, _ := input.(map[string]any)
	if tool == "Bash" {
		c.Command = audit.Text(str(m, "command"), maxCommand)
	}
	for _, name := range []string{"file_path", "notebook_path", "path", "url", "vm_name"} {
		if s := str(m, name); s != "" {
			c.Target = audit.Text(s, maxCommand)
			break
		}
	}
	return c
}

func textOfValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var texts []string
		for _, b := range v {
			if m, ok := b.(map[string]any); ok && m["type"] == "text" {
				texts = append(texts, str(m, "text"))
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}
