package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// maxOpen bounds how many calls without a result a reader remembers.
const maxOpen = 256

// Counts say what a reader met.
type Counts struct {
	Lines     int            // complete lines
	Known     int            // lines of a kind that is known
	Broken    int            // lines that are no JSON object, or of a known kind in an unknown shape
	Oversize  int            // lines too long to be read
	Foreign   int            // lines of another session
	Silent    int            // hook runs that worked and said nothing; only stream-json lists them
	Unknown   map[string]int // lines of kinds that are not known
	SessionID string         // the first session seen
}

func (c *Counts) unknown(kind string) {
	if c.Unknown == nil {
		c.Unknown = map[string]int{}
	}
	if len(kind) > 64 {
		kind = kind[:64]
	}
	if _, ok := c.Unknown[kind]; ok || len(c.Unknown) < 100 {
		c.Unknown[kind]++
	}
}

// unreadable tells whether the records are of a shape that is not known.
func (c *Counts) unreadable() bool {
	return c.Lines > 0 && c.Known == 0 || c.Broken > 0 && c.Broken*10 > c.Lines
}

// A transcriptReader reads the lines of one transcript in their order.
type transcriptReader struct {
	lookup  Lookup
	path    string
	session string          // records of other sessions are left alone; empty takes them all
	open    map[string]call // calls that have no result yet
	order   []string        // their ids, the oldest first
	counts  Counts
}

type record struct {
	Type               string         `json:"type"`
	Subtype            string         `json:"subtype"`
	UUID               string         `json:"uuid"`
	Timestamp          string         `json:"timestamp"`
	SessionID          string         `json:"sessionId"`
	AgentID            string         `json:"agentId"`
	PromptID           string         `json:"promptId"`
	CWD                string         `json:"cwd"`
	Entrypoint         string         `json:"entrypoint"`
	Attachment         jsontext.Value `json:"attachment"`
	Message            jsontext.Value `json:"message"`
	Content            jsontext.Value `json:"content"`
	ToolDenialKind     string         `json:"toolDenialKind"`
	PermissionDecision decisionRecord `json:"permissionDecision"`
	HookErrors         []string       `json:"hookErrors"`
	FailedHookErrors   []int          `json:"failedHookErrorIndexes"`
	PromptSubmitEnding promptEnding   `json:"promptSubmitEnding"`
}

type decisionRecord struct {
	Decision   string `json:"decision"`
	Source     string `json:"source"`
	ReasonType string `json:"reasonType"`
	ReasonCode string `json:"reasonCode"`
}

type promptEnding struct {
	Ending struct {
		Kind          string `json:"kind"`
		NoVerdictKind string `json:"noVerdictKind"`
	} `json:"ending"`
}

type messageRecord struct {
	Content jsontext.Value `json:"content"`
}

type block struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
	Text      string         `json:"text"`
	IsError   bool           `json:"is_error"`
}

// quiet are the kinds of lines that tell nothing of hooks and permissions.
var quiet = []string{
	"queue-operation", "atis-latch", "last-prompt", "api-request-shape", "api-request", "api-request-blob",
	"tools-used", "cost-state", "mode", "permission-mode", "file-history-snapshot", "summary", "progress",
	"ai-title", "custom-title", "agent-name", "pr-link", "attribution-snapshot", "content-replacement",
}

// line reads one line and returns the events in it.
func (t *transcriptReader) line(b []byte) []*audit.Event {
	var events []*audit.Event
	eachRecord(b, &t.counts, func(r *record) bool { return r.Type != "" }, func(raw []byte, r record) {
		events = append(events, t.record(raw, r)...)
	})
	return events
}

