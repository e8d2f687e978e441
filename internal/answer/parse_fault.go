package answer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/event"
)

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
