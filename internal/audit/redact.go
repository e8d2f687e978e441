package audit

import "strings"

// mask stands where a secret stood.
const mask = "[redacted]"

// maxPasses bounds the search for a fixed point in Redact.
const maxPasses = 5

// Redact returns s with what looks like a secret replaced by "[redacted]":
// values behind secret names (key=value, key: value, JSON, escaped JSON, flags,
// environment), passwords in URLs, authorisation headers and cookies, tokens of
// known shapes, and private keys, also cut ones. Names, hosts and flags stay
// readable. Its time grows linearly with s. Redact(Redact(s)) is Redact(s).
//
// It is a net for what people type by mistake, not a proof: a secret without a
// name and without a known shape passes.
func Redact(s string) string {
	for range maxPasses {
		sc := scanner{s: s}
		sc.scan()
		if len(sc.spans) == 0 {
			return s
		}
		s = sc.apply()
	}
	// Text on which masks keep uncovering more is made to deceive; it says nothing
	// that were worth the risk.
	sc := scanner{s: s}
	sc.scan()
	if len(sc.spans) == 0 {
		return s
	}
	return mask
}

type span struct{ from, to int }

// A scanner goes through a text once and collects what must be masked.
type scanner struct {
	s     string
	spans []span // in order, without overlap

	tool  flags // secret flags of the command whose words are being read
	netrc uint8 // words of a netrc entry seen: 1 machine, 2 login
	set   bool  // the previous word sets the next as a variable: set NAME VALUE
	by    bool  // the previous word was "identified"
}

func (sc *scanner) apply() string {
	var b strings.Builder
	b.Grow(len(sc.s) + len(sc.spans)*len(mask))
	at := 0
	for _, p := range sc.spans {
		b.WriteString(sc.s[at:p.from])
		b.WriteString(mask)
		at = p.to
	}
	b.WriteString(sc.s[at:])
	return b.String()
}

// hide masks from..to, unless that is a mask already, and returns where to go on.
func (sc *scanner) hide(from, to int) int {
	if n := len(sc.spans); n > 0 && from < sc.spans[n-1].to {
		from = sc.spans[n-1].to
	}
	if from >= to || sc.s[from:to] == mask {
		return to
	}
	sc.spans = append(sc.spans, span{from, to})
	return to
}

// scan looks at each place where a secret can begin or be named.
func (sc *scanner) scan() {
	s := sc.s
	for i := 0; i < len(s); {
		next := i + 1
		switch c := s[i]; {
		case isWord(c):
			next = sc.word(i)
		case c == '-':
			next = sc.dash(i)
		case c == ':' && strings.HasPrefix(s[i:], "://"):
			next = sc.url(i)
		case c == ':' || c == '=':
			next = sc.pair(i)
		case c == '%':
			next = sc.encodedPair(i)
		case c == '<':
			next = sc.element(i)
		case c == ';' || c == '|' || c == '&' || c == '(':
			sc.tool, sc.netrc, sc.set, sc.by = flags{}, 0, false, false
		case c == '\n':
			sc.tool, sc.set = flags{}, false
		}
		i = max(next, i+1)
	}
}

// word handles a run of letters, digits and underscores that begins at i.
func (sc *scanner) word(i int) int {
	s := sc.s
	end := i
	for end < len(s) && isWord(s[end]) {
		end++
	}
	// A short word that nothing is joined to is no token.
	if end-i > 10 || end < len(s) && strings.IndexByte("-.:/", s[end]) >= 0 {
		for _, at := range sc.tokenStarts(i, end) {
			if at < 0 {
				continue
			}
			if n := tokenLen(s[at:]); n > 0 {
				return sc.hide(at, at+n)
			}
		}
	}
	if next, ok := sc.spoken(i, end); ok {
		return next
	}
	if f, ok := flagsOf(s[i:end]); ok {
		sc.tool = f
	}
	return end
}

// tokenStarts returns where in the word a token may begin: at its start, and
// behind what is left of an escape (\n, \u000a, %3D) that runs into it.
func (sc *scanner) tokenStarts(i, end int) [2]int {
	starts := [2]int{i, -1}
	if i == 0 {
		return starts
	}
	switch c := sc.s[i]; {
	case sc.s[i-1] == '%' && end-i > 2:
		starts[1] = i + 2
	case sc.s[i-1] == '\\' && c == 'u' && end-i > 5:
		starts[1] = i + 5
	case sc.s[i-1] == '\\' && strings.IndexByte("nrtbf", c) >= 0:
		starts[1] = i + 1
	}
	return starts
}

