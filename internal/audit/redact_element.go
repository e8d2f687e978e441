package audit

import "strings"

// element masks the text of <password>text</password>, attributes and CDATA
// included.
func (sc *scanner) element(i int) int {
	s := sc.s
	if sc.feed && strings.HasPrefix(s[i:], "<<<") {
		return sc.value(skipBlank(s, i+len("<<<")), valueShell)
	}
	name := i + 1
	end := run(s, name, isKeyByte)
	if end < len(s) && end > name && s[end] == ':' { // a name space
		name = end + 1
		end = run(s, name, isKeyByte)
	}
	if end == name || end >= len(s) || end-name > maxKey || secretKey(s[name:end]) != keySecret {
		return i + 1
	}
	if s[end] == ' ' {
		rest := s[end:min(len(s), end+maxNamed)]
		end += run(rest, 0, func(c byte) bool { return c != '<' && c != '>' && c != '\n' })
	}
	if end >= len(s) || s[end] != '>' || s[end-1] == '/' {
		return i + 1
	}
	from := end + 1
	from += len(cdata) * btoi(strings.HasPrefix(s[from:], cdata))
	to := run(s, from, func(c byte) bool { return c != '<' })
	if to == from || !strings.HasPrefix(s[to:], "</") || safeValue(s[from:to]) {
		return from
	}
	return sc.hide(from, to)
}

const cdata = "<![CDATA["
