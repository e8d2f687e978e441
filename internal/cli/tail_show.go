package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// A condition is one field and the values it may have.
type condition struct {
	field  string
	values []string
}

func conditions(where string) ([]condition, error) {
	var all []condition
	if where == "" {
		return nil, nil
	}
	for _, part := range strings.Split(where, ",") {
		field, value, ok := strings.Cut(part, "=")
		if !ok || field == "" {
			return nil, fmt.Errorf("--where %q: a condition is field=value", part)
		}
		all = append(all, condition{field, strings.Split(value, "|")})
	}
	return all, nil
}

func (f *tailFlags) meets(line []byte) bool {
	return gjson.ValidBytes(line) && meets(f.where, line)
}

// meets tells whether an event, which is valid JSON, meets all conditions.
func meets(where []condition, line []byte) bool {
	for _, c := range where {
		v, ok := gjson.GetBytes(line, c.field).String(), false
		for _, want := range c.values {
			ok = ok || v == want
		}
		if !ok {
			return false
		}
	}
	return true
}

func (f *tailFlags) show(s *Stdio, line []byte) error {
	switch {
	case f.query != nil:
		return f.query.show(s, line)
	case f.pretty:
		_, err := fmt.Fprintln(s.Out, s.prettyEvent(gjson.ParseBytes(line)))
		return err
	default:
		// The log holds no raw control character, so the line is safe as it is;
		// a line of somebody else's making is not.
		_, err := fmt.Fprintln(s.Out, printable(string(line)))
		return err
	}
}

// prettyEvent is one event in one line, for people.
func (s *Stdio) prettyEvent(e gjson.Result) string {
	get := func(name string) string { return e.Get(name).String() }
	what := cmp.Or(get("command"), get("target"))
	parts := []string{get("time")}
	if t := parts[0]; len(t) > 19 {
		parts[0] = t[:19]
	}
	decision := get("decision")
	for _, p := range []string{get("kind"), get("hookEvent"), get("tool"), what, get("layer"), decision, get("reason"), get("gate")} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	text := printable(strings.Join(parts, " "))
	if s.Colour() {
		switch decision {
		case "blocked", "denied":
			return "\x1b[31m" + text + "\x1b[0m"
		case "asked", "deferred":
			return "\x1b[33m" + text + "\x1b[0m"
		}
	}
	return text
}