// spoken handles words that announce a secret without a separator: "Bearer x",
// "Basic x", "machine h login u password x", "IDENTIFIED BY 'x'", "set NAME x".
func (sc *scanner) spoken(i, end int) (int, bool) {
	s := sc.s
	word := s[i:end]
	set, by := sc.set, sc.by
	sc.set, sc.by = false, false
	if len(word) > 64 || end >= len(s) || (s[end] != ' ' && s[end] != '\t') {
		return 0, false
	}
	v := skipBlank(s, end)
	if v == len(s) {
		return 0, false
	}
	quoted := s[v] == '\'' || s[v] == '"'
	if !set && !by && !quoted && s[v] != '<' && word[0] != '_' && strings.IndexByte("bemlpisgvx", word[0]|0x20) < 0 {
		return 0, false
	}
	switch {
	case strings.EqualFold(word, "bearer"):
		if to := run(s, v, isTokenByte); likelyToken(s[v:to]) {
			return sc.hide(v, to), true
		}
	case strings.EqualFold(word, "basic"):
		if to := run(s, v, isTokenByte); basicCredentials(s[v:to]) {
			return sc.hide(v, to), true
		}
	case word == "machine":
		sc.netrc |= 1
	case word == "login":
		sc.netrc |= 2
	case word == "password" && sc.netrc == 3:
		sc.netrc = 0
		return sc.value(v, valueShell), true
	case strings.EqualFold(word, "identified"):
		sc.by = true
	case by && strings.EqualFold(word, "by") && quoted:
		return sc.value(v, valueShell), true
	case quoted && (strings.EqualFold(word, "password") || strings.EqualFold(word, "passphrase") || strings.EqualFold(word, "securestring")):
		return sc.value(v, valueShell), true
	case word == "vault" && strings.HasPrefix(s[v:], "login "):
		if v = skipBlank(s, v+len("login ")); v < len(s) && s[v] != '-' {
			return sc.value(v, valueShell), true
		}
	case (word == "_authToken" || word == "_password") && s[v] != '=' && s[v] != ':':
		return sc.value(v, valueShell), true
	case (word == "echo" || word == "printf") && pipedSecret(s[v:min(len(s), v+maxPiped)]):
		return sc.value(v, valueShell), true
	case strings.HasPrefix(s[v:], "<<<") && secretKey(word) == keySecret:
		return sc.value(skipBlank(s, v+len("<<<")), valueShell), true
	case word == "set" || word == "setenv" || word == "setx" || word == "gx" || word == "x":
		sc.set = true
	case set && strings.Contains(word, "_") && secretKey(word) == keySecret:
		return sc.value(v, valueShell), true
	}
	return 0, false
}

// dash handles private keys and flags.
func (sc *scanner) dash(i int) int {
	s := sc.s
	switch {
	case strings.HasPrefix(s[i:], "-----BEGIN "):
		return sc.keyBlock(i)
	case strings.HasPrefix(s[i:], "-----END "):
		return sc.keyTail(i)
	case i > 0 && (isWord(s[i-1]) || s[i-1] == '-' || s[i-1] == '.' || s[i-1] == '/'):
		return i + 1
	}
	return sc.flag(i)
}

// keyBlock masks a private key from its first line to its last, or to the end
// of the text when its last line is missing.
func (sc *scanner) keyBlock(i int) int {
	s := sc.s
	head := i + len("-----BEGIN ")
	n := strings.Index(s[head:min(len(s), head+80)], "-----")
	label := s[head:min(len(s), head+80)]
	if n >= 0 {
		label = label[:n]
	}
	if !strings.Contains(label, "PRIVATE KEY") {
		if n >= 0 || len(s) > head+80 || !strings.HasPrefix("PRIVATE KEY", lastWords(label)) {
			return head
		}
	}
	end := strings.Index(s[head:], "-----END ")
	if end < 0 {
		return sc.hide(i, len(s))
	}
	end += head + len("-----END ")
	if n := strings.Index(s[end:min(len(s), end+80)], "-----"); n >= 0 {
		return sc.hide(i, end+n+len("-----"))
	}
	return sc.hide(i, run(s, end, func(c byte) bool { return isWord(c) || c == ' ' || c == '-' }))
}

