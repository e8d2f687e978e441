package audit

import "strings"

// Whoever writes a command writes its secrets, too. So a mask must not swallow what
// a shell would run behind them: the log would be blind there.

// keyMaterial is how long a run of base64 is that is taken for a part of a key.
const keyMaterial = 16

// closesQuote tells whether the quote at v ends a string in which the name at at
// stands, such as "Enter password:" && …, and begins no value.
func closesQuote(s string, at, v int) bool {
	if v+1 < len(s) && strings.IndexByte(" \t\n\r;&|)", s[v+1]) < 0 {
		return false
	}
	before := s[max(0, at-maxToken):at]
	if line := strings.LastIndexByte(before, '\n'); line >= 0 {
		before = before[line+1:]
	} else if len(before) < at {
		return true // the line is too long to count, and values begin with no blank
	}
	return strings.Count(before, s[v:v+1])%2 == 1
}

// anotherCommand tells whether the sign at i, on the line of a header, ends a
// command and not a part of the header.
func anotherCommand(s string, i int) bool {
	if i+1 >= len(s) {
		return false
	}
	rest := s[i+1 : min(len(s), i+1+maxToken)]
	switch {
	case s[i] == ';' && rest[0] == ' ':
		return !cookiePair(rest[1:])
	case s[i] != ';' && (rest[0] == ' ' || rest[0] == s[i] || i > 0 && s[i-1] == ' '): // | and &
		return true
	}
	word := run(rest, 0, func(c byte) bool { return c > ' ' && c != ';' && c != '=' })
	return word > 0 && word < len(rest) && rest[word] == ' ' && rest[word-1] != ','
}

// cookiePair tells whether s begins with NAME=VALUE or an attribute, alone or in
// front of another one.
func cookiePair(s string) bool {
	n := run(s, 0, func(c byte) bool { return c > ' ' && c != ';' && !isQuote(c) })
	if n < len(s) && s[n] == ' ' {
		return false
	}
	switch strings.ToLower(s[:n]) {
	case "httponly", "secure", "partitioned":
		return true
	}
	return strings.IndexByte(s[:n], '=') > 0
}

// keyText returns where the text of a key ends that begins at i: base64 in long
// runs, the last of which may be short where its end is plain, and headers.
func keyText(s string, i int) (end int) {
	end = i
	for long := false; i < len(s); {
		if c := s[i]; c == '\\' {
			i += backslashes(s, i)
			if i < len(s) && (s[i] == 'n' || s[i] == 'r') {
				i++
			}
			continue
		} else if strings.IndexByte(" \t\r\n\"'`>|,", c) >= 0 {
			i++
			continue
		}
		if n := headerOfKey(s[i:min(len(s), i+maxNamed)]); n > 0 {
			i += n
			end = i
			continue
		}
		n := run(s, i, isBase64)
		if n == i || n-i < keyMaterial && (!long || !keyEnds(s, n)) {
			break
		}
		long, i, end = n-i >= keyMaterial, n, n
	}
	return end
}

// keyEnds tells whether what ends a key stands at i: its last line, or the quote
// around it.
func keyEnds(s string, i int) bool {
	if i < len(s) && isQuote(s[i]) {
		return true
	}
	for i < len(s) && (s[i] == '\\' || s[i] == '\n' || s[i] == '\r' || s[i] == 'n' || s[i] == ' ' || isQuote(s[i])) {
		i++
	}
	return strings.HasPrefix(s[i:], "-----END ") || strings.HasPrefix(s[i:], "---- END ")
}

// headerOfKey returns the length of the line that s begins with, if it is one of
// those that may stand before a key.
func headerOfKey(s string) int {
	for _, name := range []string{"Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: ", "Hash: ", "Charset: "} {
		if strings.HasPrefix(s, name) {
			return run(s, 0, func(c byte) bool { return c != '\n' && c != '\\' && c != ';' && c != '&' && c != '|' })
		}
	}
	return 0
}

// lastingLines returns where a value in quotes that goes over several lines ends,
// up to to: with the last line that may be a key's, since the quote may have been
// closed for the shell before.
func lastingLines(s string, from, to int) int {
	s = s[:to] // to look no further: there may be many such values on one line
	end := lineStop(s, from)
	for long := false; end < to; {
		stop := lineStop(s, end+1)
		line := strings.Trim(s[end+1:stop], " \t\r\\")
		if line != "" && (run(line, 0, isBase64) < len(line) || len(line) < keyMaterial && !long) {
			return end
		}
		long, end = len(line) >= keyMaterial, stop
	}
	return end
}

// runsInput tells whether a command ends with a shell that reads what to run.
func runsInput(command string) bool {
	words := strings.Fields(command)
	for len(words) > 0 && (words[len(words)-1] == "-s" || words[len(words)-1] == "-") {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1][strings.LastIndexByte(words[len(words)-1], '/')+1:] {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "node":
		return true
	}
	return false
}
