//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings"
)

// lay puts texts into the layers of a session, and returns them as check sees
// them, each file named after its layer.
func lay(t *testing.T, s *session, texts map[string]string) []settings.File {
	t.Helper()
	dir := t.TempDir()
	var files []settings.File
	var managed []string
	for layer, text := range texts {
		f := settings.File{Name: layer, Layer: layer, Bytes: []byte(text)}
		switch layer {
		case "user":
			s.User = text
		case "project":
			s.Project = text
		case "local":
			s.Local = text
		case "managed":
			managed = append(managed, keep(t, dir, "managed-settings.json", text), "managed-settings.json")
		case "drop-in":
			f.Layer = "managed"
			managed = append(managed, keep(t, dir, "managed-settings.d/10-hooks.json", text), "managed-settings.d/10-hooks.json")
		case "plugin":
			keep(t, dir, "plugin/.claude-plugin/plugin.json", `{"name":"guarding","version":"1.0.0","description":"x"}`)
			keep(t, dir, "plugin/hooks/hooks.json", text)
			s.Args = append([]string{"--plugin-dir", filepath.Join(dir, "plugin")}, s.Args...)
		case "installed":
			f.Layer = "plugin"
			keep(t, dir, "market/plugins/guarding/.claude-plugin/plugin.json", `{"name":"guarding","version":"1.0.0","description":"x"}`)
			keep(t, dir, "market/plugins/guarding/hooks/hooks.json", text)
			keep(t, dir, "market/.claude-plugin/marketplace.json", `{"name":"market","owner":{"name":"x"},"plugins":[{"name":"guarding","source":"./plugins/guarding"}]}`)
			s.Market = filepath.Join(dir, "market")
		default:
			t.Fatal(layer)
		}
		files = append(files, f)
	}
	if managed != nil {
		s.Inside = etc(dir, managed)
	}
	return files
}

// etc is a script that shows the client an /etc with managed settings: the links
// of a folder of its own lead to the real one, which nobody writes to.
func etc(dir string, pairs []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `mkdir %[1]q/etc; mount --rbind /etc %[1]q/etc; mount -t tmpfs none /etc; for f in %[1]q/etc/*; do ln -s "$f" /etc/; done; rm -f /etc/claude-code; mkdir -p /etc/claude-code/managed-settings.d;`, dir)
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "cp %q /etc/claude-code/%s;", pairs[i], pairs[i+1])
	}
	return b.String()
}

// keep writes a file and returns its name.
func keep(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}
