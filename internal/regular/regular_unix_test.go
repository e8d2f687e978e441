//go:build unix

package regular

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatIsNoFileIsNotWaitedFor: nobody writes to the FIFO.
func TestWhatIsNoFileIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	require.NoError(t, os.Symlink(fifo, link))
	for name, try := range map[string]func(string) error{
		"open":    func(p string) error { _, err := Open(p); return err },
		"read":    func(p string) error { _, err := Read(p, 10); return err },
		"or none": OrNone,
		"lock":    func(p string) error { _, err := Lock(t.Context(), p, 0); return err },
	} {
		t.Run(name, func(t *testing.T) {
			for p, want := range map[string]string{fifo: "not a regular file", link: "not a regular file", dir: "is a folder and not a regular file"} {
				done := make(chan error, 1)
				go func() { done <- try(p) }()
				select {
				case err := <-done:
					require.ErrorContains(t, err, want, p)
				case <-time.After(30 * time.Second):
					t.Fatal("it waits for a writer")
				}
			}
		})
	}
}

func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	_, err := Read(name, 3)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, OrNone(name))
	require.NoError(t, os.WriteFile(name, []byte("abc"), 0o600))
	require.NoError(t, OrNone(name))
	b, err := Read(name, 3)
	require.NoError(t, err)
	require.Equal(t, "abc", string(b))
	_, err = Read(name, 2)
	require.ErrorContains(t, err, "larger than 2 bytes")
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Lock(t.Context(), name, 0)
	require.NoError(t, err)
	_, err = Lock(t.Context(), name, 0)
	require.ErrorIs(t, err, ErrHeld)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Lock(over, name, time.Millisecond)
	require.ErrorIs(t, err, ErrHeld)

	got := make(chan error, 1)
	go func() {
		second, err := Lock(t.Context(), name, time.Millisecond)
		if err == nil {
			err = second.Close()
		}
		got <- err
	}()
	require.NoError(t, first.Close())
	require.NoError(t, <-got)
	fi, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())

	_, err = Lock(t.Context(), filepath.Join(name, "below"), 0)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrHeld)
}
