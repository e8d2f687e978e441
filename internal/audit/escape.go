package audit

import (
	"fmt"
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
			b.Write(appendEscape(nil, r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeLine replaces what the JSON encoder leaves raw and hidden calls so. The
// encoder has dealt with ASCII and with invalid UTF-8.
func escapeLine(line []byte) []byte {
	i := 0
	for i < len(line) && line[i] < utf8.RuneSelf {
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
		case r >= utf8.RuneSelf && Hidden(r):
			out = appendEscape(out, r)
		default:
			out = append(out, line[i:i+w]...)
		}
		i += w
	}
	return out
}

func appendEscape(dst []byte, r rune) []byte {
	if r > 0xffff {
		hi, lo := utf16.EncodeRune(r)
		return fmt.Appendf(dst, `\u%04x\u%04x`, hi, lo)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}
