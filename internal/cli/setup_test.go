package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

// TestSetupThatHangsBlocks: a hook whose secrets lie on a dead file system must
// answer before the host gives up.
func TestSetupThatHangsBlocks(t *testing.T) {
	forever := make(chan struct{})
	defer close(forever)
	_, err := within(10*time.Millisecond, "set up the provider", func() (int, error) {
		<-forever
		return 1, nil
	})
	require.ErrorIs(t, err, reason.ConfigInvalid)
	_, err = within(time.Minute, "set up the provider", func() (int, error) { panic("x") })
	require.ErrorIs(t, err, reason.ConfigInvalid)
	v, err := within(time.Minute, "set up the provider", func() (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, v)
}
