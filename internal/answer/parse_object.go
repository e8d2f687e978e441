package answer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/event"
)

// Members are one JSON object, with all that stands in it: a name that occurs
// twice has two values, since two readers may take either.
type members struct {
	names  []string
	values map[string][]jsontext.Value
	raw    jsontext.Value
}

// lenient reads what hosts read: a name twice, bad UTF-8.
func lenient(b []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// wholeObject reads b as one object with nothing before or after it.
func wholeObject(b []byte) (members, bool) {
	o, end, ok := firstObject(b)
	return o, ok && len(bytes.TrimSpace(b[end:])) == 0
}

// firstObject reads the object that b begins with, and says where it ends. On
// failure, end is how far the reading came.
func firstObject(b []byte) (o members, end int64, ok bool) {
	d := lenient(b)
	if d.PeekKind() != '{' {
		return o, 0, false
	}
	raw, err := d.ReadValue()
	if err != nil {
		return o, d.InputOffset(), false
	}
	return membersOf(raw.Clone()), d.InputOffset(), true
}

func membersOf(raw jsontext.Value) members {
	o := members{values: map[string][]jsontext.Value{}, raw: raw}
	d := lenient(raw)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return o
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return o
		}
		name := t.String()
		v, err := d.ReadValue()
		if err != nil {
			return o
		}
		if o.values[name] == nil {
			o.names = append(o.names, name)
		}
		o.values[name] = append(o.values[name], v.Clone())
	}
	return o
}

// text returns the first value of name that is a string, and whether there is
// one.
func (o members) text(name string) (string, bool) {
	for _, v := range o.values[name] {
		if s, ok := str(v); ok {
			return s, true
		}
	}
	return "", false
}

// says tells whether some value of name is one of these strings.
func (o members) says(name string, words ...string) bool {
	return slices.ContainsFunc(o.values[name], func(v jsontext.Value) bool {
		s, ok := str(v)
		return ok && slices.Contains(words, s)
	})
}

// objects returns the values of name that are objects.
func (o members) objects(name string) []members {
	var all []members
	for _, v := range o.values[name] {
		if v.Kind() == '{' {
			all = append(all, membersOf(v))
		}
	}
	return all
}

// isTrue tells whether some value of name is true.
func (o members) isTrue(name string) bool {
	return slices.ContainsFunc(o.values[name], func(v jsontext.Value) bool { return v.Kind() == 't' })
}

// has tells whether there is a value of name.
func (o members) has(name string) bool { return o.values[name] != nil }

func str(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil && !bytes.ContainsRune(b, '\uFFFD') {
		return "", false
	}
	return string(b), true
}

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

// The names that hosts know, at the top and in hookSpecificOutput. Names that
// are none of them are tolerated and not handed on.
var (
	topNames = []string{
		"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput",
		"permissionDecision", "permissionDecisionReason", "permission",
	}
	hookNames = []string{
		"hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext", "updatedInput", "decision",
	}
)

// faultOf says why an object without a refusal is no valid answer, or "".
func (c *Child) faultOf(o members) string {
	if !o.raw.IsValid(jsontext.AllowInvalidUTF8(true)) {
		return "its answer has a name twice"
	}
	if n := lookalike(o, topNames); n != "" {
		return n
	}
	for _, t := range []struct {
		name  string
		kinds string
	}{
		{"continue", "tf"}, {"suppressOutput", "tf"}, {"stopReason", `"`}, {"systemMessage", `"`}, {"reason", `"`},
		{"hookSpecificOutput", "{"}, {"permissionDecision", `"`}, {"decision", `"`},
	} {
		if f := typeFault(o, t.name, t.kinds); f != "" {
			return f
		}
	}
	if d, ok := o.text("decision"); ok && d != "approve" {
		return fmt.Sprintf("the decision %q is not known", short(d))
	}
	if d, ok := o.text("permissionDecision"); ok && !slices.Contains([]string{"allow", "ask", "defer"}, d) {
		return fmt.Sprintf("the permissionDecision %q is not known", short(d))
	}
	for _, h := range o.objects("hookSpecificOutput") {
		if f := c.specificFault(h); f != "" {
			return f
		}
	}
	return c.foreignFault(o)
}

// specificFault judges hookSpecificOutput.
func (c *Child) specificFault(h members) string {
	if n := lookalike(h, hookNames); n != "" {
		return n
	}
	if f := typeFault(h, "hookEventName", `"`); f != "" {
		return f
	}
	switch name, ok := h.text("hookEventName"); {
	case !ok:
		return "hookSpecificOutput has no hookEventName"
	case name != c.Event:
		return fmt.Sprintf("its answer is for the event %q", short(name))
	}
	for _, t := range []struct{ name, kinds string }{
		{"permissionDecision", `"`}, {"permissionDecisionReason", `"`}, {"additionalContext", `"`}, {"updatedInput", "{"},
	} {
		if f := typeFault(h, t.name, t.kinds); f != "" {
			return f
		}
	}
	if d, ok := h.text("permissionDecision"); ok && !slices.Contains([]string{"allow", "ask", "defer"}, d) {
		return fmt.Sprintf("the permissionDecision %q is not known", short(d))
	}
	if c.Event != event.PermissionRequest {
		return ""
	}
	if h.has("permissionDecision") {
		return "a request is answered by decision.behavior, and permissionDecision is not seen there"
	}
	if f := typeFault(h, "decision", "{"); f != "" {
		return f
	}
	for _, d := range h.objects("decision") {
		if b, _ := d.text("behavior"); b != "allow" {
			return fmt.Sprintf("the behavior %q is not known", short(b))
		}
		for _, t := range []struct{ name, kinds string }{
			{"message", `"`}, {"interrupt", "tf"}, {"updatedInput", "{"}, {"updatedPermissions", "["},
		} {
			if f := typeFault(d, t.name, t.kinds); f != "" {
				return f
			}
		}
	}
	return ""
}

func typeFault(o members, name, kinds string) string {
	for _, v := range o.values[name] {
		if !strings.ContainsRune(kinds, rune(v.Kind())) {
			return fmt.Sprintf("%s has the wrong type", name)
		}
	}
	return ""
}

// lookalike finds a name that is meant to be a known one: a reader who does not
// see it would miss what was said.
func lookalike(o members, known []string) string {
	for _, n := range o.names {
		for _, k := range known {
			if n != k && meant(n, k) {
				return fmt.Sprintf("the name %q is not %q", short(n), k)
			}
		}
	}
	return ""
}

// meant tells whether a name is the other one but for case, "_" and "-". It makes
// no copies: an answer can hold a million names.
func meant(name, known string) bool {
	for _, k := range known {
		name = strings.TrimLeft(name, "_-")
		n, size := utf8.DecodeRuneInString(name)
		if !strings.EqualFold(string(n), string(k)) {
			return false
		}
		name = name[size:]
	}
	return strings.TrimLeft(name, "_-") == ""
}

func short(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
