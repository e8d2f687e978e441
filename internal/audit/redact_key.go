package audit

import "strings"

const ssh2Key = "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"

// keyBlock masks a private key from its first line to its last, or to where no more
// of a key stands.
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
	body := min(len(s), head+80)
	if n >= 0 {
		body = head + n + len("-----")
	}
	end := keyText(s, body)
	last := run(s, end, func(c byte) bool { return strings.IndexByte(" \t\r\n\"'`>|,\\nr", c) >= 0 })
	if !strings.HasPrefix(s[last:], "-----END ") {
		return sc.hide(i, end)
	}
	end = last + len("-----END ")
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
