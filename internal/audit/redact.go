package audit

import (
	"slices"
	"strings"
)

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
		next := masked(s)
		if next == s {
			return s
		}
		s = next
	}
	// Text on which masks keep uncovering more is made to deceive; it says nothing
	// that were worth the risk.
	if masked(s) == s {
		return s
	}
	return mask
}

// masked goes through s once, and through what it reads as without escapes if
// there is nothing to mask in s itself.
func masked(s string) string {
	sc := scanner{s: s}
	sc.scan()
	if len(sc.spans) > 0 {
		return sc.apply()
	}
	plain := unescaped(s)
	if plain == s {
		return s
	}
	sc = scanner{s: plain}
	sc.scan()
	if len(sc.spans) > 0 {
		return sc.apply()
	}
	return s
}

type span struct{ from, to int }

// A scanner goes through a text once and collects what must be masked.
type scanner struct {
	s     string
	spans []span // in order, without overlap
	due   []span // to be masked when the scan comes there, in order

	// Of the command whose words are being read:
	tool  *flags // its secret flags; nil without any
	last  string // the word before this one
	store bool   // it puts secrets somewhere
	feed  bool   // it reads a secret from its standard input
	laid  bool   // its arguments have been looked at, which is done once

	netrc uint8 // words of a netrc entry seen: 1 machine, 2 login
	set   bool  // the previous word sets the next as a variable: set NAME VALUE
	by    uint8 // words left in which "by" follows "identified"
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
		next, before := i+1, len(sc.due)
		switch c := s[i]; {
		case len(sc.due) > 0 && sc.due[0].from <= i:
			next = sc.overdue(i)
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
		case c == ',':
			next = sc.listed(i)
		case c == ';' || c == '|' || c == '&' || c == '(':
			sc.command()
			sc.netrc, sc.by = 0, 0
		case c == '\n':
			sc.command()
		}
		if next == i && len(sc.due) < before { // nothing was masked
			continue
		}
		i = max(next, i+1)
	}
}

// later masks from..to when the scan comes there; what stands before may hold
// secrets of its own. With to zero it is the word at from.
func (sc *scanner) later(from, to int) {
	at := len(sc.due)
	for at > 0 && sc.due[at-1].from > from {
		at--
	}
	sc.due = slices.Insert(sc.due, at, span{from, to})
}

// overdue masks what is due at i.
func (sc *scanner) overdue(i int) int {
	p := sc.due[0]
	sc.due = sc.due[1:]
	switch {
	case p.to == 0 && p.from == i:
		return max(i, sc.value(i, valueShell))
	case p.to > i && !safeValue(sc.s[i:p.to]):
		return sc.hide(i, p.to)
	}
	return i // read past already, or nothing to mask
}

// command begins a new command.
func (sc *scanner) command() {
	sc.tool, sc.last, sc.store, sc.feed, sc.laid, sc.set = nil, "", false, false, false, false
}

// word handles a run of letters, digits and underscores that begins at i.
func (sc *scanner) word(i int) int {
	s := sc.s
	end := i
	for end < len(s) && isWord(s[end]) {
		end++
	}
	// A short word that nothing is joined to is no token.
	if end-i > 10 || end < len(s) && (s[end] == '-' || s[end] == '.' || s[end] == ':' || s[end] == '/') {
		for _, at := range sc.tokenStarts(i, end) {
			if at < 0 {
				continue
			}
			if n := tokenLen(s[at:]); n > 0 {
				return sc.hide(at, at+n)
			}
		}
	}
	word, last := s[i:end], sc.last
	sc.last = word
	if next, ok := sc.spoken(i, end); ok {
		return next
	}
	if next, ok := sc.call(i, end); ok {
		return next
	}
	if f := flagsOf(last, word); f != nil && !strings.HasPrefix(s[end:], "://") {
		sc.tool = f
	}
	return sc.placed(last, word, end)
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
	sc.set, sc.by = false, max(by, 1)-1
	if len(word) > 64 || end >= len(s) || (s[end] != ' ' && s[end] != '\t') {
		return 0, false
	}
	v := skipBlank(s, end)
	if v == len(s) {
		return 0, false
	}
	if next, ok := sc.beside(end, v); ok {
		return next, true
	}
	quoted := s[v] == '\'' || s[v] == '"'
	if !set && by == 0 && !quoted && s[v] != '<' && !announces(word[0]) {
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
		sc.by = 3 // IDENTIFIED WITH plugin BY
	case by > 0 && strings.EqualFold(word, "by") && quoted:
		return sc.value(v, valueShell), true
	case quoted && (strings.EqualFold(word, "password") || strings.EqualFold(word, "passphrase") || strings.EqualFold(word, "securestring")):
		return sc.value(v, valueShell), true
	case word == "vault" && strings.HasPrefix(s[v:], "login "):
		if v = skipBlank(s, v+len("login ")); v < len(s) && s[v] != '-' {
			return sc.value(v, valueShell), true
		}
	case quoted && word == "send" && strings.Contains(s[max(0, i-maxNamed):i], "assword"): // expect
		return sc.value(v, valueShell), true
	case (word == "_authToken" || word == "_password") && s[v] != '=' && s[v] != ':':
		return sc.value(v, valueShell), true
	case word == "echo" || word == "printf":
		if to := piped(s[v:min(len(s), v+maxPiped)]); to > 0 {
			return sc.printed(v, v+to), true
		}
	case strings.HasPrefix(s[v:], "<<<") && secretKey(word) == keySecret:
		return sc.value(skipBlank(s, v+len("<<<")), valueShell), true
	case strings.HasPrefix(s[v:], "<(") && echoed(s[v:]) > 0 && (word == "key" || secretKey(word) == keySecret):
		return sc.value(v, valueShell), true
	case word == "set" || word == "setenv" || word == "setx" || word == "gx" || word == "x":
		sc.set = true
	case set && strings.Contains(word, "_") && secretKey(word) == keySecret:
		return sc.value(v, valueShell), true
	}
	return 0, false
}

// announces tells whether one of the words that spoken knows begins with c. Most
// words do not, and need no more than this.
func announces(c byte) bool {
	switch c | 0x20 {
	case 'b', 'e', 'm', 'l', 'p', 'i', 's', 'g', 'v', 'x':
		return true
	}
	return c == '_'
}
