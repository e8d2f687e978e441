package audit

import "strings"

// call handles what a call's name tells of its arguments: setPassword("x"),
// PASSWORD('x'), login("user", "x"), auth=("user", "x"). The name stands at i.
func (sc *scanner) call(i, end int) (int, bool) {
	s := sc.s
	open := end
	if open < len(s) && s[open] == '=' {
		open++
	}
	if open >= len(s) || s[open] != '(' && (s[open] != '[' || open == end) {
		return 0, false
	}
	word := s[i:end]
	v := skipBlank(s, open+1)
	q := v + backslashes(s, v)
	if len(word) > 40 || q >= len(s) || !isQuote(s[q]) {
		return 0, false
	}
	if takesSecret(word) {
		return sc.value(v, valueJSON), true
	}
	if !takesLogin(word) {
		return 0, false
	}
	window := s[:min(len(s), q+maxToken)]
	_, next := closing(window, q+1, s[q], q-v)
	if v = skipBlank(window, next); v >= len(window) || window[v] != ',' {
		return 0, false
	}
	v = skipBlank(s, v+1)
	if q = v + backslashes(s, v); q >= len(s) || !isQuote(s[q]) {
		return 0, false
	}
	return sc.value(v, valueJSON), true
}

// takesSecret tells whether a call's one argument is a secret.
func takesSecret(word string) bool {
	name := strings.ToLower(word)
	for _, verb := range []string{"set_", "with_", "set", "with"} {
		if rest, ok := strings.CutPrefix(name, verb); ok {
			name = rest
			break
		}
	}
	switch strings.ReplaceAll(name, "_", "") {
	case "password", "passwd", "passphrase", "secret", "token", "apikey", "accesstoken", "authtoken", "bearertoken", "clientsecret", "secretkey", "keypassword", "storepassword":
		return true
	}
	return false
}

// takesLogin tells whether a call's arguments are a user and a password.
func takesLogin(word string) bool {
	switch strings.ReplaceAll(strings.ToLower(word), "_", "") {
	case "auth", "basicauth", "setbasicauth", "httpbasicauth", "httpdigestauth", "networkcredential", "pscredential",
		"usernamepasswordcredentials", "login", "signin", "authenticate":
		return true
	}
	return false
}
