//go:build unix

package observe

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openRegular opens a regular file without following a link at its end and
// without waiting for anybody, and returns its identity.
func openRegular(path string) (*os.File, string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0) //nolint:gosec // the host names it; what is read is bounded
	if err != nil {
		return nil, "", err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, "", err
	}
	id := ""
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id = fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return f, id, nil
}
