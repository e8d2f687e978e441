//go:build unix

package ship

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNothingWaitsForAFIFO: an open of one waits until somebody writes, and
// neither the caller's context nor a signal ends it.
func TestNothingWaitsForAFIFO(t *testing.T) {
	for _, suffix := range []string{"", ".lock", ".tmp"} {
		l, srv := newTestLog(t), startServer(t)
		srv.stream()
		l.add(1)
		require.NoError(t, syscall.Mkfifo(DefaultCursor(l.path)+suffix, 0o600))
		done := make(chan error, 2)
		go func() {
			_, err := Run(context.Background(), l.options(srv.url))
			done <- err
			if suffix == "" {
				_, err = ReadStatus(l.options(srv.url))
			}
			done <- err
		}()
		for range 2 {
			select {
			case err := <-done:
				require.ErrorContains(t, err, "not a regular file", suffix)
			case <-time.After(30 * time.Second):
				t.Fatalf("it waits for %s", suffix)
			}
		}
	}
}
