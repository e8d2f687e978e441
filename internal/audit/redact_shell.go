package audit

import "strings"

// maxPiped bounds how far behind an echo the command is looked for that reads
// it, maxNamed how far before a value its name.
const (
	maxPiped = 512
	maxNamed = 160
)

// pipedSecret tells whether what is printed goes into a command that reads a
// secret from its standard input.
func pipedSecret(rest string) bool {
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	_, command, ok := strings.Cut(rest, "|")
	if !ok {
		return false
	}
	for _, flag := range []string{"--password-stdin", "--with-token", "--passphrase-fd", "--pass-stdin", "sudo -S", "chpasswd"} {
		if strings.Contains(command, flag) {
			return true
		}
	}
	return false
}

// echoed returns the length of a command substitution's beginning that only
// prints what follows.
func echoed(s string) int {
	for _, p := range []string{"$(echo ", "$(printf ", "`echo ", "`printf "} {
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
	from, to, next := shellWord(sc.s, v)
	if n := strings.IndexByte(sc.s[from:to], '='); n >= 0 && !safeValue(sc.s[from+n+1:to]) {
		sc.hide(from+n+1, to)
	}
	return next
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

// element masks the text of <password>text</password>.
func (sc *scanner) element(i int) int {
	s := sc.s
	end := run(s, i+1, isKeyByte)
	if end == i+1 || end >= len(s) || s[end] != '>' || secretKey(s[i+1:end]) != keySecret {
		return i + 1
	}
	from := end + 1
	to := run(s, from, func(c byte) bool { return c != '<' })
	if to == from || !strings.HasPrefix(s[to:], "</") || safeValue(s[from:to]) {
		return from
	}
	return sc.hide(from, to)
}

// namedBefore returns what the name promises that stands beside a member called
// value: {"name": "DB_PASSWORD", "value": "x"}, key="ApiSecret" value="x".
func namedBefore(s string, at int) keyKind {
	before := s[max(0, at-maxNamed):max(0, at)]
	if n := strings.LastIndexAny(before, "{}>"); n >= 0 {
		before = before[n+1:]
	}
	for _, word := range []string{"name", "Name", "key", "Key"} {
		n := strings.LastIndex(before, word)
		if n < 0 || n > 0 && isKeyByte(before[n-1]) {
			continue
		}
		rest := strings.TrimLeft(before[n+len(word):], "\\\"': =\t")
		if secretKey(rest[:run(rest, 0, isKeyByte)]) == keySecret {
			return keySecret
		}
	}
	return keyPlain
}

// randomValue tells whether the value at v looks drawn by lot: long, with small
// and capital letters and digits.
func randomValue(s string, v int) bool {
	if v < len(s) && isQuote(s[v]) {
		v++
	}
	w := s[v:run(s, v, isTokenByte)]
	return len(w) >= 20 && !strings.Contains(w, "/") && mixed(w) && strings.ToLower(w) != w && strings.ToUpper(w) != w
}
