package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// How often a writer asks for the lock. The kernel does not queue those who ask
// without blocking, so who has waited long asks more often than who has just
// come; that keeps the slowest near the median. A blocking wait could not be
// given a deadline.
const (
	pollFirst = 100 * time.Microsecond
	pollNew   = 2 * time.Millisecond
	pollOld   = 300 * time.Microsecond
	pollAge   = 40 * time.Millisecond
)

// acquire locks the log at path and returns what unlocks it. The lock is on a
// file beside the log, so that it stays in place when the log is renamed. It
// makes the log's folder if that is missing.
func acquire(ctx context.Context, path string, timeout time.Duration) (func(), error) {
	name := path + ".lock"
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("another process held the lock for %s", timeout))
	defer cancel()
	var wait time.Duration
	for try := 0; ; try++ {
		lock := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR|openGuard), flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		switch {
		case errors.Is(err, fs.ErrNotExist) && try == 0:
			if err := makeDir(filepath.Dir(name)); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			_ = lock.Close()
			return nil, err
		case ok && inPlace(lock, name):
			return func() { _ = lock.Close() }, nil
		}
		_ = lock.Close() // taken, or removed while we opened it
		pause := pollFirst
		if try > 0 {
			pause = pollNew
		}
		if wait > pollAge {
			pause = pollOld
		}
		pause += rand.N(pause)
		wait += pause
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", name, context.Cause(ctx))
		}
	}
}

// inPlace tells whether the locked file is still the one under its name. Two
// writers could otherwise hold locks on different files after a removal.
func inPlace(lock *flock.Flock, name string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(name)
	return err == nil && os.SameFile(held, now)
}

// makeDir makes dir and what is missing above it, each with mode 0700 whatever
// the umask says.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if parent := filepath.Dir(dir); parent != dir {
			if err := makeDir(parent); err != nil {
				return err
			}
			err = os.Mkdir(dir, 0o700)
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
