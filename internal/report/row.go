package report

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A row is what the reports use of one line. Its slices point into the line.
type row struct {
	time, host, user, product, kind, action                       []byte
	session, toolUse, hookEvent, mode, tool, mcp, command, target []byte
	layer, decision, reason, message, hookName, gate, config      []byte
	prev, onFailure, evidence                                     []byte
	seq                                                           uint64
	exit, duration, deadline                                      int64
	hasExit, hasDuration, hasDeadline, hasTimedOut, timedOut      bool
}

// scan fills r from a line and reports whether the line is one whole object.
// It knows the flat shape of our own lines: strings, numbers and booleans at the
// top, whatever else is passed over.
func (r *row) scan(line []byte) bool {
	*r = row{}
	i, n := 0, len(line)
	if n < 2 || line[0] != '{' || line[n-1] != '}' {
		return false
	}
	i++
	for i < n {
		if line[i] == '}' {
			return i == n-1
		}
		if line[i] == ',' {
			i++
		}
		key, next, ok := stringAt(line, i)
		if !ok || next >= n || line[next] != ':' {
			return false
		}
		i = next + 1
		if i >= n {
			return false
		}
		if line[i] == '"' {
			v, next, ok := stringAt(line, i)
			if !ok {
				return false
			}
			if p := r.text(key); p != nil {
				*p = v
			}
			i = next
			continue
		}
		end := valueEnd(line, i)
		if end < 0 {
			return false
		}
		r.value(key, line[i:end])
		i = end
	}
	return false
}

// stringAt reads the JSON string at i.
func stringAt(b []byte, i int) (s []byte, next int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return nil, 0, false
	}
	escaped := false
	for j := i + 1; j < len(b); {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return nil, 0, false
		}
		part := b[j : j+k]
		if e := bytes.IndexByte(part, '\\'); e >= 0 {
			escaped = true
			j += e + 2
			continue
		}
		end := j + k
		if !escaped {
			return b[i+1 : end], end + 1, true
		}
		s, err := jsontext.AppendUnquote(nil, b[i:end+1])
		return s, end + 1, err == nil
	}
	return nil, 0, false
}

// valueEnd returns where the value at i ends: a number, a word, an object or a
// list.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			_, next, ok := stringAt(b, i)
			if !ok {
				return -1
			}
			i = next
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}

func (r *row) text(key []byte) *[]byte {
	switch string(key) {
	case "time":
		return &r.time
	case "host":
		return &r.host
	case "user":
		return &r.user
	case "product":
		return &r.product
	case "kind":
		return &r.kind
	case "action":
		return &r.action
	case "sessionId":
		return &r.session
	case "toolUseId":
		return &r.toolUse
	case "hookEvent":
		return &r.hookEvent
	case "permissionMode":
		return &r.mode
	case "tool":
		return &r.tool
	case "mcpServer":
		return &r.mcp
	case "command":
		return &r.command
	case "target":
		return &r.target
	case "layer":
		return &r.layer
	case "decision":
		return &r.decision
	case "reason":
		return &r.reason
	case "message":
		return &r.message
	case "hookName":
		return &r.hookName
	case "gate":
		return &r.gate
	case "configSha256":
		return &r.config
	case "prev":
		return &r.prev
	case "onFailure":
		return &r.onFailure
	case "evidence":
		return &r.evidence
	}
	return nil
}

func (r *row) value(key, v []byte) {
	number := func(p *int64, has *bool) {
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			*p, *has = n, true
		}
	}
	switch string(key) {
	case "seq":
		r.seq, _ = strconv.ParseUint(string(v), 10, 64) // zero is no number of an event
	case "exitCode":
		number(&r.exit, &r.hasExit)
	case "durationMs":
		number(&r.duration, &r.hasDuration)
	case "deadlineMs":
		number(&r.deadline, &r.hasDeadline)
	case "timedOut":
		r.hasTimedOut, r.timedOut = true, string(v) == "true"
	}
}

// stopped tells whether the event stopped a call before it ran.
func (r *row) stopped() bool {
	d := string(r.decision)
	if d != "blocked" && d != "denied" {
		return false
	}
	switch string(r.hookEvent) {
	case "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Stop", "SubagentStop":
		return false
	}
	return true
}

// ranTool tells whether the event shows that its call ran.
func (r *row) ranTool() bool {
	h := string(r.hookEvent)
	return string(r.kind) == "invocation" && (h == "PostToolUse" || h == "PostToolUseFailure") && len(r.toolUse) > 0
}

// hook returns the name under which a hook is counted: its own, or the command
// line when the host knows no name.
func (r *row) hook() []byte {
	if string(r.kind) != "callback" || len(r.command) == 0 {
		return r.hookName
	}
	event, _, _ := bytes.Cut(r.hookName, []byte(":"))
	if len(r.hookName) == 0 || bytes.Equal(event, r.hookEvent) {
		return r.command
	}
	return r.hookName
}