func (t *transcriptReader) record(b []byte, r record) []*audit.Event {
	if t.counts.SessionID == "" {
		t.counts.SessionID = r.SessionID
	}
	if t.session != "" && r.SessionID != "" && r.SessionID != t.session {
		t.counts.Known++
		t.counts.Foreign++
		return nil
	}
	s := stamp{
		id: r.UUID, time: parseTime(r.Timestamp), session: r.SessionID, prompt: r.PromptID,
		agent: r.AgentID, cwd: r.CWD, transcript: t.path,
	}
	if s.session == "" {
		s.session = t.session
	}
	if s.id == "" {
		h := sha256.Sum256(b)
		s.id = hex.EncodeToString(h[:16])
	}
	var events []*audit.Event
	ok := true
	switch r.Type {
	case "attachment":
		events, ok = t.attachment(s, r)
	case "assistant":
		ok = t.assistant(r)
	case "user":
		events, ok = t.user(s, r)
	case "system":
		events = t.system(s, r)
	default:
		if !slices.Contains(quiet, r.Type) {
			t.counts.unknown(r.Type)
			return nil
		}
	}
	if !ok {
		t.counts.Broken++
		return nil
	}
	t.counts.Known++
	for i, e := range events {
		if i > 0 && e.EventID != "" {
			e.EventID = eventID(s.time, s.session, s.id, string(e.Kind), i)
		}
	}
	return events
}

func parseTime(s string) time.Time {
	ts, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return ts.UTC()
}

func (t *transcriptReader) attachment(s stamp, r record) ([]*audit.Event, bool) {
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(r.Attachment, &kind, tolerant()) != nil {
		return nil, false
	}
	if !strings.HasPrefix(kind.Type, "hook_") && kind.Type != "async_hook_response" {
		return nil, true
	}
	var a attachment
	if json.Unmarshal(r.Attachment, &a, tolerant()) != nil {
		return nil, false
	}
	if e := t.lookup.callback(s, a, "transcript"); e != nil {
		t.open[e.ToolUseID].about(e)
		return []*audit.Event{e}, true
	}
	return nil, true
}

// blocks returns the content blocks of a message; a plain string is none.
func blocks(message jsontext.Value) ([]block, bool) {
	var m messageRecord
	if json.Unmarshal(message, &m, tolerant()) != nil {
		return nil, false
	}
	switch m.Content.Kind() {
	case '"':
		return nil, true
	case '[':
		var bs []block
		if json.Unmarshal(m.Content, &bs, tolerant()) != nil {
			return nil, false
		}
		return bs, true
	default:
		return nil, false
	}
}

func (t *transcriptReader) assistant(r record) bool {
	bs, ok := blocks(r.Message)
	for _, b := range bs {
		if b.Type == "tool_use" && b.ID != "" {
			t.remember(b.ID, callOf(b.Name, b.Input))
		}
	}
	return ok
}

func (t *transcriptReader) remember(id string, c call) {
	if t.open == nil {
		t.open = map[string]call{}
	}
	if _, ok := t.open[id]; !ok {
		t.order = append(t.order, id)
	}
	t.open[id] = c
	for len(t.order) > maxOpen {
		delete(t.open, t.order[0])
		t.order = t.order[1:]
	}
}

func (t *transcriptReader) forget(id string) {
	delete(t.open, id)
	t.order = slices.DeleteFunc(t.order, func(o string) bool { return o == id })
}

// callOf returns what may be told of a call's input.
func callOf(tool string, input jsontext.Value) call {
	var in struct {
		Command      any `json:"command"`
		FilePath     any `json:"file_path"`
		NotebookPath any `json:"notebook_path"`
		Path         any `json:"path"`
		URL          any `json:"url"`
		VMName       any `json:"vm_name"`
	}
	c := call{Tool: tool}
	if input.Kind() != '{' || json.Unmarshal(input, &in, tolerant()) != nil {
		return c
	}
	if s, ok := in.Command.(string); ok && tool == "Bash" {
		c.Command = audit.Text(s, maxCommand)
	}
	for _, v := range []any{in.FilePath, in.NotebookPath, in.Path, in.URL, in.VMName} {
		if s, ok := v.(string); ok && s != "" {
			c.Target = audit.Text(s, maxCommand)
			break
		}
	}
	return c
}

