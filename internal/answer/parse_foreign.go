package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Names by which other hosts, and hooks written for none, say no: by false, and
// by true. No host of ours takes them for an answer, so the call would run.
var (
	noByFalse = []string{"approve", "approved", "allow", "allowed"}
	noByTrue  = []string{"block", "blocked", "deny", "denied"}
)

// foreignRefusal reads a refusal in the words of another host, at the events
// that take a permission decision. ok tells whether there is one.
func (c *Child) foreignRefusal(o members) (reason string, ok bool) {
	if !decides(c.Event) {
		return "", false
	}
	is := func(name string, kind jsontext.Kind) bool {
		return slices.ContainsFunc(o.values[name], func(v jsontext.Value) bool { return v.Kind() == kind })
	}
	_, why := o.text("reason")
	no := slices.ContainsFunc(noByFalse, func(n string) bool { return is(n, 'f') }) ||
		slices.ContainsFunc(noByTrue, func(n string) bool { return is(n, 't') }) ||
		o.says("action", "block", "deny") ||
		is("ok", 'f') && why // as hooks of the types prompt and agent say it
	if !no {
		return "", false
	}
	for _, n := range []string{"reason", "message", "error"} {
		if s, found := o.text(n); found {
			return s, true
		}
	}
	return "", true
}

// foreignFault says why an object in words that no host of ours knows cannot be
// passed over in silence, or "".
func (c *Child) foreignFault(o members) string {
	if !decides(c.Event) {
		return ""
	}
	for _, n := range o.names {
		if meant(n, "updatedInput") || meant(n, "modifiedArgs") {
			return fmt.Sprintf("%s stands at the top, where the host does not see it, so the call would run as it was", short(n))
		}
	}
	if p, ok := o.text("permission"); ok && p != "allow" && p != "ask" {
		return fmt.Sprintf("the permission %q is not known", short(p))
	}
	known := slices.ContainsFunc(o.names, func(n string) bool { return slices.Contains(topNames, n) })
	for _, v := range o.values["error"] {
		if kind := v.Kind(); !known && (kind == '"' && string(v) != `""` || kind == '{' || kind == 't') {
			text, _ := str(v)
			return strings.TrimSuffix("it is the report of an error: "+short(c.Clean(text)), ": ")
		}
	}
	return ""
}
