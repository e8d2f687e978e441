package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Places says where the host looks for settings. The zero value of a field
// means that the layer is left out.
type Places struct {
	ConfigDir string // the user's, such as ~/.claude
	Project   string // the project's directory
	Managed   string // the managed settings file
}

// ManagedFile returns where the host looks for managed settings on this system.
func ManagedFile() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	default:
		return "/etc/claude-code/managed-settings.json"
	}
}

// Layers returns the files that the host merges, from the weakest to the
// strongest: user, plugins that the settings switch on, project, local, managed
// with its drop-in folder. Files that do not exist are left out, and one that
// stands in two places counts once.
func Layers(p Places) []File {
	var files []File
	var seen []os.FileInfo
	add := func(name, layer string) {
		if _, err := os.Lstat(name); err != nil {
			return
		}
		// In the home folder the user's file is the project's file too.
		if st, err := os.Stat(name); err == nil {
			if slices.ContainsFunc(seen, func(o os.FileInfo) bool { return os.SameFile(st, o) }) {
				return
			}
			seen = append(seen, st)
		}
		files = append(files, Load(name, layer))
	}
	if p.ConfigDir != "" {
		add(filepath.Join(p.ConfigDir, "settings.json"), "user")
	}
	if p.Project != "" {
		add(filepath.Join(p.Project, ".claude", "settings.json"), "project")
		add(filepath.Join(p.Project, ".claude", "settings.local.json"), "local")
	}
	if p.Managed != "" {
		add(p.Managed, "managed")
		drop, _ := filepath.Glob(strings.TrimSuffix(p.Managed, ".json") + ".d/*.json")
		for _, f := range drop {
			add(f, "managed")
		}
	}
	return append(files, plugins(p.ConfigDir, files)...)
}

// Load reads one file. An empty layer is told from the name, where it can be.
func Load(name, layer string) File {
	f := File{Name: name, Layer: layer}
	if layer == "" {
		f.Layer = layerOf(name)
	}
	f.Bytes, f.Err = ReadFile(name)
	return f
}

func layerOf(name string) string {
	base, dir := filepath.Base(name), filepath.Base(filepath.Dir(name))
	switch {
	case base == "managed-settings.json" || strings.HasSuffix(dir, "managed-settings.d"):
		return "managed"
	case base == "settings.local.json" && dir == ".claude":
		return "local"
	case base == "hooks.json" && dir == "hooks":
		return "plugin"
	case base == "settings.json" && dir == ".claude":
		if home, err := os.UserHomeDir(); err == nil && filepath.Clean(filepath.Dir(filepath.Dir(name))) == filepath.Clean(home) {
			return "user"
		}
		return "project"
	}
	return ""
}

// plugins returns the hooks files of the plugins that the settings switch on.
func plugins(configDir string, files []File) []File {
	if configDir == "" {
		return nil
	}
	b, err := ReadFile(filepath.Join(configDir, "plugins", "installed_plugins.json"))
	if err != nil {
		return nil
	}
	installed, err := Parse(b)
	if err != nil {
		return nil
	}
	on := map[string]bool{}
	for _, f := range files {
		if root, err := Parse(f.Bytes); err == nil && f.Err == nil {
			root.Get("enabledPlugins").last(func(m Member) { on[m.Name] = m.Value.Kind != 'f' })
		}
	}
	var found []File
	installed.Get("plugins").last(func(m Member) {
		if !on[m.Name] {
			return
		}
		for _, dir := range installPaths(m.Value) {
			name := filepath.Join(dir, "hooks", "hooks.json")
			if _, err := os.Lstat(name); err == nil && !slices.ContainsFunc(found, func(f File) bool { return f.Name == name }) {
				found = append(found, Load(name, "plugin"))
			}
		}
	})
	return found
}

func installPaths(n *Node) []string {
	var all []string
	if p := n.Get("installPath"); p.IsString() && filepath.IsAbs(p.Text) {
		all = append(all, p.Text)
	}
	for _, i := range n.Items {
		all = append(all, installPaths(i)...)
	}
	return all
}
