package audit

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

func TestAReadOnlyFileSystem(t *testing.T) {
	dir := mountTmpfs(t, "size=1m")
	l := newLog(t, Options{Path: filepath.Join(dir, "audit.jsonl")})
	record(t, l, 1)
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	unavailable(t, l, "read-only file system")
}

// mountTmpfs mounts a small file system, which the test's end unmounts.
func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a file system of its own needs the right to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

func TestAFullDiskDeniesAndTheChainStays(t *testing.T) {
	dir := mountTmpfs(t, "size=64k")
	l := newLog(t, Options{Path: filepath.Join(dir, "audit.jsonl")})
	stored := 0
	for ; ; stored++ {
		require.Less(t, stored, 1000)
		e := someEvent("x")
		e.Command = strings.Repeat("abc ", 300)
		if err := l.Record(t.Context(), e); err != nil {
			require.ErrorIs(t, err, reason.AuditUnavailable)
			require.ErrorContains(t, err, "no space left")
			require.ErrorContains(t, err, l.Path())
			break
		}
	}
	require.Greater(t, stored, 5)
	require.Empty(t, verify(t, l.Path()))
	require.Contains(t, actions(t, l.Path()), "failing")
	for range 5 {
		_ = l.Record(t.Context(), someEvent("y"))
		require.Empty(t, verify(t, l.Path()))
	}
	// Room again: it goes on as if nothing had been.
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=256k"))
	record(t, l, 3)
	require.Empty(t, verify(t, l.Path()))
}
