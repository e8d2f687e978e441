package settings

import (
	"fmt"
	"slices"
	"strings"
)

// switches looks at the settings beside hooks that turn hooks off, void the
// file or reach into a hook's environment.
func (c *checker) switches(root *Node) {
	for _, m := range root.Members {
		path := pointer("", m.Name)
		switch m.Name {
		case "disableAllHooks":
			c.disableAll(m, path)
		case "allowManagedHooksOnly":
			if m.Value.IsTrue() && (c.file.Layer == "managed" || c.file.Layer == "") {
				c.add(Warning, m.Pos, path, "managed-hooks-only", "allowManagedHooksOnly turns off the hooks of users, projects and plugins", "hooks that must run belong into the managed file, too")
			} else if m.Value.IsTrue() {
				c.add(Warning, m.Pos, path, "key-without-effect", "allowManagedHooksOnly works only in managed settings", "")
			}
		case "strictPluginOnlyCustomization":
			if m.Value.IsTrue() || m.Value.IsList() && slices.ContainsFunc(m.Value.Items, func(n *Node) bool { return n.Text == "hooks" }) {
				c.add(Warning, m.Pos, path, "plugin-hooks-only", "strictPluginOnlyCustomization turns off hooks that are not from plugins or managed settings", "")
			}
		case "env":
			c.env(m.Value, path)
		case "permissions":
			c.permissions(m.Value, path)
		}
	}
}

func (c *checker) disableAll(m Member, path string) {
	if m.Value.IsTrue() {
		hint := "remove it to turn hooks on again"
		if c.file.Layer == "project" || c.file.Layer == "local" {
			hint = "anyone who can write this file turns off the guards of every user who opens the project; managed settings and hooktrail's ConfigChange hook withstand it"
		}
		c.off = "disableAllHooks is set in " + c.file.Name
		c.add(Warning, m.Pos, path, "hooks-disabled", "disableAllHooks turns off all hooks, those of the user and of other files included", hint)
	}
}

// reaching are variables that change what a hook runs.
var reaching = []string{
	"PATH", "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP",
	"PERL5OPT", "RUBYOPT", "SHELLOPTS", "IFS", "SHELL",

	// Some values of these end a program in Go before its first line runs, or
	// starve it: the host then sees a signal and not a decision.
	"GODEBUG", "GOTRACEBACK", "GOMEMLIMIT", "GOGC", "GOMAXPROCS",

	// Whom a guard trusts, and where it finds its files.
	"SSL_CERT_FILE", "SSL_CERT_DIR", "HOME", "XDG_STATE_HOME",
}

// reaches tells whether a variable changes what a hook runs.
func reaches(name string) bool {
	return strings.HasPrefix(name, "HOOKTRAIL_") || strings.HasPrefix(name, "ZERTO_") || slices.Contains(reaching, name)
}

func (c *checker) env(n *Node, path string) {
	n.last(func(m Member) {
		if !reaches(m.Name) {
			return
		}
		hint := "a hook in exec form with an absolute path and --config, as install writes it, is not moved by it"
		if c.file.Layer == "project" || c.file.Layer == "local" {
			hint = "a project's env reaches the user's hooks, too; " + hint
		}
		if strings.HasPrefix(m.Name, "GO") {
			hint = `some values end a Go program before it can decide, and only "onFailure": "block" on host ` + SinceOnFailure + " or later holds the call back then"
		}
		c.add(Warning, m.Pos, pointer(path, m.Name), "env-injected", fmt.Sprintf("%s in env reaches every hook and can change what it does", m.Name), hint)
	})
}

func (c *checker) permissions(n *Node, path string) {
	mode := n.Get("defaultMode")
	if mode == nil || mode.IsString() && slices.Contains(permissionModes, mode.Text) {
		return
	}
	instead := c.setting("permissions.defaultMode is unknown", `takes it for "default"`)
	hint := "the modes are " + strings.Join(permissionModes, ", ")
	if k := nearest(mode.Text, permissionModes); k != "" {
		hint = "is " + k + " meant?"
	}
	c.add(Error, mode.Pos, pointer(path, "defaultMode"), "permission-mode", fmt.Sprintf("the host %s knows no permission mode %s", NewestClient, show(mode)), hint+"; "+instead)
}
