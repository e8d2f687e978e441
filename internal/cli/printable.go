package cli

import (
	"strconv"
	"strings"
	"unicode"
)

// printable shows text from files and models on one line: control characters,
// bidirectional and invisible ones are escaped, so that they cannot move a
// terminal's cursor or hide a word.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
