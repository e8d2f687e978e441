//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the exclusive lock on f, however long that takes. It belongs to the
// open file: closing f, or the end of the process, releases it.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
