package audit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAMaskHidesNoCommand: whoever writes a command could write a secret before it
// to keep it out of the log.
func TestAMaskHidesNoCommand(t *testing.T) {
	const ran = "rm -rf /srv"
	for _, s := range []string{
		`echo "password:" && ` + ran, `echo "password:"; ` + ran, `read -sp "Password: " P; ` + ran, `bash -c "echo \"password:\"; ` + ran + `"`,
		"echo -----BEGIN RSA PRIVATE KEY-----; " + ran, "echo '-----BEGIN PRIVATE KEY-----'\n" + ran + "\necho '-----END PRIVATE KEY-----'",
		"echo -----BEGIN PRIVATE KEY-----\n" + x + x + "\n" + ran, "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n" + ran, "Private-Lines: 1\n" + ran,
		"echo Cookie: a=b ; " + ran, "echo Cookie: a=b && " + ran, "echo Cookie: a=b || " + ran, "echo Cookie: a=b\\; c=d; " + ran,
		"echo Authorization: Digest x ; " + ran, "echo Authorization: AWS4-HMAC-SHA256 x && " + ran,
		"password: |\n  " + ran, "password: >\n  " + ran,
		`"password":[ ; ` + ran, `"password":[ ; ` + ran + ` ; ]`, `password=""""; ` + ran, `password="""; ` + ran, `password=\"; ` + ran,
		"# password='\n" + ran, "# password='\n" + ran + "\n# '", "cat <<'E' >/dev/null\npassword=\"\nE\n" + ran + "; echo \"", "password=`" + ran + "`",
		"echo 'x' '" + ran + "' | sudo -S sh", "echo " + ran + " | sudo -S bash -s",
		`password='a\'; ` + ran, "password=(`" + ran + "`)", "Cookie: a=b;c=d;" + ran, "Cookie: a=b|" + ran,
		"password=$(" + ran + ")", "password=x " + ran, "token=a; " + ran, "token=a|" + ran, "token=a&&" + ran, "password=<(" + ran + ")", "password=${x:-$(" + ran + ")}",
		"mysql -p " + ran, "echo x | sudo -S " + ran, "sshpass -p x " + ran, `bash -c "password=1; ` + ran + `"`, "setPassword('x'); " + ran, "--password 'x' ; " + ran, "kinit u <<< x; " + ran,
	} {
		require.Contains(t, Redact(s), ran, s)
	}
}

// TestAMaskKnowsWhereItEnds spells out what a reader still sees.
func TestAMaskKnowsWhereItEnds(t *testing.T) {
	for in, want := range map[string]string{
		"K='-----BEGIN PRIVATE KEY-----\n" + x + x + "\nshort=\n-----END PRIVATE KEY-----'; ls": "K='[redacted]'; ls",
		"Cookie: a=" + x + "; Secure; b=" + x + "\nHost: h":                                     "Cookie: [redacted]\nHost: h",
		"cat <<E\npassword: |\n  two words\n  and more\nE\nls -l":                               "cat <<E\npassword: |\n  [redacted]\nE\nls -l",
		`{"secret":[{"a":"` + x + `","b":1.5e-3,"c":[true,null]}],"n":1}`:                       `{"secret":[redacted],"n":1}`,
		"password='" + x + "\n" + x + x + "'; ls":                                               "password='[redacted]'; ls",
		`expect -c 'expect "assword:" {send "` + x + `\r"}'`:                                    `expect -c 'expect "assword:" {send "[redacted]"}'`,
	} {
		require.Equal(t, want, Redact(in), in)
	}
}
