package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"hooktrail/internal/regular"
)

// minToken keeps tokens that can be guessed out.
const minToken = 16

// authorised compares in a time that tells nothing of the token. More than one
// header is refused: two readers could take different ones.
func authorised(headers []string, token string) bool {
	if len(headers) != 1 {
		return false
	}
	scheme, got, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	a, b := sha256.Sum256([]byte(strings.TrimSpace(got))), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Token reads the token from a file that only its owner can read. A file that is
// not there is made, with a new token.
func Token(path string) (token string, made bool, err error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		token, err = makeToken(path)
		return token, err == nil, err
	}
	if err != nil {
		return "", false, fmt.Errorf("read token: %w", err)
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return "", false, fmt.Errorf("read token: others can read %s; run chmod 600 on it", path)
	}
	b, err := regular.Read(path, 4096)
	if err != nil {
		return "", false, fmt.Errorf("read token: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if token = strings.TrimSpace(line); len(token) < minToken {
		return "", false, fmt.Errorf("read token: %s has fewer than %d characters", path, minToken)
	}
	return token, false, nil
}

func makeToken(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make token: %w", err)
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token := base64.RawURLEncoding.EncodeToString(b[:])
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return "", fmt.Errorf("make token: %w", err)
	}
	_, err = f.WriteString(token + "\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(path)
		return "", fmt.Errorf("make token: %w", err)
	}
	return token, nil
}
