package audit

import "strings"

// dash handles private keys and flags.
func (sc *scanner) dash(i int) int {
	s := sc.s
	switch {
	case strings.HasPrefix(s[i:], "-----BEGIN "):
		return sc.keyBlock(i)
	case strings.HasPrefix(s[i:], "-----END "):
		return sc.keyTail(i)
	case strings.HasPrefix(s[i:], ssh2Key):
		return sc.hide(i, keyText(s, i+len(ssh2Key)))
	case i > 0 && (isWord(s[i-1]) || s[i-1] == '-' || s[i-1] == '.' || s[i-1] == '/'):
		return i + 1
	}
	return sc.flag(i)
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
	if len(name) < 2 || secretKey(name) == keyPlain && !sc.bareSecret(name, end) || strings.HasPrefix(name, "ask-") {
		return from
	}
	if name == "secret" && sc.last == "set" { // set --secret NAME VALUE
		if all := sc.arguments(end); len(all) > 1 {
			sc.later(all[1].at, 0)
			return from
		}
	}
	v, ok := argument(s, end)
	if !ok {
		return from
	}
	for _, in := range []string{"<<<", "< "} {
		if strings.HasPrefix(s[v:], in) {
			v = skipBlank(s, v+len(in))
			break
		}
	}
	return sc.value(v, valueShell)
}

// bareSecret tells whether a flag whose name says little, such as --auth or --key,
// has a value that looks drawn by lot.
func (sc *scanner) bareSecret(name string, end int) bool {
	if name != "auth" && name != "key" {
		return false
	}
	v, ok := argument(sc.s, end)
	if !ok {
		return false
	}
	text := sc.s[v:min(len(sc.s), v+maxToken)]
	text = text[:run(text, 0, isTokenByte)]
	return len(text) >= keyMaterial && random(text) && !strings.ContainsAny(text, "/.")
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
