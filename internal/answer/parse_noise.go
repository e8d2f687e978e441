package answer

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of the search for a refusal in noise. Beyond them the output stays a
// fault, which blocks.
const (
	maxWords  = 256      // places that look like a refusal
	maxBraces = 8        // objects that may begin before each
	maxWork   = 32 << 20 // bytes read again for that
)

// said are the words of a refusal: a name, and how its value begins.
var said = []struct{ name, value string }{
	{`permissionDecision"`, `"deny"`},
	{`decision"`, `"block"`},
	{`decision"`, `"deny"`},
	{`behavior"`, `"deny"`},
	{`permission"`, `"deny"`},
	{`continue"`, `false`},
}

// scan looks for a refusal in output that is not one object: behind a banner,
// before one, between others, in a list. Only a complete object counts; one that
// was cut off is a fault.
func (c *Child) scan(b []byte) (refusal, bool) {
	work := maxWork
	words := 0
	for from := 0; words < maxWords; words++ {
		at, after := nextWord(b, from)
		if at < 0 {
			break
		}
		if r, ok := c.around(b, at, &work); ok {
			return r, true
		}
		from = after
	}
	return refusal{}, false
}

// nextWord finds the next place at which a refusal is spelled.
func nextWord(b []byte, from int) (at, after int) {
	for i := from; i < len(b); i++ {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return -1, 0
		}
		i += q
		for _, w := range said {
			rest, ok := bytes.CutPrefix(b[i+1:], []byte(w.name))
			if !ok {
				continue
			}
			rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
			if !ok {
				continue
			}
			if bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(w.value)) {
				return i, i + 1
			}
		}
	}
	return -1, 0
}

// around reads the objects that may hold the word at a place, the outermost
// first, since that one says which event it is about and why.
func (c *Child) around(b []byte, at int, work *int) (refusal, bool) {
	braces := make([]int, 0, maxBraces)
	for i := at; i > 0 && len(braces) < maxBraces; {
		i = bytes.LastIndexByte(b[:i], '{')
		if i < 0 {
			break
		}
		braces = append(braces, i)
	}
	for i := len(braces) - 1; i >= 0 && *work > 0; i-- {
		start := braces[i]
		o, end, ok := firstObject(b[start:])
		*work -= int(end) + 64
		if !ok || start+int(end) <= at {
			continue
		}
		if !o.has("hookSpecificOutput") && (o.has("hookEventName") || bytes.HasSuffix(bytes.TrimRight(b[:start], " \t\r\n:"), []byte(`"hookSpecificOutput"`))) {
			continue // the inner part of an answer that was cut off
		}
		if o.has("hook_event_name") && o.has("session_id") {
			return refusal{}, false // an event that was printed, with words of the model in it
		}
		if r, ok := c.refuses(o); ok {
			return r, true
		}
		if foreign := o.objects("hookSpecificOutput"); len(foreign) > 0 && foreign[0].has("hookEventName") {
			return refusal{}, false // it is about another event
		}
	}
	return refusal{}, false
}

// answerNames are names that nothing but an answer has.
var answerNames = []string{`"permissionDecision"`, `"hookSpecificOutput"`, `"hookEventName"`, `"decision"`, `"continue"`, `"suppressOutput"`}

// attempt tells whether output that is not one object tries to be an answer.
// What merely has brackets in it, such as "[INFO] 3 files {a,b}", does not.
func attempt(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 { // a wider encoding, perhaps: read it as its ASCII
		b = bytes.ReplaceAll(b, []byte{0}, nil)
		b = bytes.TrimLeft(b, "\xff\xfe")
	}
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return false
	}
	if b[0] == '{' || isList(b) || string(b) == "[object Object]" { // what JavaScript makes of an object in a text
		return true
	}
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], '{')
		if j < 0 {
			break
		}
		i += j
		if lineStart(b, i) && opensObject(b[i:]) {
			return true
		}
		i++
	}
	for _, n := range answerNames {
		for rest := b; ; {
			_, after, ok := bytes.Cut(rest, []byte(n))
			if !ok {
				break
			}
			if rest = bytes.TrimLeft(after, " \t\r\n"); bytes.HasPrefix(rest, []byte(":")) {
				return true
			}
		}
	}
	if brace := bytes.IndexByte(b, '{'); brace >= 0 {
		return bytes.Contains(b[brace:], []byte("hookSpecificOutput")) || bytes.Contains(b[brace:], []byte("permissionDecision")) || printed(b[brace:])
	}
	return false
}

// printed tells whether the member "decision" of an object stands in b as a
// program prints it that writes no JSON: in single quotes, or in none.
func printed(b []byte) bool {
	for rest := b; ; {
		before, after, ok := bytes.Cut(rest, []byte("decision"))
		if !ok {
			return false
		}
		rest = after
		before = bytes.TrimRight(bytes.TrimSuffix(before, []byte("'")), " \t\r\n")
		after = bytes.TrimLeft(bytes.TrimPrefix(after, []byte("'")), " \t\r\n")
		if len(before) > 0 && (before[len(before)-1] == '{' || before[len(before)-1] == ',') && bytes.HasPrefix(after, []byte(":")) {
			return true
		}
	}
}

// isList tells whether b is a list, or begins like a list of objects or strings.
func isList(b []byte) bool {
	if b[0] != '[' {
		return false
	}
	if jsontext.Value(b).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
		return true
	}
	rest := bytes.TrimLeft(b[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == '"')
}

// lineStart tells whether nothing but blanks stands between i and the line's
// beginning.
func lineStart(b []byte, i int) bool {
	for i--; i >= 0; i-- {
		switch b[i] {
		case '\n', '\r':
			return true
		case ' ', '\t':
		default:
			return false
		}
	}
	return true
}

// opensObject tells whether b begins like an object.
func opensObject(b []byte) bool {
	rest := bytes.TrimLeft(b[1:], " \t\r\n")
	return len(rest) == 0 || rest[0] == '"' || rest[0] == '\'' || rest[0] == '}'
}
