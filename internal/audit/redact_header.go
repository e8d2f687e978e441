package audit

import (
	"encoding/base64"
	"strings"
)

// header masks the credentials of an Authorization header and leaves its
// scheme. The header ends at to; below zero, at the end of the line or of the
// quotes around it.
func (sc *scanner) header(from, to int) int {
	s := sc.s
	if to < 0 {
		to = len(s)
	}
	word := min(to, run(s, from, isKeyByte))
	after := min(to, skipBlank(s, word))
	one := from // what is masked is one word from here on
	if after > word && after < to {
		switch strings.ToLower(s[from:min(word, from+24)]) {
		case "bearer", "basic", "token", "apikey", "negotiate", "key", "oauth2":
			one = after
		case "digest", "aws4-hmac-sha256", "hawk", "oauth", "ntlm", "signature", "sharedkey", "sharedaccesssignature":
			return sc.hide(after, trimBlank(s, after, min(to, lineEnd(s, after))))
		default:
			// A scheme of somebody's own: Splunk x, SSWS x.
			end := min(to, run(s, after, isTokenByte))
			if scheme := s[from:word]; strings.Trim(scheme, letters+"-") == "" && len(scheme) <= 24 && (likelyToken(s[after:end]) || strings.HasPrefix(s[after:], mask)) {
				one = after
			}
		}
	}
	if strings.HasPrefix(s[one:], mask) {
		return one + len(mask)
	}
	if strings.EqualFold(s[from:min(word, from+24)], "bearer") && one == from {
		return word // a scheme alone
	}
	end := min(to, run(s, one, func(c byte) bool { return c > ' ' && !isQuote(c) && c != '\\' }))
	if safeValue(s[one:end]) {
		return end
	}
	return sc.hide(one, end)
}

// likelyToken tells a token behind the word Bearer from prose.
func likelyToken(s string) bool {
	return len(s) >= 20 || len(s) >= 8 && (mixed(s) || s != strings.ToLower(s))
}

// basicCredentials tells whether s is the base64 of user:password.
func basicCredentials(s string) bool {
	if len(s) < 8 || len(s) > 4096 {
		return false
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && strings.Contains(string(b), ":")
}

// lineEnd returns the end of a header: the line's, the quote's around it, or the
// command's.
func lineEnd(s string, v int) int {
	for i := v; i < len(s); i++ {
		switch s[i] {
		case '"':
			if i == v || s[i-1] != '=' {
				return i
			}
			n := strings.IndexAny(s[i+1:], "\"\n")
			if n < 0 {
				return len(s)
			}
			i += n
			if s[i+1] == '"' {
				i++
			}
		case '\n', '\r', '\'', '`':
			return i
		case ';', '|', '&':
			if anotherCommand(s, i) {
				return i
			}
		case '\\':
			if i+1 >= len(s) || strings.IndexByte(`\"'nr`, s[i+1]) >= 0 {
				return i
			}
		}
	}
	return len(s)
}
