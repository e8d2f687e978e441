//go:build unix

package zerto

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
	"hooktrail/internal/zerto/zertotest"
)

// TestStateOfOthersIsNotRead: whoever can write the file can make an old tag
// good for a new change.
func TestStateOfOthersIsNotRead(t *testing.T) {
	for _, mode := range []os.FileMode{0o660, 0o606, 0o666} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, one(zertotest.Group{}))
			require.NoError(t, os.MkdirAll(filepath.Dir(l.state), 0o700))
			require.NoError(t, os.WriteFile(l.state, []byte(`{"version":1,"groups":{}}`), 0o600))
			require.NoError(t, os.Chmod(l.state, mode))
			out := l.protect(20*time.Second, "app01")
			require.Equal(t, reason.GuardCheckpointFailed, out.Code, out.Message)
			require.Contains(t, out.Message, "can be written by others")
			require.Empty(t, l.tags())
		})
	}
	if os.Geteuid() != 0 {
		return // only the administrator can give a file away
	}
	path := filepath.Join(t.TempDir(), "s.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"version":1,"groups":{}}`), 0o600))
	require.NoError(t, os.Chown(path, 4711, -1))
	_, err := (&stateFile{path: path}).read()
	require.ErrorContains(t, err, "belongs to somebody else")
}

func TestCAThatIsAFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.pem")
	fifo(t, path)
	done := make(chan error, 1)
	go func() {
		_, err := readCA(path)
		done <- err
	}()
	select {
	case err := <-done:
		require.ErrorContains(t, err, "is not a regular file")
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for a writer")
	}
}
