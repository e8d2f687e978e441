//go:build !unix

package zerto

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// fifo puts a folder where a file should be: there are no named pipes in the
// file system here.
func fifo(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Mkdir(path, 0o700))
}
