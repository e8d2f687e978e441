package guard

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// twin finds a name in the input that differs only in case from one on the path,
// and says so, or returns "". A server that does not mind case, such as many that
// decode with Go's encoding/json, takes the one, and the guard the other: two
// readers would see two calls.
func twin(input []byte, path string) string {
	if path == "" {
		return ""
	}
	return twinIn(gjson.ParseBytes(input), segments(path))
}

func twinIn(v gjson.Result, path []string) (found string) {
	if len(path) == 0 {
		return ""
	}
	name, rest := path[0], path[1:]
	switch {
	case v.IsArray():
		if name[0] != '#' && strings.Trim(name, "0123456789") != "" {
			return "" // no element has this name
		}
		v.ForEach(func(_, e gjson.Result) bool {
			found = twinIn(e, rest) // of each element, whichever is meant
			return found == ""
		})
	case v.IsObject():
		glob := strings.ContainsAny(name, "*?")
		v.ForEach(func(k, e gjson.Result) bool {
			switch {
			case glob || k.Str == name:
				found = twinIn(e, rest)
			case strings.EqualFold(k.Str, name):
				found = fmt.Sprintf("the argument %s differs from %s only in case, and the tool may take either", Shown(k.Str), Shown(name))
			}
			return found == ""
		})
	}
	return found
}

// segments splits a gjson path into names. What is no name (modifiers, queries)
// matches none, so that nothing is looked at behind it; a query over a list is
// taken for the list's elements.
func segments(path string) []string {
	var all []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			all = append(all, b.String())
			b.Reset()
		}
	}
	depth := 0
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			b.WriteByte(path[i])
		case c == '(' || c == '[' || c == '{':
			depth++
			b.WriteByte(c)
		case c == ')' || c == ']' || c == '}':
			depth--
			b.WriteByte(c)
		case (c == '.' || c == '|') && depth <= 0:
			end()
		default:
			b.WriteByte(c)
		}
	}
	end()
	return all
}
