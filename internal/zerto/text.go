package zerto

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// printable replaces what a terminal or a reader could take for something else:
// control, zero-width and bidirectional characters.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// cut shortens s to at most most bytes, on the boundary of a rune, and marks it.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for s != "" {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s + "…"
}

// quote shows a name that came from outside.
func quote(s string) string { return strconv.Quote(cut(s, 120)) }

// at shows a time of the ZVM.
func at(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

// span shows a duration in whole seconds, upwards.
func span(d time.Duration) string {
	s := int64((d + time.Second - 1) / time.Second)
	switch {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s%60 == 0:
		return fmt.Sprintf("%d min", s/60)
	default:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
}
