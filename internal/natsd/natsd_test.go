package natsd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const token = "0123456789abcdef"

func TestOnlyLoopbackAndOnlyWithToken(t *testing.T) {
	for _, o := range []Options{
		{},
		{Dir: t.TempDir(), Listen: "127.0.0.1:0"},
		{Dir: t.TempDir(), Listen: "0.0.0.0:0", Token: token},
		{Dir: t.TempDir(), Listen: ":0", Token: token},
		{Dir: t.TempDir(), Listen: "example.com:0", Token: token},
		{Dir: t.TempDir(), Listen: "127.0.0.1:99999", Token: token},
		{Dir: t.TempDir(), Listen: "127.0.0.1", Token: token},
	} {
		_, err := Start(o)
		require.Error(t, err, "%+v", o)
	}
}

func TestStartAndStop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 { // the folder can be used again
		s, err := Start(Options{Dir: dir})
		require.NoError(t, err)
		c, err := s.InProcessConn()
		require.NoError(t, err)
		require.NoError(t, c.Close())
		s.Stop()
	}
	fi, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
	s, err := Start(Options{Dir: dir, Listen: "localhost:0", Token: token})
	require.NoError(t, err)
	defer s.Stop()
	require.Regexp(t, `^nats://127\.0\.0\.1:\d+$`, s.URL())
	require.NotContains(t, s.URL(), token)

	// A file where the folder should be.
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Start(Options{Dir: file})
	require.Error(t, err)
}
