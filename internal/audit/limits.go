package audit

import (
	"fmt"
	"unicode/utf8"
)

const maxSchemaErrors = 10

// limits are the most bytes the encoded form of each field may have, escapes
// included.
type limits struct {
	ids, names, paths, command, target, message, errors int
}

// limitSteps returns the limits to try, the generous ones first. Real events fit
// the first step. The last fits MaxLine whatever the fields hold: 15 ids,
// 12 names, 2 paths and 20 texts of schema errors; a test fills them all.
func limitSteps() []limits {
	return []limits{
		{ids: 256, names: 512, paths: 1024, command: 11 << 10, target: 2048, message: 8192, errors: 512},
		{ids: 256, names: 256, paths: 1024, command: 8 << 10, target: 1024, message: 4096, errors: 160},
		{ids: 256, names: 192, paths: 512, command: 4 << 10, target: 512, message: 2048, errors: 96},
		{ids: 192, names: 128, paths: 320, command: 2 << 10, target: 384, message: 1024, errors: 64},
	}
}

// cutMark stands where text was cut, and says how long it was.
func cutMark(n int) string { return fmt.Sprintf("…[cut, %d bytes]", n) }

// cutEncoded cuts s so that it takes at most limit bytes between the quotes of
// a JSON string, escapes included, and reports whether it had to. A cut falls
// on a rune's boundary, is marked with the length of the original, and never
// splits a mask. force says that the end of the text is missing already.
func cutEncoded(s string, limit, original int, force bool) (string, bool) {
	if len(s)*6 <= limit && !force {
		return s, false // no escape is longer than six bytes for one
	}
	mark := cutMark(original)
	keep, size := 0, 0 // keep is the longest prefix that leaves room for the mark
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		size += encodedLen(r, w)
		if size > limit {
			return trimCut(s[:keep]) + mark, true
		}
		i += w
		if size+len(mark) <= limit {
			keep = i
		}
	}
	if force {
		return trimCut(s[:keep]) + mark, true
	}
	return s, false
}

// trimCut steps back from a cut that would split a mask.
func trimCut(s string) string {
	for n := len(mask) - 1; n > 0; n-- {
		if len(s) >= n && s[len(s)-n:] == mask[:n] {
			return s[:len(s)-n]
		}
	}
	return s
}

// encodedLen is the number of bytes that r takes in a line. w is the number of
// bytes it has in the string.
func encodedLen(r rune, w int) int {
	switch {
	case r == utf8.RuneError && w == 1:
		return len(`\ufffd`)
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == 0x7f:
		return 6
	case r < utf8.RuneSelf:
		return 1
	case Hidden(r) && r > 0xffff:
		return 12
	case Hidden(r):
		return 6
	}
	return w
}
