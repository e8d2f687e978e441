//go:build unix

package zerto

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fifo puts a pipe where a file should be: opening it would wait for ever.
func fifo(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
}
