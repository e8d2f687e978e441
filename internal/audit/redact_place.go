package audit

import "strings"

// maxArguments bounds what is looked at of a command's arguments.
const maxArguments = 512

// placed handles commands whose secret is told by its place among the
// arguments, and remembers what a word tells of its command. The word ends at
// end; last is the word before it.
func (sc *scanner) placed(last, word string, end int) int {
	s := sc.s
	if end >= len(s) || s[end] != ' ' {
		if word == "thin" && end < len(s) && s[end] == ':' { // jdbc:oracle:thin:USER/PASSWORD@HOST
			return sc.oracle(end + 1)
		}
		if word == "Private" && strings.HasPrefix(s[end:], "-Lines: ") { // PuTTY's key files
			from := end + len("-Lines: ")
			end := keyText(s, run(s, from, func(c byte) bool { return c >= '0' && c <= '9' }))
			if n := run(s, end, func(c byte) bool { return c <= ' ' }); strings.HasPrefix(s[n:], "Private-MAC: ") {
				n += len("Private-MAC: ")
				end = run(s, n, isWord)
			}
			return sc.hide(from, end)
		}
		return end
	}
	switch word {
	case "secret", "secrets", "kinit", "cryptsetup", "passwd", "chpasswd":
		sc.feed = true
	case "sudo":
		sc.feed = strings.HasPrefix(s[end:], " -S")
	case "set":
		sc.store = last == "secrets"
		if all := sc.drawn(end, last == "secrets" || last == "env", 2); all > 0 {
			sc.later(all, 0)
		}
	case "login", "auth", "install":
		if at := sc.drawn(end, word != "install" || last == "service", 1); at > 0 {
			sc.later(at, 0)
		}
	case "add":
		sc.feed = sc.feed || last == "env"
	case "insert":
		sc.feed = last == "pass"
	case "put":
		sc.store = last == "kv"
	case "use":
		if last == "net" {
			return sc.netUse(end)
		}
	case "htpasswd":
		return sc.htpasswd(end)
	case "sqlplus", "sqlldr", "expdp", "impdp":
		return sc.oracle(end)
	}
	nth := nthArgument(last, word)
	if nth > 0 {
		for _, a := range sc.arguments(end) {
			if !a.flag(s) {
				nth--
			}
			if nth == 0 {
				sc.later(a.at, 0)
				break
			}
		}
	}
	return end
}

// drawn returns where the nth of the arguments behind end begins, flags left out, if
// asked for and if it looks drawn by lot; else zero.
func (sc *scanner) drawn(end int, asked bool, nth int) int {
	if !asked {
		return 0
	}
	laid := sc.laid
	all := sc.arguments(end)
	sc.laid = laid // others may have to look, too
	for _, a := range all {
		if a.flag(sc.s) {
			return 0 // it may take the next one
		}
		if nth--; nth == 0 {
			if text := sc.s[a.from:a.to]; len(text) >= keyMaterial && random(text) && run(text, 0, isTokenByte) == len(text) && !strings.ContainsAny(text, "/.=") {
				return a.at
			}
			return 0
		}
	}
	return 0
}

// nthArgument returns which of the arguments behind a word is a secret, given
// the word before it. Zero means none.
func nthArgument(last, word string) int {
	var before string
	nth := 1
	switch word {
	case "wpa_passphrase":
		return 2
	case "obscure":
		before = "rclone"
	case "unseal":
		before = "operator"
	case "authtoken":
		if last == "add" {
			return 1
		}
		before = "ngrok"
	case "encrypt_string":
		before = "vault"
	case "setapikey":
		before = "nuget"
	case "login":
		if last == "bw" {
			return 2
		}
		before = "cargo"
	case "unlock":
		before = "bw"
	case "SecureString":
		before = "ConvertTo"
	case "passwd":
		before = "openssl"
	case "AUTH":
		before = "cli"
	case "requirepass":
		before = "set"
	case "add_user", "change_password":
		before, nth = "rabbitmqctl", 2
	case "user":
		before, nth = "net", 2
	case "set":
		before, nth = "alias", 4 // mc alias set NAME URL KEY SECRET
	default:
		return 0
	}
	if last != before {
		return 0
	}
	return nth
}

