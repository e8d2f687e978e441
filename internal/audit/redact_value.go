package audit

import "strings"

// valueKind says how a value is bounded.
type valueKind int

const (
	valueShell  valueKind = iota // a word of a command
	valuePair                    // behind = or :
	valueJSON                    // behind a quoted name: strings, numbers, lists, objects
	valueHeader                  // an Authorization header: its scheme stays
	valueCookie                  // to the end of the line
)

// pair handles name=value and name: value, with the separator at i.
func (sc *scanner) pair(i int) int {
	s := sc.s
	key, quoted := keyBefore(s, i)
	if key == "" {
		return i + 1
	}
	kind := secretKey(key)
	if kind == keyPlain && s[i] == '=' {
		kind = sc.assigned(i, key)
	}
	if kind == keyPlain && s[i] == '=' && inQuery(s, i-len(key)-1) && querySecret(key) {
		kind = keySecret
	}
	if kind == keyPlain && s[i] == '=' && strings.HasSuffix(key, "_KEY") && randomValue(s, i+1) {
		kind = keySecret
	}
	if kind == keyPlain && valueName(key) {
		kind = namedBeside(s, i-len(key), i+1)
	}
	if kind == keyPlain && len(key) <= 10 && userPassName(key) {
		return sc.userOrBasic(i + 1)
	}
	if kind == keyPlain && s[i] == ':' && len(key) == 1 && sc.tool != nil && key[0] == sc.tool.colon {
		kind = keySecret
	}
	if kind == keyPlain || (s[i] == ':' && kind == keySecret && workingDir(key)) || s[i] == ':' && !quoted && subcommand(s[i+1:]) {
		return i + 1
	}
	v := i + 1
	for v < len(s) && v < i+3 && (s[v] == '=' || s[v] == '>') {
		v++
	}
	v = skipBlank(s, v)
	if !quoted && v < len(s) && isQuote(s[v]) && closesQuote(s, i-len(key), v) {
		return v
	}
	if next, ok := sc.below(v, s[i], quoted); ok {
		return next
	}
	if workingDir(key) && v < len(s) && (s[v] == '/' || s[v] == '$' || s[v] == '"' && v+1 < len(s) && s[v+1] == '$') {
		return v
	}
	switch {
	case kind == keySecret && !quoted && cmdlet(s, v) && sc.variable(i, key):
		return v
	case kind == keyHeader:
		return sc.value(v, valueHeader)
	case kind == keyCookie:
		return sc.value(v, valueCookie)
	case quoted:
		return sc.value(v, valueJSON)
	}
	return sc.value(v, valuePair)
}

// keyBefore returns the name that ends before the separator at i, and whether
// it was quoted.
func keyBefore(s string, i int) (string, bool) {
	j, low := i, max(0, i-maxBlanks)
	if j > 0 && s[i] == '=' && strings.IndexByte("!+?:", s[j-1]) >= 0 {
		j--
	}
	for j > low && s[j-1] == '\\' { // token\=x
		j--
	}
	for j > low && (s[j-1] == ' ' || s[j-1] == '\t') {
		j--
	}
	if k := j; k > low && (s[k-1] == '\n' || s[k-1] == '\r') { // only a name in quotes may end the line before
		for k > low && (s[k-1] == ' ' || s[k-1] == '\t' || s[k-1] == '\n' || s[k-1] == '\r') {
			k--
		}
		if k > low && isQuote(s[k-1]) {
			j = k
		}
	}
	if j > 0 && s[j-1] == ']' { // config["password"] = …
		j--
	}
	quoted := false
	if j > 0 && (s[j-1] == '"' || s[j-1] == '\'' || s[j-1] == '`') {
		quoted = true
		j--
		for j > 0 && s[j-1] == '\\' {
			j--
		}
	}
	k := j
	for k > 0 && j-k < maxKey && isKeyByte(s[k-1]) {
		k--
	}
	// A backslash escape runs into the name: \npassword=x.
	if k > 0 && j-k > 1 && s[k-1] == '\\' && strings.IndexByte("nrt", s[k]) >= 0 {
		k++
	}
	for k < j && (s[k] == '-' || s[k] == '.') {
		k++
	}
	return s[k:j], quoted
}

func inQuery(s string, before int) bool {
	return before >= 0 && (s[before] == '?' || s[before] == '&' || s[before] == '#')
}

// value masks the value that begins at v, and returns where to go on.
func (sc *scanner) value(v int, kind valueKind) int {
	s := sc.s
	if v >= len(s) || s[v] == '\n' || s[v] == '\r' {
		return v
	}
	if strings.HasPrefix(s[v:], mask) {
		// A mask, alone or with something that was put behind it.
		to := v + len(mask)
		if kind == valueHeader || kind == valueCookie {
			return to
		}
		if end := bareEnd(s, to, kind); end > to {
			return sc.hide(v, end)
		}
		return to
	}
	if n := stringPrefix(s, v); n > 0 {
		v += n
	}
	if n := echoed(s[v:]); n > 0 && kind != valueHeader && kind != valueCookie {
		return sc.value(v+n, valueShell)
	}
	if b := backslashes(s, v); v+b < len(s) && isQuote(s[v+b]) {
		return sc.quotedValue(v, b, kind)
	}
	switch kind {
	case valueHeader:
		return sc.header(v, -1)
	case valueCookie:
		return sc.hide(v, trimBlank(s, v, lineEnd(s, v)))
	case valueJSON:
		if s[v] == '[' || s[v] == '{' {
			return sc.group(v)
		}
	case valueShell, valuePair:
	}
	if reference(s[v:]) {
		return v + 1 // what stands in it is read on: ${TOKEN:-x}
	}
	end := sc.wordEnd(v, kind)
	if end == v || safeValue(s[v:end]) {
		return max(end, v)
	}
	return sc.hide(v, end)
}

