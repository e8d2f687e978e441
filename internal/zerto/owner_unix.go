//go:build unix

package zerto

import (
	"io/fs"
	"os"
	"syscall"
)

// ours tells whether nobody but us, or the system's administrator, can have
// written a file.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && fi.Mode().Perm()&0o022 == 0 && (st.Uid == 0 || int(st.Uid) == os.Geteuid())
}
