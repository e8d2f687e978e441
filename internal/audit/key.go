package audit

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const keySize = 32

// loadKey returns the key of Digest, and makes it when there is none. A fault is
// not remembered: the next call tries again.
func (l *Log) loadKey() ([]byte, error) {
	l.key.Lock()
	defer l.key.Unlock()
	if l.key.bytes != nil {
		return l.key.bytes, nil
	}
	l.key.bytes, l.key.err = l.readOrMakeKey()
	return l.key.bytes, l.key.err
}

func (l *Log) readOrMakeKey() ([]byte, error) {
	path := l.o.KeyFile
	if path == "" {
		log, err := resolve(l.o.Path)
		if err != nil {
			return nil, fmt.Errorf("find the key: %w", err)
		}
		path = filepath.Join(filepath.Dir(log), "hmac.key")
	}
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, fmt.Errorf("make the key: %w", err)
		}
		key, err = readKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	return key, nil
}

func readKey(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNoWait, 0) //nolint:gosec // the configured key
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := regular(path, fi); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) < keySize {
		return nil, fmt.Errorf("%s: not a key of at least %d bytes in hex", path, keySize)
	}
	return key, nil
}

// makeKey writes a new key under a name of its own and then links it into
// place: of several processes one wins, and nobody ever reads half a key.
func makeKey(path string) error {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".hmac.key.*") // mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(dir); err != nil {
			return err
		}
		tmp, err = os.CreateTemp(dir, ".hmac.key.*")
	}
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	err = tmp.Chmod(0o600)
	if err == nil {
		_, err = tmp.WriteString(hex.EncodeToString(key) + "\n")
	}
	if err == nil {
		err = tmp.Sync()
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	err = os.Link(tmp.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return syncDir(dir)
	}
	// No links on this file system. Two processes may then make a key each, and
	// the digests of that moment do not match later ones.
	return os.Rename(tmp.Name(), path)
}
