package zerto

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/reason"
)

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		require.NoError(t, os.Chmod(p, mode))
		return p
	}
	good := file("good", marker+"\n", 0o600)
	auth := config.ZertoAuth{ClientSecretFile: good}
	at := func(url string) config.Zerto { return config.Zerto{URL: url, Auth: auth} }
	with := func(a config.ZertoAuth) config.Zerto { return config.Zerto{URL: "https://zvm.example", Auth: a} }
	tls := func(c config.ZertoTLS) config.Zerto {
		return config.Zerto{URL: "https://zvm.example", Auth: auth, TLS: c}
	}
	for _, tt := range []struct {
		name string
		c    config.Zerto
		want string // in the error; empty means that it is accepted
	}{
		{"https", at("https://zvm.example"), ""},
		{"a port and a path", at("https://zvm.example:9669/zvm/"), ""},
		{"http on this machine", at("http://127.0.0.1:8080"), ""},
		{"http on this machine, IPv6", at("http://[::1]:8080"), ""},
		{"http on localhost", at("http://localhost:8080"), ""},
		{"http elsewhere", at("http://zvm.example"), "use https"},
		{"http to what looks like this machine", at("http://127.0.0.1.example"), "use https"},
		{"no URL", at(""), "empty"},
		{"no scheme", at("zvm.example"), "no host"},
		{"another scheme", at("ftp://zvm.example"), "must begin with https"},
		{"a password in the URL", at("https://u:" + marker + "@zvm.example"), "user or password"},
		{"an odd URL with a secret", at("https://" + marker + "%zz"), "not a URL"},
		{"a query", at("https://zvm.example?a=1"), "must end"},

		{"no login", with(config.ZertoAuth{}), "needs clientSecretFile"},
		{"a user without a password", with(config.ZertoAuth{Username: "u"}), "passwordFile"},
		{"a session without a user", with(config.ZertoAuth{Method: "session", PasswordFile: good}), "username"},
		{"an unknown method", with(config.ZertoAuth{Method: "ntlm", ClientSecretFile: good}), "method"},
		{"file and environment", with(config.ZertoAuth{ClientSecretFile: good, ClientSecretEnv: "S"}), "not both"},
		{"an environment variable that is not set", with(config.ZertoAuth{ClientSecretEnv: "NONE"}), "NONE is empty"},
		{"no such file", with(config.ZertoAuth{ClientSecretFile: filepath.Join(dir, "none")}), "clientSecretFile"},
		{"a file that others read", with(config.ZertoAuth{ClientSecretFile: file("open", marker, 0o644)}), "chmod 600"},
		{"a file that the group reads", with(config.ZertoAuth{ClientSecretFile: file("group", marker, 0o640)}), "chmod 600"},
		{"an empty file", with(config.ZertoAuth{ClientSecretFile: file("empty", "\n", 0o600)}), "empty"},
		{"a folder", with(config.ZertoAuth{ClientSecretFile: dir}), "not a regular file"},
		{"a huge file", with(config.ZertoAuth{ClientSecretFile: file("huge", string(make([]byte, 70<<10)), 0o600)}), "too long"},

		{"a pin", tls(config.ZertoTLS{PinSHA256: "AB:" + "00112233445566778899aabbccddeeff00112233445566778899aabbccddee"}), ""},
		{"a short pin", tls(config.ZertoTLS{PinSHA256: "abcd"}), "pinSha256"},
		{"no CA file", tls(config.ZertoTLS{CAFile: filepath.Join(dir, "none")}), "caFile"},
		{"a CA file without a certificate", tls(config.ZertoTLS{CAFile: good}), "PEM"},
		{"a CA file and no verification", tls(config.ZertoTLS{CAFile: good, InsecureSkipVerify: true}), "caFile"},
		{"no verification", tls(config.ZertoTLS{InsecureSkipVerify: true}), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(Options{Config: tt.c, StateFile: filepath.Join(dir, "s.json"), Getenv: func(string) string { return "" }})
			if tt.want == "" {
				require.NoError(t, err)
				require.Equal(t, "zerto", p.Name())
				require.Equal(t, marker, p.client.login.secret, "without the newline")
				require.Equal(t, tt.c.TLS.InsecureSkipVerify, len(p.Warnings()) > 0)
				return
			}
			require.ErrorIs(t, err, reason.ConfigInvalid)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), marker)
		})
	}
	require.NoFileExists(t, filepath.Join(dir, "s.json"), "New touches no state")
}
