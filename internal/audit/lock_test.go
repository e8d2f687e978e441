package audit

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLocked tells a lock that somebody holds from one that is free, and leaves
// a free one free.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, Locked(t.Context(), path))
	unlock, err := acquire(path, func() bool { return true })
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, Locked(ctx, path), "another process holds it")
	unlock()
	require.NoError(t, Locked(t.Context(), path))
	require.NoError(t, Locked(t.Context(), path))
	require.Error(t, Locked(t.Context(), filepath.Join(path+".lock", "audit.jsonl")), "a file in the folder's place")
}