// An argumentAt is a word of a command: from where it begins, and its content.
type argumentAt struct{ at, from, to int }

func (a argumentAt) flag(s string) bool { return s[a.at] == '-' || s[a.at] == '/' }

// arguments returns the words from end on to the end of the command, and
// nothing when they have been looked at already: all words of a command asking
// for all words behind them would take long.
func (sc *scanner) arguments(end int) []argumentAt {
	if sc.laid {
		return nil
	}
	sc.laid = true
	s := sc.s[:min(len(sc.s), end+maxArguments)]
	var all []argumentAt
	for v := skipBlank(s, end); v < len(s) && strings.IndexByte("\n\r;|&)<>", s[v]) < 0; {
		var a argumentAt
		next := run(s, v, func(c byte) bool { return c > ' ' && !isQuote(c) && strings.IndexByte(";|&)<>", c) < 0 })
		if q := v + backslashes(s, v); q < len(s) && isQuote(s[q]) {
			a.from, a.to, next = shellWord(s, v)
		} else {
			a.from, a.to = v, next
		}
		if next == v {
			break
		}
		a.at = v
		all = append(all, a)
		v = skipBlank(s, next)
	}
	return all
}

// netUse masks the password of net use [X:] \\host\share [PASSWORD] /user:NAME [PASSWORD].
func (sc *scanner) netUse(end int) int {
	for _, a := range sc.arguments(end) {
		word := sc.s[a.from:a.to]
		if a.flag(sc.s) || a.to == a.from || word[0] == '\\' || sc.s[a.at] == '\\' || word == "*" || len(word) == 2 && word[1] == ':' {
			continue
		}
		sc.later(a.at, 0)
		break
	}
	return end
}

// htpasswd masks the last argument when -b says that it is the password.
func (sc *scanner) htpasswd(end int) int {
	all := sc.arguments(end)
	for _, a := range all {
		if sc.s[a.at] == '-' && strings.Contains(sc.s[a.from:a.to], "b") {
			sc.later(all[len(all)-1].at, 0)
			break
		}
	}
	return end
}

// oracle masks the password of USER/PASSWORD@HOST.
func (sc *scanner) oracle(end int) int {
	s := sc.s
	for _, a := range sc.arguments(end) {
		if a.flag(s) {
			continue
		}
		word := s[a.from:min(len(s), a.from+maxArguments)]
		user := run(word, 0, isKeyByte)
		if user == 0 || user+1 >= len(word) || word[user] != '/' {
			continue
		}
		from := a.from + user + 1
		to := run(s, from, func(c byte) bool { return c > ' ' && c != '@' && c != ';' && c != '\'' })
		sc.later(from, to)
		break
	}
	return end
}

// piped returns where the pipe stands in rest, behind an echo, if the command
// behind it reads a secret from its standard input.
func piped(rest string) int {
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	at := strings.IndexByte(rest, '|')
	if at < 0 {
		return 0
	}
	command := strings.TrimSpace(rest[at+1:])
	if runsInput(command) && strings.IndexByte(strings.TrimSpace(rest[:at]), ' ') >= 0 {
		return 0 // what is printed may be run
	}
	for _, flag := range []string{"--password-stdin", "--with-token", "--passphrase-fd", "--pass-stdin", "sudo -S",
		"env add ", "secret put ", "secret set ", "secret create ", "secrets create ", "secrets set ", "secrets versions add "} {
		if strings.Contains(command, flag) {
			return at
		}
	}
	command = strings.TrimPrefix(command, "sudo ")
	for _, reader := range []string{"chpasswd", "passwd ", "kinit", "cryptsetup ", "vault kv put "} {
		if strings.HasPrefix(command, reader) {
			return at
		}
	}
	return 0
}

// printed masks what an echo at v prints, to the pipe at to.
func (sc *scanner) printed(v, to int) int {
	s := sc.s[:trimBlank(sc.s, v, to)]
	for v < len(s) {
		from, end, next := shellWord(s, v)
		if after := skipBlank(s, next); after < len(s) && (s[v] == '-' || strings.Contains(s[from:end], "%s")) {
			v = after
			continue
		}
		if next == v {
			break
		}
		if next >= len(s) {
			return sc.value(v, valueShell)
		}
		return sc.hide(v, len(s))
	}
	return v
}
