package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"hooktrail/internal/event"
	"hooktrail/internal/reason"
	"hooktrail/internal/regular"
	"hooktrail/internal/schema"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 4 << 20

// Load reads the file at path. Every error has code reason.ConfigInvalid and
// says what is wrong, where, and what is expected there. Relative paths in the
// file start at its folder.
func Load(path string) (Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Config{}, reason.Wrap(reason.ConfigInvalid, "find configuration "+path, err)
	}
	b, err := regular.Read(abs, maxFile)
	if err != nil {
		return Config{}, reason.Wrap(reason.ConfigInvalid, "read configuration", err)
	}
	c, err := Parse(b)
	if err != nil {
		return Config{}, reason.Wrap(reason.ConfigInvalid, "configuration "+abs, err)
	}
	c.Path = abs
	c.resolve(filepath.Dir(abs))
	return c, nil
}

// Parse reads a configuration from its bytes. Paths stay as they are.
func Parse(b []byte) (Config, error) {
	v, err := event.Decode(b, 64)
	if err != nil {
		return Config{}, err
	}
	text := bytes.TrimPrefix(b, []byte("\ufeff"))
	c, ok := plain(text, v)
	if !ok {
		if c, err = judged(text, v); err != nil {
			return Config{}, err
		}
	}
	sum := sha256.Sum256(b)
	c.SHA256 = hex.EncodeToString(sum[:])
	return c, nil
}

// judged asks the schema, which names every fault.
func judged(text []byte, v any) (Config, error) {
	if bad := schema.Validate("config", v); len(bad) > 0 {
		texts := make([]string, len(bad))
		for i, x := range bad {
			texts[i] = x.String()
		}
		return Config{}, errors.New(strings.Join(texts, "; "))
	}
	var c Config
	err := json.Unmarshal(text, &c, json.RejectUnknownMembers(true))
	return c, err
}

// resolve makes relative paths absolute.
func (c *Config) resolve(dir string) {
	abs := func(p *string) {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
	for _, p := range []*string{
		&c.Audit.Log, &c.Audit.KeyFile,
		&c.NATS.CredsFile, &c.NATS.NkeyFile, &c.NATS.TokenFile, &c.NATS.PasswordFile, &c.NATS.CursorFile,
		&c.NATS.TLS.CAFile, &c.NATS.TLS.CertFile, &c.NATS.TLS.KeyFile,
		&c.Serve.Socket, &c.Serve.TokenFile,
	} {
		abs(p)
	}
	if z := c.Zerto; z != nil {
		for _, p := range []*string{&z.Auth.ClientSecretFile, &z.Auth.PasswordFile, &z.TLS.CAFile, &z.StateFile} {
			abs(p)
		}
	}
	// A bare name is looked up in the system's folders; anything with a separator is a file.
	if c.Exec != nil && strings.ContainsRune(filepath.ToSlash(c.Exec.Command[0]), '/') {
		abs(&c.Exec.Command[0])
	}
}
