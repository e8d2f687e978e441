package hook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWithinHandsAPanicOn(t *testing.T) {
	require.PanicsWithValue(t, "boom", func() { _, _ = Within(time.Minute, func() int { panic("boom") }) })
	n, ok := Within(time.Minute, func() int { return 3 })
	require.True(t, ok)
	require.Equal(t, 3, n)
}
