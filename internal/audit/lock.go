package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// acquire locks the log at path, however long that takes, and returns what
// unlocks it. The lock is on a file beside the log, so that it stays in place
// when the log is renamed. It makes the log's folder if that is missing.
//
// The kernel wakes the waiters of a lock at once when it is freed; asking again
// and again instead was slower and less fair with many writers. What the kernel
// does not offer is a wait with a deadline, so a commit waits here in a goroutine
// of its own. One that was given up lets go of the lock as soon as it gets it.
// There is never more than one of a Log, since it keeps its turn until then.
func acquire(path string, wanted func() bool) (func(), error) {
	name := path + ".lock"
	for {
		f, err := openLock(name)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		if inPlace(f, name) {
			return func() { _ = f.Close() }, nil
		}
		_ = f.Close() // it was removed while we waited
		if !wanted() {
			return func() {}, nil
		}
	}
}

// Locked waits for the lock of the log at path, as a writer does, and lets go of
// it at once. It returns an error when the lock cannot be had before ctx ends.
func Locked(ctx context.Context, path string) error {
	path, err := resolve(path)
	if err != nil {
		return fmt.Errorf("lock audit log: %w", err)
	}
	done := make(chan error, 1)
	go func() { // the kernel offers no wait with a deadline; see acquire
		unlock, err := acquire(path, func() bool { return ctx.Err() == nil })
		if err == nil {
			unlock()
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = errors.New("another process holds it")
	}
	if err != nil {
		return fmt.Errorf("lock audit log: %w", err)
	}
	return nil
}

// openLock opens the lock file, and makes it and the folder around it if they
// are missing.
func openLock(name string) (*os.File, error) {
	f, _, err := openFile(name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(filepath.Dir(name)); err != nil {
			return nil, err
		}
		f, _, err = openFile(name, 0)
	}
	return f, err
}

// inPlace tells whether the locked file is still the one under its name. Two
// writers could otherwise hold locks on different files after a removal.
func inPlace(f *os.File, name string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(name)
	return err == nil && os.SameFile(held, now)
}

// makeDir makes dir and what is missing above it, each with mode 0700 whatever
// the umask says.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700) //nolint:gosec // the folder of the configured log
	if errors.Is(err, fs.ErrNotExist) {
		if parent := filepath.Dir(dir); parent != dir {
			if err := makeDir(parent); err != nil {
				return err
			}
			err = os.Mkdir(dir, 0o700) //nolint:gosec // the folder of the configured log
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // made by somebody else; if it is no folder, the next step says so
	}
	if err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a folder needs its x bit
}
