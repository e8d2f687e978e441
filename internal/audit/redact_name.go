package audit

import "strings"

// maxKey bounds the names that are looked at.
const maxKey = 128

// keyKind says what a name promises of its value.
type keyKind int

const (
	keyPlain keyKind = iota
	keySecret
	keyHeader // Authorization
	keyCookie
)

// secretKey judges a name by its words, whatever joins them: clientSecret,
// CLIENT_SECRET and client-secret are the same.
func secretKey(key string) keyKind {
	var (
		buf [maxKey]byte
		few [8]string
	)
	flat, words := splitName(buf[:0], few[:0], key)
	if len(words) == 0 {
		return keyPlain
	}
	last := words[len(words)-1]
	prev := ""
	if len(words) > 1 {
		prev = words[len(words)-2]
	}
	if prev == "existing" { // the name of one: existingSecret
		return keyPlain
	}
	switch last {
	case "authorization":
		return keyHeader
	case "cookie", "cookies":
		return keyCookie
	case "password", "passwd", "passphrase", "passcode", "pwd", "pass", "pw", "secret", "token", "jwt",
		"credential", "credentials", "otp", "totp", "apikey", "psk", "phpsessid", "jsessionid", "userpass",
		"assword", "passwort", "kennwort", "contrasena", "senha", "requirepass", "bindpw":
		return keySecret
	case "session":
		if prev == "zerto" { // x-zerto-session
			return keySecret
		}
	case "auth":
		if prev == "" && key != "_auth" {
			return keyPlain
		}
		if prev == "" || prev == "redis" || prev == "cli" || prev == "proxy" {
			return keySecret
		}
	case "key", "keys":
		if keyOwner(prev) {
			return keySecret
		}
	case "signature":
		if prev == "amz" || prev == "goog" {
			return keySecret
		}
	case "sid":
		if prev == "connect" {
			return keySecret
		}
	case "data":
		if prev == "key" { // client-key-data of a kubeconfig
			return keySecret
		}
	}
	for i, w := range words {
		if secretStem(w) && !describes(words[i+1:]) {
			return keySecret
		}
	}
	return wholeName(flat)
}

// wholeName judges a name whose words are written together: dbpassword.
func wholeName(flat string) keyKind {
	is := func(suffix string) bool { return strings.HasSuffix(flat, suffix) }
	if is("password") || is("passwd") || is("passphrase") || is("passcode") || is("secret") || is("secretkey") || is("privatekey") ||
		is("accesskey") || is("apikey") || is("authkey") || is("accountkey") || is("token") || is("credentials") ||
		is("storepass") || is("keypass") || is("userpass") {
		return keySecret
	}
	if is("authorization") {
		return keyHeader
	}
	for _, s := range []string{"passe", "pass", "pwd", "pw"} { // not compass, bypass
		if owner, ok := strings.CutSuffix(flat, s); ok && passOwner(owner) {
			return keySecret
		}
	}
	return keyPlain
}

// passOwner tells whose pass a name written together is about: rootpass, dbpw.
func passOwner(w string) bool {
	switch w {
	case "root", "db", "admin", "user", "ssh", "smtp", "my", "mail", "ftp", "http", "ldap", "bind", "sudo", "mysql", "pg", "redis", "motde", "login", "new", "old":
		return true
	}
	return false
}

// secretStem tells whether a name that holds w anywhere is secret unless the
// words behind it say that it is about the secret only.
func secretStem(w string) bool {
	switch w {
	case "password", "passwd", "passphrase", "secret":
		return true
	}
	return false
}

// describes tells whether rest turns a secret's name into the name of something
// about it: password_length, secretName, client-secret-file.
func describes(rest []string) bool {
	if len(rest) == 0 {
		return false
	}
	switch rest[len(rest)-1] {
	case "key", "id", "value", "text", "string", "base", "base64", "b64", "hash", "data", "old", "new", "current", "confirm", "confirmation", "1", "2", "3":
		return false
	}
	return true
}

// keyOwner tells which words make a key a secret one.
func keyOwner(w string) bool {
	switch w {
	case "api", "secret", "private", "access", "signing", "encryption", "master", "account", "shared", "auth",
		"service", "client", "deploy", "storage", "webhook", "session", "app", "application", "admin", "subscription", "hmac", "ssh", "license", "preshared":
		return true
	}
	return false
}

// querySecret names what is secret in the query of a URL only.
func querySecret(key string) bool {
	switch strings.ToLower(key) {
	case "sig", "key", "signature", "code", "auth", "session", "sessionid", "sid":
		return true
	}
	return false
}

// workingDir tells the shell's PWD from a password.
func workingDir(key string) bool { return key == "PWD" || key == "OLDPWD" }

// splitName returns key in lower case without what joins its words, and its
// words. Digits at the end of a word are dropped: password1 is password. It
// works in the room that buf and words have, since nearly every name is plain.
func splitName(buf []byte, words []string, key string) (string, []string) {
	if len(key) > maxKey {
		key = key[len(key)-maxKey:]
	}
	var ends [maxKey]uint8
	n := 0
	word := func() {
		if m := len(buf); m > 0 && (n == 0 || int(ends[n-1]) < m) {
			ends[n] = uint8(m) //nolint:gosec // at most maxKey
			n++
		}
	}
	for i := range len(key) {
		c := key[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			word()
			continue
		case c >= 'A' && c <= 'Z':
			if i > 0 && key[i-1] >= 'a' && key[i-1] <= 'z' ||
				i > 0 && i+1 < len(key) && key[i-1] >= 'A' && key[i-1] <= 'Z' && key[i+1] >= 'a' && key[i+1] <= 'z' {
				word()
			}
			c += 'a' - 'A'
		}
		buf = append(buf, c)
	}
	word()
	flat := key // in most cases, and no copy is made then
	if string(buf) != key {
		flat = string(buf)
	}
	from := 0
	for _, end := range ends[:n] {
		w := flat[from:end]
		if last := w[len(w)-1]; last >= '0' && last <= '9' {
			if t := strings.TrimRight(w, "0123456789"); t != "" {
				w = t
			}
		}
		words = append(words, w)
		from = int(end)
	}
	return flat, words
}
