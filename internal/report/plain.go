package report

import (
	"strings"

	"github.com/tidwall/gjson"
)

// plain reads a line as the log writes it: one flat object without spaces,
// whole numbers, nested values passed over. It is false when the line is of
// another shape, and the row is then void. Logs are long, and this takes a
// quarter of the time.
func (r *Row) plain(s string) bool {
	if s == "" || s[0] != '{' {
		return false
	}
	for i := 1; ; i++ {
		key, end, ok := quoted(s, i)
		if !ok || strings.IndexByte(key, '\\') >= 0 || end >= len(s) || s[end] != ':' {
			return false
		}
		if i, ok = r.value(s, end+1, key); !ok || i >= len(s) {
			return false
		}
		if s[i] == '}' {
			return i == len(s)-1
		}
		if s[i] != ',' {
			return false
		}
	}
}

// value takes the value that begins at i and returns where it ends.
func (r *Row) value(s string, i int, key string) (end int, ok bool) {
	if i >= len(s) {
		return 0, false
	}
	switch c := s[i]; {
	case c == '"':
		text, end, ok := quoted(s, i)
		if !ok || isNumber(key) {
			return 0, false
		}
		if p := r.text(key); p != nil {
			if *p = text; strings.IndexByte(text, '\\') >= 0 {
				*p = gjson.Parse(s[i:end]).String()
			}
		}
		return end, true
	case c >= '0' && c <= '9' && isNumber(key):
		n, end := int64(0), i
		for ; end < len(s) && s[end] >= '0' && s[end] <= '9'; end++ {
			n = n*10 + int64(s[end]-'0')
		}
		if end-i > 15 {
			return 0, false
		}
		switch key {
		case "seq":
			r.Seq = uint64(n)
		case "exitCode":
			r.ExitCode, r.HasExit = n, true
		case "durationMs":
			r.DurationMs, r.HasDuration = n, true
		case "deadlineMs":
			r.DeadlineMs, r.HasDeadline = n, true
		}
		return end, true
	case key == "timedOut" && strings.HasPrefix(s[i:], "true"):
		r.TimedOut, r.HasTimedOut = true, true
		return i + 4, true
	case key == "timedOut" && strings.HasPrefix(s[i:], "false"):
		r.TimedOut, r.HasTimedOut = false, true
		return i + 5, true
	case key == "timedOut" || isNumber(key) || r.text(key) != nil:
		return 0, false // not of the type that the log writes
	default:
		return other(s, i)
	}
}

func isNumber(key string) bool {
	return key == "seq" || key == "exitCode" || key == "durationMs" || key == "deadlineMs"
}

// quoted returns the text between the quotes at i, escapes as they stand, and
// where it ends.
func quoted(s string, i int) (text string, end int, ok bool) {
	if i >= len(s) || s[i] != '"' {
		return "", 0, false
	}
	for j := i + 1; ; j++ {
		n := strings.IndexByte(s[j:], '"')
		if n < 0 {
			return "", 0, false
		}
		j += n
		slashes := 0
		for s[j-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return s[i+1 : j], j + 1, true
		}
	}
}

// other passes over a value that no report needs.
func other(s string, i int) (end int, ok bool) {
	switch c := s[i]; {
	case c == '-' || c >= '0' && c <= '9':
		for i < len(s) && strings.IndexByte("+-.0123456789Ee", s[i]) >= 0 {
			i++
		}
		return i, true
	case c != '{' && c != '[':
		for _, word := range []string{"true", "false", "null"} {
			if strings.HasPrefix(s[i:], word) {
				return i + len(word), true
			}
		}
		return 0, false
	}
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			if _, i, ok = quoted(s, i); !ok {
				return 0, false
			}
			i--
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}
