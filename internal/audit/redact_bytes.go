package audit

import "strings"

// skipBlank skips blanks, and line ends that a shell does not see.
func skipBlank(s string, i int) int {
	for {
		i = run(s, i, func(c byte) bool { return c == ' ' || c == '\t' })
		switch {
		case i == len(s) || s[i] != '\\':
			return i
		case strings.HasPrefix(s[i:], "\\\n"):
			i += len("\\\n")
		case strings.HasPrefix(s[i:], "\\\r\n"):
			i += len("\\\r\n")
		default:
			return i
		}
	}
}

func backslashes(s string, i int) int {
	return run(s, i, func(c byte) bool { return c == '\\' }) - i
}

// run returns the end of the bytes from i on that are all of a kind.
func run(s string, i int, is func(byte) bool) int {
	for i < len(s) && is(s[i]) {
		i++
	}
	return i
}

func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isWord(c byte) bool   { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }
func isKeyByte(c byte) bool {
	return isWord(c) || c == '-' || c == '.'
}
func isBase64(c byte) bool { return isWord(c) && c != '_' || c == '+' || c == '/' || c == '=' }
func isTokenByte(c byte) bool {
	return isWord(c) || c == '-' || c == '.' || c == '+' || c == '/' || c == '=' || c == '~'
}
