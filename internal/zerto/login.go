package zerto

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"

	"hooktrail/internal/config"
	"hooktrail/internal/regular"
)

// A method is a way to log in.
type method string

const (
	clientCredentials method = "client_credentials"
	password          method = "password"
	session           method = "session"
)

// A login holds what is needed to log in.
type login struct {
	method      method
	clientID    string
	secret      string // of the client
	username    string
	password    string
	sessionKind int // AuthenticationMethod: 0 Windows, 1 hypervisor manager
}

// secrets returns what must never be shown.
func (l login) secrets() []string { return []string{l.secret, l.password} }

func readLogin(c config.ZertoAuth, getenv func(string) string) (login, error) {
	l := login{method: method(c.Method), clientID: c.ClientID, username: c.Username, sessionKind: 1}
	if c.SessionMethod != nil {
		l.sessionKind = *c.SessionMethod
	}
	var err error
	if l.secret, err = readSecret("clientSecret", c.ClientSecretFile, c.ClientSecretEnv, getenv); err != nil {
		return login{}, err
	}
	if l.password, err = readSecret("password", c.PasswordFile, c.PasswordEnv, getenv); err != nil {
		return login{}, err
	}
	if l.method == "" {
		l.method = password
		if l.secret != "" && l.username == "" {
			l.method = clientCredentials
		}
	}
	switch l.method {
	case clientCredentials:
		if l.clientID == "" {
			l.clientID = "zerto-api"
		}
		if l.secret == "" {
			return login{}, errors.New("zerto.auth needs clientSecretFile or clientSecretEnv")
		}
	case password, session:
		if l.clientID == "" {
			l.clientID = "zerto-client"
		}
		if l.username == "" || l.password == "" {
			return login{}, errors.New("zerto.auth needs clientSecretFile (or clientSecretEnv), or username with passwordFile (or passwordEnv)")
		}
	default:
		return login{}, fmt.Errorf("zerto.auth.method is %q; it is client_credentials, password or session", c.Method)
	}
	return l, nil
}

// readSecret takes the secret from the file, or else from the environment. It
// is empty when neither is set.
func readSecret(name, file, env string, getenv func(string) string) (string, error) {
	if file == "" {
		if env == "" {
			return "", nil
		}
		v := getenv(env)
		if v == "" {
			return "", fmt.Errorf("zerto.auth.%sEnv: the environment variable %s is empty or not set", name, env)
		}
		return v, nil
	}
	if env != "" {
		return "", fmt.Errorf("zerto.auth: give %sFile or %sEnv, not both", name, name)
	}
	v, err := readSecretFile(file)
	if err != nil {
		return "", fmt.Errorf("zerto.auth.%sFile: %w", name, err)
	}
	return v, nil
}

func readSecretFile(path string) (string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by others (mode %04o); run: chmod 600 %s", path, fi.Mode().Perm(), path)
	}
	const most = 64 << 10
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", err
	}
	if len(b) > most {
		return "", fmt.Errorf("%s is too long for a secret", path)
	}
	b = bytes.TrimRight(b, "\r\n")
	if len(b) == 0 {
		return "", fmt.Errorf("%s is empty", path)
	}
	return string(b), nil
}
