package audit

import "strings"

// maxBlanks bounds the blanks between a name and its separator.
const maxBlanks = 32

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// assigned judges NAME=value, with the sign at i, by what stands before it.
func (sc *scanner) assigned(i int, key string) keyKind {
	s, at := sc.s, i-len(key)
	if at > 0 && s[at:i] == key {
		if sc.feed {
			before := strings.TrimRight(s[max(0, at-16):at], `"'`)
			if strings.HasSuffix(before, "--from-literal=") || strings.HasSuffix(before, "--from-literal ") {
				return keySecret
			}
		}
		if sc.store && s[at-1] == ' ' && i+1 < len(s) && s[i+1] != '@' && s[i+1] != '-' {
			return keySecret
		}
	}
	switch key { // apiKey: string = "x", password string = "x"
	case "string", "str", "String":
		j := i
		for j > i-maxBlanks && j > 0 && s[j-1] == ' ' {
			j--
		}
		if j -= len(key); j > 1 && s[j-1] == ' ' {
			j--
			if s[j-1] == ':' {
				j--
			}
			name, _ := keyBefore(s, j)
			return secretKey(name)
		}
	}
	return keyPlain
}

// below masks a value that stands in the lines under its name: password: |, or
// "password": and the end of the line. The value would begin at v.
func (sc *scanner) below(v int, sign byte, quoted bool) (int, bool) {
	s := sc.s
	space := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	if v >= len(s) || sign != ':' {
		return 0, false
	}
	if quoted {
		w := run(s, v, space)
		if b := w + backslashes(s, w); w > v && b < len(s) && isQuote(s[b]) {
			return sc.value(w, valueJSON), true
		}
		return 0, false
	}
	block := s[v] == '|' || s[v] == '>'
	if block {
		v = skipBlank(s, run(s, v+1, func(c byte) bool { return c == '+' || c == '-' || c >= '0' && c <= '9' }))
	}
	if v < len(s) && s[v] == '\r' {
		v++
	}
	if v >= len(s) || s[v] != '\n' {
		return 0, false
	}
	from := v + 1
	first := run(s, from, func(c byte) bool { return c == ' ' || c == '\t' })
	indent := s[from:first]
	if indent == "" {
		return 0, false
	}
	end := lineStop(s, first)
	text := s[first:end]
	if !block && (text == "" || strings.Contains(text, ": ") || strings.HasSuffix(strings.TrimRight(text, " \r"), ":") || strings.HasPrefix(text, "- ") || text[0] == '#') {
		return 0, false // a mapping or a list
	}
	if !block {
		return sc.value(first, valuePair), true
	}
	file := strings.Contains(s[:v], "<<") // else a shell may take it for a pipe into a command
	if !file && strings.ContainsAny(strings.TrimSpace(text), " \t") {
		return 0, false
	}
	for strings.HasPrefix(s[end:], "\n"+indent) {
		stop := lineStop(s, end+1)
		if !file && strings.ContainsAny(strings.TrimSpace(s[end:stop]), " \t") {
			break
		}
		end = stop
	}
	return sc.hide(first, end), true
}

// subcommand tells whether s begins with what some programs call TOPIC:COMMAND, such
// as secret:list.
func subcommand(s string) bool {
	n := run(s, 0, isLetter)
	if n < len(s) && isTokenByte(s[n]) {
		return false
	}
	switch s[:n] {
	case "list", "create", "delete", "push", "pull", "set", "get", "add", "remove", "update", "rotate", "revoke":
		return true
	}
	return false
}

// variable tells whether the name before the sign at i is a variable: $key.
func (sc *scanner) variable(i int, key string) bool {
	before := strings.TrimRight(sc.s[max(0, i-len(key)-maxBlanks):i], " ")
	return strings.HasSuffix(before, "$"+key)
}

// cmdlet tells whether a command of PowerShell stands at v, not a value:
// $password = Read-Host -AsSecureString.
func cmdlet(s string, v int) bool {
	end := run(s, v, isLetter)
	if end == v || end+1 >= len(s) || s[end] != '-' || s[v] > 'Z' || s[end+1] > 'Z' {
		return false
	}
	end = run(s, end+1, isLetter)
	return end < len(s) && (s[end] == ' ' || s[end] == '\n' || s[end] == ')')
}

// lineStop returns where the line at i ends.
func lineStop(s string, i int) int {
	return run(s, i, func(c byte) bool { return c != '\n' })
}

