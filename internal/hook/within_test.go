package hook

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWithinHandsAPanicOn(t *testing.T) {
	require.PanicsWithValue(t, "boom", func() { _, _ = Within(t.Context(), time.Minute, func() int { panic("boom") }) })
	n, ok := Within(t.Context(), time.Minute, func() int { return 3 })
	require.True(t, ok)
	require.Equal(t, 3, n)
}

func TestWithinGivesUp(t *testing.T) {
	hangs := func() int { select {} }
	_, ok := Within(t.Context(), time.Millisecond, hangs)
	require.False(t, ok)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok = Within(ctx, time.Hour, hangs)
	require.False(t, ok)
	n, ok := Within(ctx, time.Hour, func() int { return 3 })
	require.True(t, ok)
	require.Equal(t, 3, n)
}
