//go:build unix

package audit

import (
	"io/fs"
	"os"
	"syscall"
)

// openGuard keeps an open from waiting for the other end of a FIFO and from
// following a link that was put in place of a file.
const openGuard = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// openNoWait is openGuard for a file that may be a link.
const openNoWait = syscall.O_NONBLOCK

// inode returns the number by which the file system knows the file.
func inode(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// syncDir makes a new name in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the folder of the configured log
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close()
	return err
}

// The errors of a disk that takes no more.
const (
	errNoSpace = syscall.ENOSPC
	errQuota   = syscall.EDQUOT
)
