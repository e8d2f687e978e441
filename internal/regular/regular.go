// Package regular opens files whose names come from a configuration, a project or
// a person. What is no regular file is refused: opening a FIFO waits for its
// writer, and a host lets the call run when its hook waits too long.
//
// The look and the opening are two steps. Who can swap the file in between can
// change the file as well.
package regular

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// Open opens a file for reading. Links are followed. A file that is not there is
// fs.ErrNotExist.
func Open(name string) (*os.File, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := isRegular(name, fi); err != nil {
		return nil, err
	}
	return os.Open(name) //nolint:gosec // what may be read is the caller's affair
}

// Read reads a file of at most limit bytes; a larger one is an error.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return b, nil
}

// OrNone returns an error if something else than a regular file stands at name,
// which is to be written. Any other fault is the writing's to tell.
func OrNone(name string) error {
	fi, err := os.Lstat(name)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return isRegular(name, fi)
}

// ErrHeld says that somebody else holds a lock.
var ErrHeld = errors.New("another process holds the lock")

// Lock takes the lock of a file, which is made if need be and stays. It tries
// again each time after every until ctx ends, or once when every is zero, and
// then returns ErrHeld. Closing the lock ends it.
func Lock(ctx context.Context, name string, every time.Duration) (*flock.Flock, error) {
	if err := OrNone(name); err != nil {
		return nil, err
	}
	l := flock.New(name, flock.SetPermissions(0o600))
	for {
		ok, err := l.TryLock()
		switch {
		case err != nil:
			_ = l.Close()
			return nil, err
		case ok:
			return l, nil
		case every == 0:
			_ = l.Close()
			return nil, ErrHeld
		}
		select {
		case <-ctx.Done():
			_ = l.Close()
			return nil, ErrHeld
		case <-time.After(every):
		}
	}
}

func isRegular(name string, fi fs.FileInfo) error {
	switch {
	case fi.Mode().IsRegular():
		return nil
	case fi.IsDir():
		return fmt.Errorf("%s is a folder and not a regular file", name)
	}
	return fmt.Errorf("%s is not a regular file", name)
}
