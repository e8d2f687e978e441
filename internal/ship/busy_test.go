package ship

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRunTakesOverFromAShipperThatGaveUp: a hook ships within a budget, and may
// end before the log's end. Nobody would be at work then.
func TestRunTakesOverFromAShipperThatGaveUp(t *testing.T) {
	srv := startServer(t)
	str := srv.stream()
	l := newTestLog(t)
	l.add(3)
	o := l.options(srv.url)
	o.Stall = 20 * time.Second
	o, err := o.withDefaults()
	require.NoError(t, err)
	held, err := lockCursor(o.Cursor)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := Run(bg, o)
		done <- err
	}()
	select {
	case err := <-done:
		require.Fail(t, "it did not wait", err)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, held.Close())
	require.NoError(t, <-done)
	require.Equal(t, l.ids, storedIDs(t, str))
}