// quotedValue masks what stands in quotes that are escaped by b backslashes.
func (sc *scanner) quotedValue(v, b int, kind valueKind) int {
	s := sc.s
	from := v + b + 1
	to, next := closing(s, from, s[v+b], b)
	if n := strings.Index(s[from:to], `\'`); n >= 0 && b == 0 && s[v] == '\'' {
		// A shell knows no escapes there: the string ends, if another word follows.
		if at := from + n + 1; at+1 == len(s) || strings.IndexByte(" ;&|\n)", s[at+1]) >= 0 {
			to, next = at, at+1
		}
	}
	if from == to && b == 0 && next < len(s) && s[next] == s[v] { // """x"""
		q := s[v : next+1]
		if n := strings.Index(s[next+1:], q); n > 0 {
			return sc.hide(next+1, lastingLines(s, next+1, next+1+n))
		}
		return next
	}
	switch {
	case from == to || safeValue(s[from:to]):
		return next
	case strings.HasPrefix(s[from:], "-----BEGIN "), s[v+b] == '`' && strings.IndexByte(s[from:to], ' ') >= 0:
		return from // read on: a key has its own end, and what a shell runs is no value
	case to == len(s) && b > 0: // no string for the shell
		if to = bareEnd(s, from, kind); to == from {
			return from
		}
		return sc.hide(from, to)
	}
	if end := lastingLines(s, from, to); end < to {
		to, next = end, end
	}
	if kind == valueHeader {
		sc.header(from, to)
		return next
	}
	// Shell words go on behind a quote: "abc"def.
	if b == 0 && kind != valueJSON && next < len(s) && (isWord(s[next]) || isQuote(s[next])) && s[next-1] != '\n' {
		if end := bareEnd(s, next, kind); end > next {
			return sc.hide(from-1, end)
		}
	}
	sc.hide(from, to)
	return next
}

// group masks a list or an object to its closing bracket, or to what is no JSON.
func (sc *scanner) group(v int) int {
	s := sc.s
	depth := 0
	for i := v; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				if strings.TrimSpace(s[v+1:i]) == "" {
					return i + 1
				}
				return sc.hide(v, i+1)
			}
		case c == '"':
			b := 0
			for i-b-1 > v && s[i-b-1] == '\\' {
				b++
			}
			_, next := closing(s, i+1, '"', b)
			i = next - 1
		case isWord(c):
			end := run(s, i, isKeyByte)
			if word := s[i:end]; strings.Trim(word, "0123456789.eE-") != "" && word != "true" && word != "false" && word != "null" && !strings.HasPrefix(s[skipBlank(s, end):], ":") && end < len(s) {
				return sc.hide(v, i)
			}
			i = end - 1
		case strings.IndexByte(" \t\r\n,:+-.\\'", c) < 0:
			return sc.hide(v, i)
		}
	}
	return sc.hide(v, len(s))
}

// closing returns where a string ends that began before from with quote q
// behind b backslashes, and where the text goes on.
func closing(s string, from int, q byte, b int) (to, next int) {
	slashes := 0
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '\\':
			slashes++
			continue
		case q:
			if slashes == b || slashes > b && (slashes-b)%(2*(b+1)) == 0 {
				return i - b, i + 1
			}
		}
		slashes = 0
	}
	return len(s), len(s)
}

// bareEnd returns where a value without quotes ends.
func bareEnd(s string, v int, kind valueKind) int {
	for i := v; i < len(s); i++ {
		switch c := s[i]; c {
		case '[':
			if strings.HasPrefix(s[i:], mask) {
				i += len(mask) - 1
			}
		case ' ', '\t', '\n', '\r', '"', '\'', '`', ';', '&', '|', ')', '<', '>', '}', ']':
			return i
		case ',':
			if kind != valueShell && commaEnds(s, i+1) {
				return i
			}
		case '\\':
			if i+1 >= len(s) {
				return len(s)
			}
			switch s[i+1] {
			case '\\', '"', '\'', 'n', 'r', 't', '\n':
				return i
			}
			i++
		}
	}
	return len(s)
}

// commaEnds tells whether the text at i, behind a comma, begins something new.
func commaEnds(s string, i int) bool {
	if i >= len(s) || !isKeyByte(s[i]) {
		return true
	}
	end := run(s, i, isKeyByte)
	return end < len(s) && end-i < maxKey && (s[end] == '=' || s[end] == ':')
}

// shellWord returns the content of the word at v and where the text goes on.
func shellWord(s string, v int) (from, to, next int) {
	b := backslashes(s, v)
	if v+b < len(s) && isQuote(s[v+b]) {
		to, next = closing(s, v+b+1, s[v+b], b)
		return v + b + 1, to, next
	}
	end := bareEnd(s, v, valueShell)
	return v, end, end
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// mixed tells whether s has both letters and digits.
func mixed(s string) bool {
	letter, digit := false, false
	for i := range len(s) {
		letter = letter || isLetter(s[i])
		digit = digit || s[i] >= '0' && s[i] <= '9'
	}
	return letter && digit
}

func trimBlank(s string, from, to int) int {
	for to > from && (s[to-1] == ' ' || s[to-1] == '\t') {
		to--
	}
	return to
}

// stringPrefix returns the length of a letter or sign in front of a string: f"…", $'…'.
func stringPrefix(s string, v int) int {
	for n := 1; n <= 2 && v+n < len(s); n++ {
		if strings.IndexByte("bfruBFRU$@", s[v+n-1]) < 0 {
			return 0
		}
		if isQuote(s[v+n]) {
			return n
		}
	}
	return 0
}
