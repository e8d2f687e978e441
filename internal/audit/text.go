package audit

import (
	"unicode/utf8"
)

// margin is how much more than wanted is looked at, so that what stands behind
// a cut can still tell what stands before it.
const margin = 4 << 10

// Text returns s redacted and cut to at most limit bytes. A cut falls on a rune's
// boundary and is marked with the length of the original. Only the beginning of
// a long s is looked at, so its cost does not grow with s.
func Text(s string, limit int) string {
	t, dropped := clip(s, limit)
	if !dropped && len(t) <= limit {
		return t
	}
	mark := cutMark(len(s))
	if limit < len(mark) {
		return trimCut(prefix(t, limit))
	}
	return trimCut(prefix(t, limit-len(mark))) + mark
}

// clip returns the redacted beginning of s, which may be a little longer than
// limit, and whether anything of s behind it was dropped.
//
// It masks first and cuts afterwards. What it looks at ends at a blank or a
// quote, so the window's own end cannot leave half a token that is too short to
// be recognised; without a blank near its end, the last word goes as a whole.
func clip(s string, limit int) (string, bool) {
	window := max(limit, 0) + margin
	if len(s) <= window {
		return Redact(s), false
	}
	return Redact(s[:lastBlank(s, window)]), true
}

// lastBlank returns the last place at or before n where a word of s ends.
func lastBlank(s string, n int) int {
	for n > 0 {
		switch s[n-1] {
		case ' ', '\t', '\n', '\r':
			return n
		}
		n--
	}
	return 0
}

// prefix returns at most n bytes of s, ending on a rune's boundary.
func prefix(s string, n int) string {
	if n >= len(s) {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
