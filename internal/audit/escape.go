package audit

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden tells whether r is never shown or written raw: control characters, and
// all that is invisible, turns the direction of text, or ends a line somewhere.
func Hidden(r rune) bool {
	switch {
	case r < 0x20 || (r >= 0x7f && r <= 0x9f):
		return true
	case r < 0xad:
		return false
	case r&0xfffe == 0xfffe || (r >= 0xfdd0 && r <= 0xfdef) || r >= 0xe0000 && r <= 0xe0fff:
		return true // no characters; tags
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Printable returns s safe to show on a terminal: characters that would move
// the cursor, hide, or turn the text's direction are shown as \u escapes, line
// ends and tabs as \n, \r and \t, and invalid UTF-8 as U+FFFD.
func Printable(s string) string {
	clean := true
	for _, r := range s {
		if Hidden(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case Hidden(r):
			b.Write(AppendEscape(nil, r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// EscapeJSON returns the JSON text with \u escapes in the place of what its
// encoder left raw and no terminal may get: DEL, and what is invisible or turns
// the text's direction. It means the same as before.
func EscapeJSON(line []byte) []byte {
	const del = 0x7f
	i := 0
	for i < len(line) && line[i] < del {
		i++
	}
	if i == len(line) {
		return line
	}
	out := append(make([]byte, 0, len(line)+64), line[:i]...)
	for i < len(line) {
		r, w := utf8.DecodeRune(line[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			out = append(out, `\ufffd`...)
		case r >= del && Hidden(r):
			out = AppendEscape(out, r)
		default:
			out = append(out, line[i:i+w]...)
		}
		i += w
	}
	return out
}

// AppendEscape appends r as JSON escapes, two of them when it needs them.
func AppendEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	if r > 0xffff {
		hi, lo := utf16.EncodeRune(r)
		return AppendEscape(AppendEscape(dst, hi), lo)
	}
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
