package audit

import (
	"io/fs"
	"syscall"
)

// openGuard is empty: opening does not block on Windows, and links need rights
// that users do not have.
const openGuard = 0

// openNoWait is the same for a file that may be a link.
const openNoWait = 0

// inode is not to be had cheaply here; zero means unknown.
func inode(fs.FileInfo) uint64 { return 0 }

// syncDir does nothing: NTFS keeps names in its own journal.
func syncDir(string) error { return nil }

// The errors of a disk that takes no more: ERROR_DISK_FULL, ERROR_HANDLE_DISK_FULL.
const (
	errNoSpace = syscall.Errno(112)
	errQuota   = syscall.Errno(39)
)
