package export

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
)

// The walkers below take JSON that is known to be valid, and so cannot fail.

// members calls fn with each name, quotes included, and value of an object, and
// ends with fn's first error.
func members(raw []byte, fn func(name, value []byte) error) error {
	for i := blank(raw, 1); raw[i] != '}'; {
		end := skip(raw, i)
		name := raw[i:end]
		i = blank(raw, blank(raw, end)+1) // behind the colon
		end = skip(raw, i)
		if err := fn(name, raw[i:end]); err != nil {
			return err
		}
		i = next(raw, end)
	}
	return nil
}

// elements calls fn with each element of a list.
func elements(raw []byte, fn func([]byte) error) error {
	for i := blank(raw, 1); raw[i] != ']'; {
		end := skip(raw, i)
		if err := fn(raw[i:end]); err != nil {
			return err
		}
		i = next(raw, end)
	}
	return nil
}

// next returns where the next member begins, or the end of the object.
func next(raw []byte, i int) int {
	if i = blank(raw, i); raw[i] == ',' {
		return blank(raw, i+1)
	}
	return i
}

func blank(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r' {
		i++
	}
	return i
}

func trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }

// skip returns the end of the value that begins at i.
func skip(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
	default:
		for i < len(raw) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' && raw[i] > ' ' {
			i++
		}
		return i
	}
	for depth := 0; ; i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

func skipString(raw []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(raw[i:], '"')
		slashes := 0
		for raw[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// canonical returns a JSON string in the one spelling that we write: what the
// log never shows raw is escaped, and nothing else is but what must be.
func (e *Event) canonical(s []byte) []byte {
	if isCanonical(s) {
		return s
	}
	at := len(e.spare)
	e.spare = canonical(e.spare, s)
	return e.spare[at:len(e.spare):len(e.spare)]
}

// isCanonical is true only for strings that need no look at their runes.
func isCanonical(s []byte) bool {
	for i := 1; i < len(s)-1; i++ {
		switch c := s[i]; {
		case c >= 0x7f:
			return false
		case c == '\\':
			if i++; s[i] == 'u' || s[i] == '/' {
				return false
			}
		}
	}
	return true
}

// canonical appends the JSON string s in canonical spelling.
func canonical(dst, s []byte) []byte {
	if isCanonical(s) {
		return append(dst, s...)
	}
	plain, _ := jsontext.AppendUnquote(nil, s) // valid, so there is no error
	return quote(dst, plain)
}

// quote appends valid UTF-8 as a canonical JSON string.
func quote(dst, s []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, w := utf8.DecodeRune(s[i:])
		switch {
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r == '\b':
			dst = append(dst, '\\', 'b')
		case r == '\f':
			dst = append(dst, '\\', 'f')
		case r > 0xffff && audit.Hidden(r):
			hi, lo := utf16.EncodeRune(r)
			dst = appendEscape(appendEscape(dst, hi), lo)
		case audit.Hidden(r):
			dst = appendEscape(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += w
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// appendClean appends any JSON value, its strings canonical, without what is
// empty or null; nothing for a value that is so itself. Numbers that not every
// reader can hold become strings.
func appendClean(dst, raw []byte) []byte {
	before := len(dst)
	switch raw[0] {
	case 'n':
	case '"':
		if len(raw) > len(`""`) {
			dst = canonical(dst, raw)
		}
	case '{':
		dst = append(dst, '{')
		_ = members(raw, func(name, value []byte) error {
			at := comma(&dst)
			dst = append(canonical(dst, name), ':')
			n := len(dst)
			if dst = appendClean(dst, value); len(dst) == n {
				dst = dst[:at]
			}
			return nil
		})
		return endClean(dst, before, '}')
	case '[':
		dst = append(dst, '[')
		_ = elements(raw, func(value []byte) error {
			at := comma(&dst)
			n := len(dst)
			if dst = appendClean(dst, value); len(dst) == n {
				dst = dst[:at]
			}
			return nil
		})
		return endClean(dst, before, ']')
	case 't', 'f':
		dst = append(dst, raw...)
	default:
		if !fits(raw) {
			return append(append(append(dst, '"'), raw...), '"')
		}
		dst = append(dst, raw...)
	}
	return dst
}

// comma appends a comma unless it is the first member's place, and returns where
// it stands.
func comma(dst *[]byte) (at int) {
	b := *dst
	at = len(b)
	if c := b[at-1]; c != '{' && c != '[' {
		*dst = append(b, ',')
	}
	return at
}

func endClean(dst []byte, before int, end byte) []byte {
	if len(dst) == before+1 {
		return dst[:before]
	}
	return append(dst, end)
}

// fits tells whether a number is an integer of 64 bits or a finite float.
func fits(raw []byte) bool {
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return true
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && !math.IsInf(n, 0) && bytes.ContainsAny(raw, ".eE")
}

// key makes a name that every format takes, of what stands between the quotes of
// a canonical JSON string: letters and digits stay, and other bytes become _ and
// two hexadecimal digits, so that two names never become one.
func key(name []byte) string {
	const hex = "0123456789ABCDEF"
	if len(name) == 0 {
		return "_"
	}
	out := make([]byte, 0, len(name))
	for _, c := range name {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			out = append(out, c)
		} else {
			out = append(out, '_', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}

// An object builds JSON objects, one in the other, and leaves out what is empty.
type object struct{ b []byte }

// open begins an object; close ends it, and takes it back when nothing is in it.
func (o *object) open(name string) (at int) {
	at = comma(&o.b)
	o.name(name)
	o.b = append(o.b, '{')
	return at
}

func (o *object) close(at int) {
	if o.b[len(o.b)-1] == '{' {
		o.b = o.b[:at]
		return
	}
	o.b = append(o.b, '}')
}

func (o *object) name(name string) {
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

// json writes a member whose value is JSON; nil writes nothing.
func (o *object) json(name string, value []byte) {
	if value == nil {
		return
	}
	comma(&o.b)
	o.name(name)
	o.b = append(o.b, value...)
}

// word writes a member with a text of ours that needs no escapes.
func (o *object) word(name, value string) {
	comma(&o.b)
	o.name(name)
	o.b = append(o.b, '"')
	o.b = append(o.b, value...)
	o.b = append(o.b, '"')
}

func (o *object) int(name string, n int64) {
	comma(&o.b)
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// list writes a member that is a list of the values that are not nil.
func (o *object) list(name string, values ...[]byte) {
	at := comma(&o.b)
	o.name(name)
	o.b = append(o.b, '[')
	for _, v := range values {
		if v != nil {
			comma(&o.b)
			o.b = append(o.b, v...)
		}
	}
	if o.b[len(o.b)-1] == '[' {
		o.b = o.b[:at]
		return
	}
	o.b = append(o.b, ']')
}

// asText returns a JSON value as a JSON string: a string is itself, others are
// quoted as they stand.
func asText(v []byte) []byte {
	if v[0] == '"' {
		return v
	}
	return quote(nil, v)
}
