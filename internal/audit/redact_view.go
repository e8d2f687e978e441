package audit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unescaped returns s as another reader might see it: \u0061, \x61, %61 and
// &quot; as what they stand for, invisible characters left out, and signs that
// look alike as the plain one. Blanks and printable ASCII only come of it.
func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '&') < 0 &&
		run(s, 0, func(c byte) bool { return c < utf8.RuneSelf }) == len(s) {
		return s // nearly every text
	}
	var b strings.Builder
	from := 0 // what stands here is not written yet
	for at := 0; at < len(s); {
		if c := s[at]; c < utf8.RuneSelf && c != '\\' && c != '%' && c != '&' {
			at++
			continue
		}
		r, n, size := seen(s[at:])
		if n == 0 {
			at += size
			continue
		}
		b.WriteString(s[from:at])
		if r != 0 {
			b.WriteRune(r)
		}
		at += n
		from = at
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// seen returns what the n bytes that s begins with stand for, or zero for n when
// they stand for themselves. There are size bytes to go on behind then.
func seen(s string) (r rune, n, size int) {
	var c byte
	switch s[0] {
	case '\\':
		c, n = backslashed(s)
	case '%':
		c, n = twoHex(s, 1)
	case '&':
		c, n = entity(s)
	default:
		given, size := utf8.DecodeRuneInString(s)
		if r = plainRune(given); r == given || given == utf8.RuneError {
			return 0, 0, size
		}
		return r, size, size
	}
	return rune(c), n, 1
}

// backslashed reads \u0061 and \x61, behind however many backslashes.
func backslashed(s string) (byte, int) {
	n := run(s[:min(len(s), 16)], 0, func(c byte) bool { return c == '\\' })
	switch {
	case strings.HasPrefix(s[n:], "u00"):
		return twoHex(s, n+3)
	case strings.HasPrefix(s[n:], "x"):
		return twoHex(s, n+1)
	}
	return 0, 0
}

// twoHex reads the printable character of the two digits at n, and returns
// where they end.
func twoHex(s string, n int) (byte, int) {
	if n+2 > len(s) || !isHex(s[n]|0x20) || !isHex(s[n+1]|0x20) {
		return 0, 0
	}
	digit := func(c byte) byte {
		if c |= 0x20; c >= 'a' {
			return c - 'a' + 10
		}
		return c & 0xf
	}
	c := digit(s[n])<<4 | digit(s[n+1])
	if c < 0x20 || c > 0x7e {
		return 0, 0
	}
	return c, n + 2
}

func entity(s string) (byte, int) {
	for _, e := range [...]struct {
		text string
		is   byte
	}{{"&quot;", '"'}, {"&#34;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}, {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}} {
		if strings.HasPrefix(s, e.text) {
			return e.is, len(e.text)
		}
	}
	return 0, 0
}

// plainRune returns the plain sign that looks like r, zero for what cannot be
// seen, and r itself otherwise.
func plainRune(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e: // full width
		return r - 0xff01 + '!'
	case r == '“' || r == '”' || r == '„':
		return '"'
	case r == '‘' || r == '’':
		return '\''
	case r == 'ñ':
		return 'n'
	case unicode.Is(unicode.Zs, r):
		return ' '
	case Hidden(r):
		return 0
	}
	return r
}