// listed handles what stands behind a name in quotes and a comma, the arguments
// of a call or a pair in a list: setenv("TOKEN", "x"), ["password", "x1"].
func (sc *scanner) listed(i int) int {
	s := sc.s
	if i == 0 || !isQuote(s[i-1]) {
		return i + 1
	}
	key, quoted := keyBefore(s, i)
	kind := secretKey(key)
	if !quoted || kind == keyPlain {
		return i + 1
	}
	v := run(s, i+1, func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' })
	from := v + backslashes(s, v) + 1
	if from > len(s) || !isQuote(s[from-1]) {
		return i + 1
	}
	// In a list it may be the next name.
	text := s[from:min(len(s), from+maxToken)]
	text = text[:run(text, 0, func(c byte) bool { return !isQuote(c) && c != '\\' })]
	if !mixed(text) && !argumentName(s, i, key) {
		return i + 1
	}
	if kind == keyHeader {
		return sc.value(v, valueHeader)
	}
	return sc.value(v, valueJSON)
}

// argumentName tells whether the name in quotes before i is the first argument
// of a call.
func argumentName(s string, i int, key string) bool {
	before := strings.TrimRight(s[max(0, i-len(key)-maxBlanks):i], "\"'`\\")
	before, ok := strings.CutSuffix(before, key)
	if !ok {
		return false
	}
	return strings.HasSuffix(strings.TrimRight(before, "\"'`\\ "), "(")
}

// beside handles NAME VALUE, with the value at v, where its look alone tells
// that it is one: "password Zq9X7vWt3K", but not "password reset".
func (sc *scanner) beside(end, v int) (int, bool) {
	s := sc.s
	if rest, ok := strings.CutPrefix(s[v:], "is"); ok {
		if rest = strings.TrimPrefix(rest, ":"); strings.HasPrefix(rest, " ") {
			v = len(s) - len(rest) + 1
		}
	}
	if v+1 < len(s) && s[v] >= '0' && s[v] <= '9' && s[v+1] == ' ' { // enable secret 5 x
		v += 2
	}
	from := v
	if v < len(s) && isQuote(s[v]) {
		from++
	}
	text := s[from:min(len(s), from+maxToken)]
	text = text[:run(text, 0, isTokenByte)]
	if len(text) < 10 || strings.Contains(text, "/") || !random(text) {
		return 0, false
	}
	if key, _ := keyBefore(s, end); secretKey(key) != keySecret {
		return 0, false
	}
	return sc.value(v, valueShell), true
}

// random tells whether s looks drawn by lot: it has small and capital letters
// and digits.
func random(s string) bool {
	var small, capital, digit bool
	for i := range len(s) {
		c := s[i]
		small = small || c >= 'a' && c <= 'z'
		capital = capital || c >= 'A' && c <= 'Z'
		digit = digit || c >= '0' && c <= '9'
	}
	return small && capital && digit
}

// userPassName names what holds USER:PASSWORD, or that in base64.
func userPassName(key string) bool {
	switch strings.ToLower(key) {
	case "auth", "creds", "basic_auth", "basicauth", "basic-auth", "userinfo":
		return true
	}
	return false
}

// userOrBasic masks the password of USER:PASSWORD, or the base64 of both.
func (sc *scanner) userOrBasic(v int) int {
	s := sc.s
	from := skipBlank(s, v)
	from += backslashes(s, from)
	if from < len(s) && isQuote(s[from]) {
		from++
	}
	end := run(s, from, func(c byte) bool { return isWord(c) || c == '+' || c == '/' })
	if full := run(s, end, func(c byte) bool { return c == '=' }); basicCredentials(s[from:full]) {
		return sc.hide(from, full)
	}
	end = run(s, from, func(c byte) bool { return isKeyByte(c) || c == '@' })
	if end == from || end+1 >= len(s) || s[end] != ':' || strings.IndexByte(" /\\$\n", s[end+1]) >= 0 {
		return v
	}
	sc.later(end+1, 0)
	return from
}

// valueName tells whether a member holds what another one names.
func valueName(key string) bool {
	switch key {
	case "value", "Value", "val", "ParameterValue", "OptionValue":
		return true
	}
	return false
}

// namedBeside returns what the name promises that stands beside a member called
// value: {"name": "DB_PASSWORD", "value": "x"}, in either order. The member
// begins at at, its value about v.
func namedBeside(s string, at, v int) keyKind {
	before := s[max(0, at-maxNamed):max(0, at)]
	if n := strings.LastIndexAny(before, "{}>"); n >= 0 {
		before = before[n+1:]
	}
	if k := nameIn(before, strings.LastIndex); k != keyPlain {
		return k
	}
	v = skipBlank(s, v)
	b := backslashes(s, v)
	if v+b >= len(s) || s[v+b] != '"' {
		return keyPlain
	}
	window := s[:min(len(s), v+4*maxNamed)]
	_, next := closing(window, v+b+1, '"', b)
	after, more := strings.CutPrefix(window[next:min(len(window), next+maxNamed)], ",")
	if !more {
		return keyPlain
	}
	if n := strings.IndexAny(after, "{}<"); n >= 0 {
		after = after[:n]
	}
	return nameIn(after, strings.Index)
}

// nameIn returns what a member called name or key promises.
func nameIn(s string, find func(s, sub string) int) keyKind {
	for _, word := range []string{"ParameterKey", "OptionName", "name", "Name", "key", "Key"} {
		n := find(s, word)
		if n < 0 || n > 0 && isKeyByte(s[n-1]) {
			continue
		}
		rest := strings.TrimLeft(s[n+len(word):], "\\\"': =\t")
		if secretKey(rest[:run(rest, 0, isKeyByte)]) == keySecret {
			return keySecret
		}
	}
	return keyPlain
}
