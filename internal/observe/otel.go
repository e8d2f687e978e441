package observe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
)

// An otelReader reads the host's OpenTelemetry log records: the standard JSON
// form, or one record a line as {body, attributes}. They count hook runs and
// name no hook and no call, and they do not tell a hook that said no from one
// that broke: such a block is recorded as seen, with reason "observed".
type otelReader struct {
	counts Counts
	// pending are the runs of PreToolUse hooks that wait for the decision on
	// their call, and asked how many runs of PermissionRequest hooks do, by tool.
	pending map[string][]*otelHooks
	asked   map[string]int
	doubts  map[string]int // see doubtful
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
	eachRecord(b, &t.counts, func(*otelRecord) bool { return true }, func(_ []byte, r otelRecord) {
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
	})
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
	case "hook_execution_start":
		if tool := toolOfHook(a["hook_name"]); a["hook_event"] == "PermissionRequest" && tool != "" {
			if t.asked == nil {
				t.asked = map[string]int{}
			}
			t.asked[tool]++
		}
	case "tool_result", "hook_registered":
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
		add(blockedUnknown(h.stamp, run))
	}
}

// end records what no call could be found for.
func (t *otelReader) end() {
	for _, tool := range slices.Sorted(maps.Keys(t.pending)) {
		for _, h := range t.pending[tool] {
			t.emit(h, "")
		}
	}
	t.pending = nil
}
