package export

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
)

// canonical returns a JSON string in the one spelling that we write: what the
// log never shows raw is escaped, and nothing else is but what must be.
func (e *Event) canonical(s []byte) []byte {
	if e.plain && bytes.IndexByte(s, '\\') < 0 || isCanonical(s, e.plain) {
		return s
	}
	at := len(e.spare)
	e.spare = canonical(e.spare, s)
	return e.spare[at:len(e.spare):len(e.spare)]
}

// isCanonical is true only for strings that need no look at their runes. plain
// says that no character needs an escape.
func isCanonical(s []byte, plain bool) bool {
	for i := 1; i < len(s)-1; i++ {
		switch c := s[i]; {
		case c >= 0x7f && !plain:
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
	if isCanonical(s, false) {
		return append(dst, s...)
	}
	plain, _ := jsontext.AppendUnquote(nil, s) // an error is a lone surrogate, now U+FFFD
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
		case audit.Hidden(r):
			dst = audit.AppendEscape(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += w
	}
	return append(dst, '"')
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