// lastWords returns what follows the algorithm's name in a cut label.
func lastWords(label string) string {
	if i := strings.Index(label, "PRIV"); i >= 0 {
		return label[i:]
	}
	return "\x00"
}

// keyTail masks the end of a private key whose beginning was cut off.
func (sc *scanner) keyTail(i int) int {
	s := sc.s
	head := i + len("-----END ")
	label := s[head:min(len(s), head+80)]
	n := strings.Index(label, "-----")
	if n < 0 || !strings.Contains(label[:n], "PRIVATE KEY") {
		return head
	}
	from, low := i, 0
	if k := len(sc.spans); k > 0 {
		low = sc.spans[k-1].to
	}
	for from > low && (isBase64(s[from-1]) || s[from-1] == '\n' || s[from-1] == '\r' || s[from-1] == '\\') {
		from--
	}
	return sc.hide(from, head+n+len("-----"))
}

// flag handles a flag whose dashes begin at i: --password x, -pSECRET.
func (sc *scanner) flag(i int) int {
	s := sc.s
	from := i
	for from < len(s) && from < i+2 && s[from] == '-' {
		from++
	}
	end := run(s, from, isKeyByte)
	name := s[from:min(end, from+maxKey)]
	if name == "" {
		return from
	}
	if next, ok := sc.toolFlag(i, from, end); ok {
		return next
	}
	if name == "from-literal" { // kubectl create secret --from-literal=NAME=VALUE
		if v := min(len(s), end+1); v > end && (s[end] == '=' || s[end] == ' ') {
			return sc.cookies(skipBlank(s, v))
		}
	}
	if len(name) < 2 || secretKey(name) == keyPlain {
		return from
	}
	v, ok := argument(s, end)
	if !ok {
		return from
	}
	if strings.HasPrefix(s[v:], "<<<") {
		v = skipBlank(s, v+len("<<<"))
	}
	return sc.value(v, valueShell)
}

// argument returns where the argument behind a flag begins: after blanks, or in
// the next string of a list: ["--password", "x"].
func argument(s string, end int) (int, bool) {
	v := skipBlank(s, end)
	if v == end {
		q := end + backslashes(s, end)
		if q >= len(s) || (s[q] != '"' && s[q] != '\'') {
			return 0, false
		}
		v = skipBlank(s, q+1)
		if v < len(s) && s[v] == ',' {
			v++
		} else if v == q+1 {
			return 0, false
		}
		v = run(s, v, func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' })
	}
	if v >= len(s) || s[v] == '-' && v+1 < len(s) && (s[v+1] == '-' || isLetter(s[v+1])) {
		return 0, false
	}
	return v, true
}

// toolFlag handles the one-letter flags of the command being read.
func (sc *scanner) toolFlag(i, from, end int) (int, bool) {
	s := sc.s
	f, letter := sc.tool, s[from]
	long := from-i == 2
	switch {
	case long && f.userLong != "" && (s[from:end] == f.userLong || strings.HasSuffix(s[from:end], "-"+f.userLong)), !long && f.user == letter && end-from == 1:
		v := end
		if v < len(s) && s[v] == '=' {
			v++
		}
		v = skipBlank(s, v)
		if v == end {
			return 0, false
		}
		return sc.userPass(v), true
	case !long && f.user == letter && f.user != 0:
		return sc.userPass(from + 1), true
	case !long && f.attached == letter && f.attached != 0 && end-from >= 1:
		if _, stop, _ := shellWord(s, from+1); stop > from+1 {
			return sc.value(from+1, valueShell), true
		}
	}
	if f.cookie != 0 && (!long && f.cookie == letter && end-from == 1 || long && s[from:end] == "cookie") {
		if v, ok := argument(s, end); ok {
			return sc.cookies(v), true
		}
	}
	if !long && f.separate == letter && f.separate != 0 && end-from == 1 {
		if v, ok := argument(s, end); ok {
			return sc.value(v, valueShell), true
		}
	}
	return 0, false
}

// userPass masks the password of USER:PASSWORD (or USER%PASSWORD).
func (sc *scanner) userPass(v int) int {
	from, to, next := shellWord(sc.s, v)
	if n := strings.IndexAny(sc.s[from:to], ":%"); n >= 0 {
		if safeValue(sc.s[from+n+1:to]) || strings.HasPrefix(sc.s[from+n:to], "://") {
			return next
		}
		sc.hide(from+n+1, to)
	}
	return next
}
