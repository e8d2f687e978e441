package settings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheHomeFoldersFileCountsOnce: whoever starts the host in the home folder
// has one file in two places.
func TestTheHomeFoldersFileCountsOnce(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte("{}"), 0o600))
	files := Layers(Places{ConfigDir: dir, Project: home})
	require.Len(t, files, 1)
	require.Equal(t, "user", files[0].Layer)
}
