package audit

// maxAuthority bounds what is looked at of a URL's user and host.
const maxAuthority = 2048

// url masks the password of SCHEME://USER:PASSWORD@HOST, with the colon at i.
func (sc *scanner) url(i int) int {
	s := sc.s
	from := i + len("://")
	end, at, colon, slash := from, -1, -1, -1
	for ; end < len(s) && end < from+maxAuthority; end++ {
		c := s[end]
		if c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == '\\' || c == '(' || c == ')' || c == '[' && end == from {
			break
		}
		switch {
		case c == '@':
			at = end
			if slash >= 0 && colon < 0 {
				at = -1 // a path, such as /pkg@1.2
			}
		case c == ':' && colon < 0 && slash < 0:
			colon = end
		case (c == '/' || c == '?' || c == '#') && slash < 0:
			slash = end
			if at >= 0 || colon < 0 || digits(s[colon+1:end]) {
				// The authority is complete; the rest is path and query.
				return sc.authority(from, colon, at)
			}
		}
	}
	return sc.authority(from, colon, at)
}

func (sc *scanner) authority(from, colon, at int) int {
	s := sc.s
	switch {
	case at < 0:
		return from
	case colon >= 0 && colon < at:
		if !safeValue(s[colon+1:at]) && s[colon+1:at] != mask {
			sc.hide(colon+1, at)
		}
		return at
	case at-from >= 16 && mixed(s[from:at]):
		return sc.hide(from, at)
	}
	return from
}
