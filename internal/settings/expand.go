package settings

import (
	"path/filepath"
	"strings"
)

// expand puts in what is known of the variables that a path begins with.
func (c *checker) expand(s string) string {
	s = strings.Trim(s, `"`)
	if rest, ok := strings.CutPrefix(s, "~/"); ok && c.o.Home != "" {
		return filepath.Join(c.o.Home, rest)
	}
	for name, dir := range map[string]func() string{"CLAUDE_PROJECT_DIR": c.project, "CLAUDE_PLUGIN_ROOT": c.plugin, "HOME": func() string { return c.o.Home }} {
		rest, ok := strings.CutPrefix(s, "${"+name+"}")
		if !ok {
			rest, ok = strings.CutPrefix(s, "$"+name)
			ok = ok && strings.HasPrefix(strings.TrimPrefix(rest, `"`), "/") // else it is a longer name
		}
		if !ok {
			continue
		}
		if d := dir(); d != "" {
			return d + strings.TrimPrefix(rest, `"`)
		}
	}
	return s
}

// plugin returns the folder of the plugin whose hooks file this is, or "".
func (c *checker) plugin() string {
	abs, err := filepath.Abs(c.file.Name)
	if err != nil || c.file.Layer != "plugin" || filepath.Base(filepath.Dir(abs)) != "hooks" {
		return ""
	}
	return filepath.Dir(filepath.Dir(abs))
}

// project returns the folder that holds the file's .claude, or "".
func (c *checker) project() string {
	if c.o.Project != "" {
		return c.o.Project
	}
	if c.file.Layer == "user" || c.file.Layer == "managed" || c.file.Layer == "plugin" {
		return "" // it serves every project
	}
	abs, err := filepath.Abs(c.file.Name)
	if err != nil {
		return ""
	}
	if dir := filepath.Dir(abs); filepath.Base(dir) == ".claude" {
		return filepath.Dir(dir)
	}
	return ""
}
