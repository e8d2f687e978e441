package answer

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxHandedOn bounds each text that is handed on, in characters. Hosts write
// larger ones to a file and show a part.
const maxHandedOn = 60_000

// texts are the members that people or the model read.
var texts = []string{
	"reason", "stopReason", "systemMessage", "permissionDecisionReason", "additionalContext", "message", "displayContent",
}

// rewrite writes a sound answer afresh: one object, the names that hosts know
// and no others, its texts cleaned. Nil when nothing is left of it.
func (c *Child) rewrite(o, h members) []byte {
	return written(func(e *jsontext.Encoder) bool {
		any := false
		for _, n := range []string{"continue", "stopReason", "suppressOutput", "systemMessage"} {
			any = c.copyMember(e, o, n) || any
		}
		if !h.has("hookEventName") || len(h.names) == 1 {
			return any
		}
		_ = e.WriteToken(jsontext.String("hookSpecificOutput"))
		_ = e.WriteToken(jsontext.BeginObject)
		for _, n := range h.names {
			c.copyMember(e, h, n)
		}
		_ = e.WriteToken(jsontext.EndObject)
		return true
	})
}

// rewriteRefusal writes a refusal in the form that hosts know at events without
// a permission decision.
func (c *Child) rewriteRefusal(v Verdict) []byte {
	if decides(c.Event) {
		return nil
	}
	return written(func(e *jsontext.Encoder) bool {
		if v.Stop {
			_ = e.WriteToken(jsontext.String("continue"))
			_ = e.WriteToken(jsontext.False)
			text(e, "stopReason", cut(v.Message, maxHandedOn))
			return true
		}
		if c.Event == "PreModelSwitch" {
			_ = e.WriteToken(jsontext.String("hookSpecificOutput"))
			_ = e.WriteToken(jsontext.BeginObject)
			text(e, "hookEventName", c.Event)
			text(e, "permissionDecision", "deny")
			text(e, "permissionDecisionReason", cut(v.Message, maxHandedOn))
			_ = e.WriteToken(jsontext.EndObject)
			return true
		}
		text(e, "decision", "block")
		text(e, "reason", cut(v.Message, maxHandedOn))
		return true
	})
}

// written writes an object whose body says whether there is anything in it.
func written(body func(*jsontext.Encoder) bool) []byte {
	var b strings.Builder
	e := jsontext.NewEncoder(&b, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForJS(true))
	_ = e.WriteToken(jsontext.BeginObject)
	any := body(e)
	if e.WriteToken(jsontext.EndObject) != nil || !any {
		return nil
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// copyMember writes the member of that name, and tells whether there is one.
func (c *Child) copyMember(e *jsontext.Encoder, o members, name string) bool {
	if len(o.values[name]) != 1 {
		return false
	}
	v := o.values[name][0]
	if s, ok := str(v); ok && slices.Contains(texts, name) {
		text(e, name, cut(c.Clean(s), maxHandedOn))
		return true
	}
	_ = e.WriteToken(jsontext.String(name))
	if name == "decision" && v.Kind() == '{' {
		d := membersOf(v)
		_ = e.WriteToken(jsontext.BeginObject)
		for _, n := range d.names {
			c.copyMember(e, d, n)
		}
		_ = e.WriteToken(jsontext.EndObject)
		return true
	}
	return e.WriteValue(v) == nil
}

// Context is the object by which plain text that a hook printed goes on to the
// host, at the events whose plain text hosts use. Nil at others.
func Context(name, plain string) []byte {
	member := ""
	switch name {
	case "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SubagentStart", "Setup":
		member = "additionalContext"
	case "WorktreeCreate":
		member = "worktreePath"
	}
	plain = strings.TrimSpace(plain)
	if member == "" || plain == "" {
		return nil
	}
	return object(name, Verdict{}, func(e *jsontext.Encoder) { text(e, member, cut(plain, maxHandedOn)) })
}
