package answer

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/event"
)

// A refusal is a no, in whatever shape it came.
type refusal struct {
	reason     string
	stop       bool // {"continue": false} was said
	stopReason string
	interrupt  bool // the request's denial is to end the run
}

// refuses looks for a refusal in one object, in every shape that some host has
// known. What is said about another event is not one.
func (c *Child) refuses(o members) (refusal, bool) {
	var r refusal
	no := false
	say := func(o members, names ...string) {
		no = true
		for _, n := range names {
			if s, ok := o.text(n); ok && r.reason == "" {
				r.reason = s
			}
		}
	}
	for _, h := range append(o.objects("hookSpecificOutput"), o) {
		if h.has("hookEventName") && !h.says("hookEventName", c.Event) {
			continue
		}
		if h.says("permissionDecision", "deny") || h.says("decision", "block", "deny") {
			say(h, "permissionDecisionReason", "reason", "message")
		}
		for _, d := range append(h.objects("decision"), h) {
			if d.says("behavior", "deny") {
				say(d, "message", "reason")
				r.interrupt = r.interrupt || d.isTrue("interrupt")
			}
		}
		if h.says("permission", "deny") { // as Cursor's hooks say it
			say(h, "agentMessage", "agent_message", "userMessage", "user_message", "reason")
		}
	}
	if slices.ContainsFunc(o.values["continue"], func(v jsontext.Value) bool { return v.Kind() == 'f' }) {
		r.stop = true
		r.stopReason, _ = o.text("stopReason")
		say(o, "stopReason", "reason")
	}
	if why, ok := c.foreignRefusal(o); ok {
		no = true
		if r.reason == "" {
			r.reason = why
		}
	}
	if no && r.reason == "" {
		for _, n := range []string{"reason", "stopReason", "systemMessage"} {
			if s, ok := o.text(n); ok && r.reason == "" {
				r.reason = s
			}
		}
	}
	return r, no
}

// judge reads an output that is exactly one object.
func (c *Child) judge(o members) Said {
	if r, ok := c.refuses(o); ok {
		return c.refused(r)
	}
	nothing := Said{Verdict: Verdict{Decision: NoDecision}}
	if o.has("hook_event_name") && o.has("session_id") {
		return nothing // the event itself, given back: it decides nothing and is not handed on
	}
	if fault := c.faultOf(o); fault != "" {
		if r, ok := c.scan(o.raw[1 : len(o.raw)-1]); ok {
			return c.refused(r)
		}
		nothing.Fault = fault
		return nothing
	}
	if !slices.ContainsFunc(o.names, func(n string) bool { return slices.Contains(topNames, n) }) {
		// Not one word that a host knows: perhaps an answer in a wrapping.
		if r, ok := c.scan(o.raw[1 : len(o.raw)-1]); ok {
			return c.refused(r)
		}
		return nothing
	}
	return c.accepted(o)
}

// accepted takes what a sound object says.
func (c *Child) accepted(o members) Said {
	s := Said{Verdict: Verdict{Decision: NoDecision}}
	s.SystemMessage = c.clean(o, "systemMessage")
	var h members
	if all := o.objects("hookSpecificOutput"); len(all) > 0 {
		h = all[0]
	}
	word, _ := h.text("permissionDecision")
	if d := h.objects("decision"); c.Event == event.PermissionRequest && len(d) > 0 {
		word, _ = d[0].text("behavior")
	}
	why := c.clean(h, "permissionDecisionReason")
	if word == "" || word == "allow" {
		// Another place for the same word holds a call back, and widens nothing.
		if old, _ := o.text("permissionDecision"); old == "ask" || old == "defer" {
			word, why = old, c.clean(o, "permissionDecisionReason")
		} else if decides(c.Event) && o.says("permission", "ask") { // as Cursor's hooks say it
			word, why = "ask", c.clean(o, "user_message")
		}
	}
	switch word {
	case "allow":
		s.Decision = Allow
	case "ask":
		s.Decision = Ask
	case "defer":
		s.Decision = Defer
	}
	s.Message = strings.TrimSpace(why)
	if s.Decision == Ask && s.Message == "" {
		s.Message = "The hook wants a person to decide."
	}
	s.Context = c.clean(h, "additionalContext")
	if v := h.values["updatedInput"]; len(v) == 1 {
		s.UpdatedInput = v[0]
	}
	s.Object = c.rewrite(o, h)
	return s
}

func (c *Child) clean(o members, name string) string {
	s, _ := o.text(name)
	return c.Clean(s)
}
