package ship

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// cutMark stands at the end of a string that was cut.
const cutMark = "…"

// minCut is the length to which strings are cut before fields are left out.
const minCut = 64

// droppable are the fields that a shortened event may lose, the least needed
// first. What is not named here is the core: who, when, what was decided and
// why, and the place in the chain.
var droppable = [...]string{
	"schemaErrors", "transcriptPath", "cwd", "target", "command", "checkpoint", "message", "evidence",
	"configSha256", "promptId", "agentId", "permissionMode", "deadlineMs", "durationMs", "mcpServer",
	"hookName", "onFailure", "input", "product", "user",
}

type field struct {
	name string
	raw  jsontext.Value
	cut  bool // an uncut string
}

// shorten returns an event of at most limit bytes that says the same as line in
// less words, marked with "truncated": true. It is false when not even the core
// fits.
func shorten(line []byte, limit int) ([]byte, bool) {
	fields, ok := split(line)
	if !ok {
		return nil, false
	}
	fields = mark(fields)
	for size(fields) > limit {
		i := longest(fields)
		if i < 0 {
			break
		}
		s, err := jsontext.AppendUnquote(nil, fields[i].raw)
		if err != nil {
			return nil, false
		}
		over := size(fields) - limit
		// What is over, in bytes as they are written; escapes are longer than
		// what they stand for, so this may take a second round.
		keep := max(minCut, len(s)-len(cutMark)-(over*len(s)+len(fields[i].raw)-1)/len(fields[i].raw))
		if keep >= len(s) {
			fields[i].cut = false
			continue
		}
		raw, err := jsontext.AppendQuote(nil, cutRunes(string(s), keep)+cutMark)
		if err != nil {
			return nil, false
		}
		fields[i].raw = raw
		fields[i].cut = keep > minCut
	}
	for _, name := range droppable {
		if size(fields) <= limit {
			break
		}
		if name == "message" { // always present in an event
			for i := range fields {
				if fields[i].name == name {
					fields[i].raw = jsontext.Value(`""`)
				}
			}
			continue
		}
		fields = slices.DeleteFunc(fields, func(f field) bool { return f.name == name })
	}
	if size(fields) > limit {
		return nil, false
	}
	return join(fields), true
}

// split reads the members of an object without looking into their values.
func split(line []byte) ([]field, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	var out []field
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		f := field{name: name.String()}
		v, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		f.raw = v.Clone()
		f.cut = f.raw.Kind() == '"' && slices.Contains(droppable[:], f.name) && f.name != "configSha256"
		out = append(out, f)
	}
	return out, true
}

func mark(fields []field) []field {
	for i := range fields {
		if fields[i].name == "truncated" {
			fields[i].raw = jsontext.Value("true")
			return fields
		}
	}
	return append(fields, field{name: "truncated", raw: jsontext.Value("true")})
}

func longest(fields []field) int {
	best := -1
	for i, f := range fields {
		if f.cut && len(f.raw) > minCut+len(cutMark)+2 && (best < 0 || len(f.raw) > len(fields[best].raw)) {
			best = i
		}
	}
	return best
}

func size(fields []field) int {
	n := 2
	for i, f := range fields {
		n += len(f.name) + 3 + len(f.raw)
		if i > 0 {
			n++
		}
	}
	return n
}

func join(fields []field) []byte {
	var b bytes.Buffer
	b.Grow(size(fields))
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(f.name)
		b.WriteString(`":`)
		b.Write(f.raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func cutRunes(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], "\x00")
}
