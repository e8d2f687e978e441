//go:build !windows

package doctor

import "golang.org/x/sys/unix"

// freeBytes returns what an ordinary user may still write at a place.
func freeBytes(dir string) (uint64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:gosec,unconvert // the types differ between systems
}
