package observe

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// decision reads what became of a call. Its source says whether a hook or the
// permissions refused it.
func (t *otelReader) decision(s stamp, a map[string]string) {
	id, tool := a["tool_use_id"], a["tool_name"]
	c := call{Tool: tool}
	var in struct {
		Server      string `json:"mcp_server_name"`
		Name        string `json:"mcp_tool_name"`
		FullCommand string `json:"full_command"`
	}
	if json.Unmarshal([]byte(a["tool_parameters"]), &in, tolerant()) == nil {
		if in.Server != "" {
			c.Tool = "mcp__" + in.Server + "__" + in.Name
		}
		c.Command = audit.Text(in.FullCommand, maxCommand)
	}
	refused, byHook := a["decision"] == "reject", a["source"] == "hook"
	if refused && byHook && t.doubtful(c.Tool) {
		t.unknown(s, id, c, a)
		return
	}
	asked := t.asked[c.Tool] > 0
	if byHook && refused && !asked {
		if h, blocked := t.take(c.Tool, true); blocked {
			if h != nil {
				t.emit(h, id)
			}
			return // the block is on record as the hook's
		}
	}
	before, clean := t.take(c.Tool, false)
	if before != nil {
		t.emit(before, id)
	}
	if asked {
		t.asked[c.Tool]--
	}
	switch {
	case a["decision"] == "accept":
		if e := granted(s, id, c, a["source"], "otel"); e != nil {
			t.out = append(t.out, e)
		}
	case refused && byHook && !clean && !asked: // which hooks ran is not in these records
		t.unknown(s, id, c, a)
	case refused:
		t.out = append(t.out, refusedBy(s, id, c, a))
	}
}

// doubtful tells whether a refusal by a hook may be by one on PreToolUse or by
// one on PermissionRequest: calls of one tool are under way that wait for each.
func (t *otelReader) doubtful(tool string) bool {
	blocked := 0
	for _, h := range t.pending[tool] {
		if h.block > 0 {
			blocked++
		}
	}
	if blocked > 0 && t.asked[tool] > 0 {
		if t.doubts == nil {
			t.doubts = map[string]int{}
		}
		t.doubts[tool] += blocked + t.asked[tool]
		t.asked[tool] = 0
		t.pending[tool] = slices.DeleteFunc(t.pending[tool], func(h *otelHooks) bool { return h.block > 0 })
	}
	if t.doubts[tool] == 0 {
		return false
	}
	t.doubts[tool]--
	return true
}

// unknown records that a hook refused a call, and that is all.
func (t *otelReader) unknown(s stamp, id string, c call, a map[string]string) {
	e := blockedUnknown(s, hookRun{tool: c.Tool, toolUse: id, evidence: "otel:tool_decision source=hook"})
	e.PermissionMode = a["permission_mode"]
	c.about(e)
	t.out = append(t.out, e)
}

// refusedBy records a refusal by the host's permissions, or by a hook on
// PermissionRequest, which stands for a person's answer.
func refusedBy(s stamp, id string, c call, a map[string]string) *audit.Event {
	e := s.newEvent(audit.Permission)
	e.ToolUseID, e.PermissionMode = id, a["permission_mode"]
	c.fill(e)
	e.Evidence = "otel:tool_decision source=" + a["source"]
	switch {
	case a["classifier_verdict"] != "":
		e.Reason = reason.PermissionClassifier
	case a["source"] == "hook":
		e.Reason = reason.PermissionHook
	case strings.HasPrefix(a["source"], "user"):
		e.Reason = reason.PermissionUser
	default:
		e.Reason = reason.PermissionUnknown
		e.Message = "The host's permissions refused this call. OpenTelemetry does not record whether a rule, a mode or nobody's answer did it."
	}
	e.Layer, e.Decision = reason.LayerPermission, reason.Denied
	return e
}

// blockedUnknown records a hook's block of which no more is known.
func blockedUnknown(s stamp, r hookRun) *audit.Event {
	e := r.newEvent(s)
	e.Layer, e.Decision, e.Reason = reason.LayerNone, reason.Blocked, reason.Observed
	e.Message = "A hook blocked this. OpenTelemetry does not record whether it said no or failed."
	return e
}

// take returns the run of PreToolUse hooks before a call of a tool: one that
// blocked, or one that did not. Of several that differ none is taken, and seen
// still tells that there were any.
func (t *otelReader) take(tool string, blocked bool) (h *otelHooks, seen bool) {
	at := -1
	for i, o := range t.pending[tool] {
		switch {
		case (o.block > 0) != blocked:
		case at < 0:
			at, h = i, o
		case o.open != h.open || o.late != h.late || o.block != h.block:
			return nil, true
		}
	}
	if at < 0 {
		return nil, false
	}
	t.pending[tool] = slices.Delete(t.pending[tool], at, at+1)
	return h, true
}
