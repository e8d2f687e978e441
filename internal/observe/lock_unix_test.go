//go:build unix

package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestALockThatIsAFIFO is no lock: opening it would hold the hook until the host
// gives up.
func TestALockThatIsAFIFO(t *testing.T) {
	dir := t.TempDir()
	h := sha256.Sum256([]byte("s"))
	mkfifo(t, filepath.Join(dir, hex.EncodeToString(h[:12])+".json.lock"))
	done := make(chan error, 1)
	go func() {
		_, _, err := openStore(t.Context(), dir, "s")
		done <- err
	}()
	select {
	case err := <-done:
		require.ErrorContains(t, err, "is not a regular file")
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for a writer")
	}
}
