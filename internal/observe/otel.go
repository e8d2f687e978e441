package observe

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// An otelReader reads the host's OpenTelemetry log records: the standard JSON
// form, or one record a line as {body, attributes}. They count hook runs and
// name no hook, and they do not tell a hook that said no from one that broke:
// such a block is recorded as seen, with reason "observed".
type otelReader struct {
	counts Counts
	// pending are failures of PreToolUse hooks that wait for the decision on
	// their call, by tool.
	pending map[string][]*otelHooks
	out     []*audit.Event
}

type otelHooks struct {
	stamp             stamp
	event, name       string
	open, late, block int
}

type otelRecord struct {
	Body       jsontext.Value `json:"body"`
	Attributes jsontext.Value `json:"attributes"`
	Resources  []struct {
		Scopes []struct {
			Records []otelRecord `json:"logRecords"`
		} `json:"scopeLogs"`
	} `json:"resourceLogs"`
}

func (t *otelReader) line(b []byte) {
	t.counts.Lines++
	var r otelRecord
	if json.Unmarshal(b, &r, tolerant()) != nil {
		t.counts.Broken++
		return
	}
	t.counts.Known++
	if r.Body != nil {
		t.record(r)
	}
	for _, res := range r.Resources {
		for _, sc := range res.Scopes {
			for _, rec := range sc.Records {
				t.record(rec)
			}
		}
	}
}

// attributes returns the attributes of either form as strings.
func (r otelRecord) attributes() map[string]string {
	m := map[string]string{}
	switch r.Attributes.Kind() {
	case '{':
		var flat map[string]any
		if json.Unmarshal(r.Attributes, &flat, tolerant()) == nil {
			for k, v := range flat {
				m[k] = fmt.Sprint(v)
			}
		}
	case '[':
		var list []struct {
			Key   string         `json:"key"`
			Value map[string]any `json:"value"`
		}
		if json.Unmarshal(r.Attributes, &list, tolerant()) == nil {
			for _, a := range list {
				for _, v := range a.Value {
					m[a.Key] = fmt.Sprint(v)
				}
			}
		}
	default:
	}
	return m
}

func (t *otelReader) record(r otelRecord) {
	a := r.attributes()
	s := stamp{
		id: "otel:" + a["event.sequence"], time: parseTime(a["event.timestamp"]),
		session: a["session.id"], prompt: a["prompt.id"],
	}
	if t.counts.SessionID == "" {
		t.counts.SessionID = s.session
	}
	switch a["event.name"] {
	case "hook_execution_complete":
		t.hooks(s, a)
	case "tool_decision":
		t.decision(s, a)
	case "tool_result", "hook_execution_start", "hook_registered":
	default:
		t.counts.unknown(a["event.name"])
	}
}

func (t *otelReader) hooks(s stamp, a map[string]string) {
	n := func(name string) int {
		v, err := strconv.Atoi(a[name])
		if err != nil || v < 0 || v > 1000 {
			return 0
		}
		return v
	}
	h := &otelHooks{
		stamp: s, event: a["hook_event"], name: a["hook_name"],
		open: n("num_non_blocking_error"), late: n("num_cancelled"), block: n("num_blocking"),
	}
	if h.open+h.late+h.block == 0 {
		return
	}
	tool := toolOfHook(h.name)
	if h.event != "PreToolUse" || tool == "" {
		t.emit(h, "")
		return
	}
	if t.pending == nil {
		t.pending = map[string][]*otelHooks{}
	}
	t.pending[tool] = append(t.pending[tool], h)
}

func (t *otelReader) emit(h *otelHooks, toolUse string) {
	run := hookRun{event: h.event, name: h.name, toolUse: toolUse, evidence: "otel:hook_execution_complete"}
	k := 0
	add := func(e *audit.Event) {
		if k > 0 {
			e.EventID = eventID(h.stamp.time, h.stamp.session, h.stamp.id, string(e.Kind), k)
		}
		k++
		t.out = append(t.out, e)
	}
	for range h.open {
		add(failedOpen(h.stamp, run, false, "", ""))
	}
	for range h.late {
		add(failedOpen(h.stamp, run, true, "", ""))
	}
	for range h.block {
		e := run.newEvent(h.stamp)
		e.Layer, e.Decision, e.Reason = reason.LayerNone, reason.Blocked, reason.Observed
		e.Message = "A hook blocked this. OpenTelemetry does not record whether it said no or failed."
		add(e)
	}
}

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
	if waiting := t.pending[c.Tool]; len(waiting) == 1 {
		t.emit(waiting[0], id)
		delete(t.pending, c.Tool)
	}
	switch {
	case a["decision"] == "accept":
		if e := granted(s, id, c, a["source"], "otel"); e != nil {
			t.out = append(t.out, e)
		}
		return
	case a["decision"] != "reject":
		return
	case a["source"] == "hook" && a["permission_mode"] != "" && t.blockedCall(id):
		return // the block is on record as the hook's
	}
	e := s.newEvent(audit.Permission)
	e.ToolUseID, e.PermissionMode = id, a["permission_mode"]
	c.fill(e)
	e.Evidence = "otel:tool_decision source=" + a["source"]
	switch {
	case a["classifier_verdict"] != "":
		e.Reason, e.Decision = reason.PermissionClassifier, reason.Denied
	case a["source"] == "hook":
		e.Reason, e.Decision = reason.PermissionHook, reason.Denied
	case len(a["source"]) > 4 && a["source"][:4] == "user":
		e.Reason, e.Decision = reason.PermissionUser, reason.Denied
	default:
		e.Reason, e.Decision = reason.Observed, reason.Blocked
		e.Message = "The host refused this call. OpenTelemetry does not record whether a rule, a mode or nobody's answer did it."
	}
	e.Layer = e.Reason.Layer()
	t.out = append(t.out, e)
}

// blockedCall tells whether a PreToolUse hook blocked the call.
func (t *otelReader) blockedCall(id string) bool {
	for _, e := range t.out {
		if e.ToolUseID == id && e.Kind == audit.Callback && e.Decision == reason.Blocked {
			return true
		}
	}
	return false
}

// end records what no call could be found for.
func (t *otelReader) end() {
	for _, waiting := range t.pending {
		for _, h := range waiting {
			t.emit(h, "")
		}
	}
	t.pending = nil
}
