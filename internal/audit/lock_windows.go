package audit

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the exclusive lock on f, however long that takes. Closing f, or the
// end of the process, releases it.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{})
	if err != nil {
		return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}