// textOf returns the text of a tool result: a string or a list of blocks.
func textOf(content jsontext.Value) string {
	switch content.Kind() {
	case '"':
		var s string
		if json.Unmarshal(content, &s, tolerant()) == nil {
			return s
		}
	case '[':
		var bs []block
		if json.Unmarshal(content, &bs, tolerant()) == nil {
			var texts []string
			for _, b := range bs {
				if b.Type == "text" {
					texts = append(texts, b.Text)
				}
			}
			return strings.Join(texts, "\n")
		}
	default:
	}
	return ""
}

func (t *transcriptReader) user(s stamp, r record) (events []*audit.Event, ok bool) {
	if r.Message == nil {
		return nil, false
	}
	bs, ok := blocks(r.Message)
	for _, b := range bs {
		if b.Type != "tool_result" || b.ToolUseID == "" {
			continue
		}
		c := t.open[b.ToolUseID]
		t.forget(b.ToolUseID)
		pd := r.PermissionDecision
		if e := granted(s, b.ToolUseID, c, acceptedSource(pd), "transcript"); e != nil {
			events = append(events, e)
		}
		if pd.Decision == "accept" || !b.IsError {
			continue // it ran, whatever its output says
		}
		d := denial{
			text: textOf(b.Content), source: pd.Source, reasonType: pd.ReasonType, reasonCode: pd.ReasonCode,
			kind: r.ToolDenialKind, attended: r.Entrypoint == "cli",
		}
		if e := t.lookup.refused(s, b.ToolUseID, c, d, "transcript"); e != nil {
			events = append(events, e)
		}
	}
	return events, ok
}

func acceptedSource(d decisionRecord) string {
	if d.Decision != "accept" {
		return ""
	}
	return d.Source
}

func (t *transcriptReader) system(s stamp, r record) []*audit.Event {
	switch r.Subtype {
	case "stop_hook_summary":
		return t.stopSummary(s, r)
	case "informational":
		return promptBlocked(t.lookup, s, r.PromptSubmitEnding.Ending.Kind, textOf(r.Content), "transcript")
	}
	return nil
}

// stopSummary finds the Stop hooks that sent the model on. Those that failed
// have attachments of their own.
func (t *transcriptReader) stopSummary(s stamp, r record) []*audit.Event {
	var events []*audit.Event
	for i, text := range r.HookErrors {
		if slices.Contains(r.FailedHookErrors, i) {
			continue
		}
		b, ok := parseCommand(text, t.lookup.commands("Stop", ""))
		if !ok || isOwn(b.command) {
			continue
		}
		run := hookRun{event: "Stop", name: "Stop", evidence: "transcript:stop_hook_summary"}
		events = append(events, blockedBy(s, run, b, true))
	}
	return events
}

// promptBlocked reads the line that tells a user that a hook dropped the prompt.
// The prompt itself stands in it, and stays there.
func promptBlocked(l Lookup, s stamp, kind, content, via string) []*audit.Event {
	if kind != "blocked_by_hook" && kind != "no_verdict" {
		return nil
	}
	content, _, _ = strings.Cut(content, "\n\nOriginal prompt:")
	_, words, ok := strings.Cut(content, "blocked by hook:")
	if !ok {
		words = ""
	}
	words = strings.TrimSpace(words)
	b, ok := parseCommand(words, l.commands("UserPromptSubmit", ""))
	if !ok {
		b = blockText{rest: words}
		if kind == "no_verdict" {
			b.how = failed
		}
	}
	if b.how == saidNo && isOwn(b.command) {
		return nil
	}
	r := hookRun{event: "UserPromptSubmit", name: "UserPromptSubmit", evidence: via + ":informational"}
	return []*audit.Event{blockedBy(s, r, b, true)}
}

// unknownShape returns the event that says that records could not be read.
func unknownShape(s stamp, message string) *audit.Event {
	e := s.newEvent(audit.LogKind)
	e.Action = "failing"
	e.Layer, e.Decision, e.Reason, e.Message = reason.LayerNone, reason.None, reason.Observed, message
	return e
}
