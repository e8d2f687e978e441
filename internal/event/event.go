// Package event reads one hook event, strictly, from bytes that an attacker may
// have had a hand in.
//
// An event is decoded once. The schema judges the decoded value, and the typed
// view is taken from that same value, so there are no two readers that could
// see two calls. Names match exactly, case included; a name that differs from
// one that is used only in case is a fault, because another reader, such as a
// decoder that ignores case, would see a different call.
//
// The package refuses to guess: what is not there stays empty, and whether it
// should have been there is for package schema to say.
package event

import (
	"bytes"
	"encoding/json" //nolint:depguard // only its Number type; nothing is decoded with it
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// An Event is the typed view of a decoded event. The names of the host's fields
// are those of Claude Code 2.1.328; see docs/design.md.
type Event struct {
	Name           string // hook_event_name
	SessionID      string
	ToolUseID      string
	PromptID       string
	AgentID        string
	PermissionMode string
	CWD            string
	TranscriptPath string
	Tool           string // tool_name
	MCPServer      string

	// Value is the whole decoded event; see Decode for its types. It is nil if
	// the input could not be decoded.
	Value any
	// Input is the decoded tool_input, nil if there is none or it is no object.
	Input map[string]any
	// InputRaw holds the bytes of tool_input as they were sent, of any type.
	InputRaw []byte
	// Raw is the whole input as it was read.
	Raw []byte
}

// Parse decodes raw and takes the typed view. The error is a *Fault; the view
// then holds nothing but Raw.
func Parse(raw []byte, l Limits) (Event, error) {
	l = l.withDefaults()
	v, input, err := decode(raw, l.MaxDepth, "tool_input")
	if err != nil {
		return Event{Raw: raw}, err
	}
	e := Event{Raw: raw, Value: v, InputRaw: input}
	m, ok := v.(map[string]any)
	if !ok {
		return e, &Fault{Message: "the input is " + kind(v) + "; an event is one JSON object"}
	}
	str := func(name string) string {
		s, _ := m[name].(string)
		return s
	}
	e.Name = str("hook_event_name")
	e.SessionID = str("session_id")
	e.ToolUseID = str("tool_use_id")
	e.PromptID = str("prompt_id")
	e.AgentID = str("agent_id")
	e.PermissionMode = str("permission_mode")
	e.CWD = str("cwd")
	e.TranscriptPath = str("transcript_path")
	e.Tool = str("tool_name")
	e.Input, _ = m["tool_input"].(map[string]any)
	e.MCPServer = mcpServer(m, e.Tool)
	return e, caseFault(m)
}

// used are the names that somebody takes a decision or a join on.
var used = []string{
	"session_id", "hook_event_name", "tool_name", "tool_input", "tool_use_id", "tool_response",
	"permission_mode", "transcript_path", "agent_transcript_path", "cwd", "prompt_id", "agent_id",
	"agent_type", "mcp_server", "tool_calls", "stop_hook_active", "source", "file_path", "reason", "error", "prompt",
}

// caseFault reports a name that would be one of the used ones if case did not
// count.
func caseFault(m map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(m)) { // sorted: the same input gives the same message
		for _, u := range used {
			if name != u && strings.EqualFold(name, u) {
				return &Fault{Path: "/" + pointer(name), Message: fmt.Sprintf("the name differs from %q only in case; two readers would see two events", u)}
			}
		}
	}
	return nil
}

func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// mcpServer prefers what the host says to what the tool's name looks like.
func mcpServer(m map[string]any, tool string) string {
	if s, ok := m["mcp_server"].(map[string]any); ok {
		if name, ok := s["name"].(string); ok {
			return name
		}
	}
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		if server, _, ok := strings.Cut(rest, "__"); ok {
			return server
		}
	}
	return ""
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

// InputJSON returns the tool input encoded afresh from the decoded value: one
// reading, no name twice, numbers with the digits they were sent with.
func (e *Event) InputJSON() ([]byte, error) {
	if e.Input == nil {
		return nil, errors.New("the event has no tool input")
	}
	var b bytes.Buffer
	enc := jsontext.NewEncoder(&b, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) // a map has no name twice
	if err := encode(enc, e.Input); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func encode(enc *jsontext.Encoder, v any) error {
	switch v := v.(type) {
	case map[string]any:
		if err := enc.WriteToken(jsontext.BeginObject); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := enc.WriteToken(jsontext.String(name)); err != nil {
				return err
			}
			if err := encode(enc, v[name]); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndObject)
	case []any:
		if err := enc.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		for _, x := range v {
			if err := encode(enc, x); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndArray)
	case string:
		return enc.WriteToken(jsontext.String(v))
	case bool:
		return enc.WriteToken(jsontext.Bool(v))
	case json.Number:
		return enc.WriteValue(jsontext.Value(v)) // the literal, digit by digit
	default:
		return enc.WriteToken(jsontext.Null)
	}
}

// InputString returns the first of the named members of the tool input that is
// a string and not empty.
func (e *Event) InputString(names ...string) string {
	for _, n := range names {
		if s, ok := e.Input[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}
