package audit

import "strings"

// flags are the flags of a command that take a secret though their names do not
// say so. Letters stand together, names are divided by blanks.
type flags struct {
	attached string // letters: -pSECRET
	separate string // letters: -p SECRET, -p=SECRET
	user     string // letters: -u USER:SECRET
	userLong string // names: --user USER:SECRET, also behind a word: --proxy-user
	proxy    string // letters: -x USER:SECRET@HOST
	long     string // names: --body SECRET, -hmac SECRET
	cookie   byte   // letter: -b NAME=SECRET
	colon    byte   // letter: /p:SECRET
}

// flagsOf returns the secret flags of a command, or of its part; nil when it has
// none.
func flagsOf(last, word string) *flags {
	switch word {
	case "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mariadb", "mycli", "7z", "7za", "rar", "unrar":
		return &flags{attached: "p"}
	case "sshpass":
		return &flags{attached: "p", separate: "p"}
	case "login", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport",
		"cqlsh", "useradd", "usermod", "twine", "rdesktop", "racadm", "psexec", "PsExec", "certutil", "ncftpput", "ncftpget",
		"esxcli", "vifs", "resxtop":
		return &flags{separate: "p"}
	case "ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami":
		return &flags{separate: "w"}
	case "ldappasswd":
		return &flags{separate: "wsa"}
	case "sqlcmd", "bcp", "zip", "unzip", "ipmitool":
		return &flags{separate: "P"}
	case "keygen": // ssh-keygen; the dash divides words here
		return &flags{separate: "NP"}
	case "cli": // redis-cli
		return &flags{separate: "a"}
	case "security":
		return &flags{separate: "pw"}
	case "snmpget", "snmpwalk", "snmpset", "snmpbulkwalk":
		return &flags{separate: "cAX"}
	case "doctl":
		return &flags{separate: "t"}
	case "nuget":
		return &flags{separate: "k"}
	case "curl":
		return &flags{user: "uE", userLong: "user cert", proxy: "x", cookie: 'b'}
	case "govc", "rabbitmqadmin":
		return &flags{user: "u", separate: "p"}
	case "http", "https", "xh", "httpie":
		return &flags{user: "a", userLong: "auth"}
	case "skopeo":
		return &flags{userLong: "creds"}
	case "lftp":
		return &flags{user: "u", userLong: "user"}
	case "openssl":
		return &flags{separate: "kK", long: "hmac"}
	case "smbclient", "rpcclient":
		return &flags{user: "U", userLong: "user"}
	case "xfreerdp", "wfreerdp", "winrs":
		return &flags{colon: 'p'}
	case "set", "put":
		if last == "secret" || last == "secrets" {
			return &flags{separate: "b", long: "body value"}
		}
	case "create":
		if last == "secret" || last == "env" { // eas secret:create
			return &flags{long: "value"}
		}
	case "parameter":
		if last == "put" { // aws ssm put-parameter
			return &flags{long: "value"}
		}
	}
	return nil
}

// oneOf tells whether name is in a list of names divided by blanks.
func oneOf(list, name string) bool {
	for item := range strings.FieldsSeq(list) {
		if item == name {
			return true
		}
	}
	return false
}

// toolFlag handles the secret flags of the command being read.
func (sc *scanner) toolFlag(i, from, end int) (int, bool) {
	s, f := sc.s, sc.tool
	if f == nil {
		return 0, false
	}
	name, long := s[from:end], from-i == 2
	single := len(name) == 1 && !long
	v := end // where the argument begins; end when it cannot be told
	if v < len(s) && s[v] == '=' {
		v++
	}
	v = skipBlank(s, v)
	switch {
	case v > end && (long && takesUser(f.userLong, name) || single && strings.Contains(f.user, name) || !long && bundled(f.user, name)):
		return sc.userPass(v), true
	case v > end && single && strings.Contains(f.proxy, name):
		return sc.proxy(v), true
	case !long && strings.IndexByte(f.user, name[0]) >= 0:
		return sc.userPass(from + 1), true
	case !long && strings.IndexByte(f.attached, name[0]) >= 0:
		if _, stop, _ := shellWord(s, from+1); stop > from+1 {
			return sc.value(from+1, valueShell), true
		}
	}
	if f.cookie != 0 && (single && f.cookie == name[0] || long && name == "cookie") {
		if v, ok := argument(s, end); ok {
			return sc.cookies(v), true
		}
	}
	if single && strings.Contains(f.separate, name) || oneOf(f.long, name) {
		if v, ok := argument(s, end); ok {
			return sc.value(v, valueShell), true
		}
		if end < len(s) && (s[end] == '=' || s[end] == '\'' || s[end] == '"') {
			return sc.value(end+len("=")*btoi(s[end] == '='), valueShell), true
		}
	}
	return 0, false
}

// takesUser tells whether a long flag takes USER:PASSWORD: user, proxy-user.
func takesUser(list, name string) bool {
	return list != "" && oneOf(list, name[strings.LastIndexByte(name, '-')+1:])
}

// bundled tells whether the last of several letters behind one dash takes
// USER:PASSWORD: -sSu.
func bundled(user, name string) bool {
	n := len(name) - 1
	return user != "" && n > 0 && n < 6 && strings.IndexByte(name, user[0]) == n && strings.Trim(name, letters) == ""
}

// userPass masks the password of USER:PASSWORD, USER%PASSWORD or USER,PASSWORD.
// The user may be a token.
func (sc *scanner) userPass(v int) int {
	from, to, _ := shellWord(sc.s, v)
	if n := strings.IndexAny(sc.s[from:to], ":%,"); n >= 0 && !strings.HasPrefix(sc.s[from+n:to], "://") {
		sc.later(from+n+1, to)
	}
	return v
}

// proxy masks the password of USER:PASSWORD@HOST without a scheme.
func (sc *scanner) proxy(v int) int {
	from, to, _ := shellWord(sc.s, v)
	word := sc.s[from:to]
	colon, at := strings.IndexByte(word, ':'), strings.LastIndexByte(word, '@')
	if colon >= 0 && at > colon && !strings.HasPrefix(word[colon:], "://") {
		sc.later(from+colon+1, from+at)
	}
	return v
}
