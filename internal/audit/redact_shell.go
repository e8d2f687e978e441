package audit

import "strings"

// maxPiped bounds how far behind an echo the command is looked for that reads
// it, maxNamed how far before a value its name.
const (
	maxPiped = 512
	maxNamed = 160
)

// echoed returns the length of a command substitution's beginning that only
// prints what follows.
func echoed(s string) int {
	for _, p := range []string{"$(echo ", "$(printf ", "`echo ", "`printf ", "<(echo ", "<(printf "} {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// wordEnd is bareEnd for a word that may go on in quotes: abc"def".
func (sc *scanner) wordEnd(v int, kind valueKind) int {
	s := sc.s
	end := bareEnd(s, v, kind)
	if kind == valueJSON || end == v || end+1 >= len(s) || (s[end] != '"' && s[end] != '\'') || !isWord(s[end+1]) {
		return end
	}
	// One that holds blanks, or does not end, is the next string of a list.
	to := run(s, end+1, func(c byte) bool { return c > ' ' && !isQuote(c) })
	if to == len(s) || s[to] != s[end] || commaEnds(s, to+1) && to+1 < len(s) && s[to+1] == ':' {
		return end
	}
	return to + 1
}

// cookies masks NAME=VALUE; a word without = is the name of a file.
func (sc *scanner) cookies(v int) int {
	from, to, _ := shellWord(sc.s, v)
	if n := strings.IndexByte(sc.s[from:to], '='); n >= 0 {
		sc.later(from+n+1, to)
	}
	return v
}

// encodedPair handles name%3Dvalue and name%3Avalue: a pair inside of a URL.
func (sc *scanner) encodedPair(i int) int {
	s := sc.s
	if i+3 > len(s) || s[i+1] != '3' || (s[i+2]|0x20 != 'd' && s[i+2]|0x20 != 'a') {
		return i + 1
	}
	key, _ := keyBefore(s, i)
	if key == "" || secretKey(key) == keyPlain {
		return i + 1
	}
	v := i + 3
	for strings.HasPrefix(s[v:], "%20") || strings.HasPrefix(s[v:], "%22") {
		v += 3
	}
	return sc.value(v, valueShell)
}

// randomValue tells whether the value at v is long and looks drawn by lot.
func randomValue(s string, v int) bool {
	if v < len(s) && isQuote(s[v]) {
		v++
	}
	w := s[v:min(len(s), v+maxToken)]
	w = w[:run(w, 0, isTokenByte)]
	return len(w) >= 20 && !strings.Contains(w, "/") && random(w)
}
