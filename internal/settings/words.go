package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// wording looks at a command as a text: at what the shell, the session's folder
// or the host makes of it, on whatever machine. It returns false when the words
// do not say which program is run.
func (c *checker) wording(e *entry, at *Node, path string, exec bool) (runs bool) {
	cmd := at.Text
	if foreignShell(e.node) {
		return true
	}
	if exec {
		if !c.execForm(e, at, path) {
			return false
		}
	} else {
		bare := unquoted(cmd)
		if v := placeholder().FindStringSubmatch(bare); v != nil {
			c.add(Warning, at.Pos, path, "path-unquoted", fmt.Sprintf("without quotes the shell splits $%s at a space in it, and the hook cannot start (exit status 127)", v[1]),
				`put the path in double quotes, or use exec form with "args": []`)
		}
		if p := drive().FindString(bare); p != "" {
			c.add(Warning, at.Pos, path, "path-backslash", fmt.Sprintf("the shell takes the backslashes out of %.60q, so the file is not found", strings.TrimSpace(p)), "write the path with forward slashes")
		}
	}
	if strings.Contains(cmd, "CLAUDE_PLUGIN_ROOT") && c.isSettings() {
		c.add(Warning, at.Pos, path, "plugin-root", "only the hooks of a plugin know CLAUDE_PLUGIN_ROOT; in settings it is empty", "write ${CLAUDE_PROJECT_DIR}, or an absolute path")
	}
	if v := unset().FindStringSubmatch(cmd); v != nil && !strings.Contains(cmd, v[1]+"=") && !strings.Contains(cmd, "read") {
		c.add(Warning, at.Pos, path, "env-not-set", fmt.Sprintf("the host sets no $%s: it is empty, and the hook sees nothing of the call", v[1]), "the event comes as JSON on standard input, such as for jq -r .tool_input.command")
	}
	c.relative(e, at, path)
	return true
}

// placeholder finds a folder of the host's that no quotes protect; after = the
// shell does not split.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^=\\])\$\{?(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\b`)
})

// drive finds a path of Windows.
var drive = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s=(;|&])[A-Za-z]:\\[^\s;|&]*`) })

// unset finds variables that guides to hooks name and that no host sets.
var unset = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{?((?:CLAUDE_)?TOOL_(?:INPUT(?:_\w+)?|NAME|ARGS|OUTPUT|RESULT|RESPONSE)|CLAUDE_(?:FILE_PATHS?|HOOK_EVENT|NOTIFICATION|TOOL_USE_ID|TRANSCRIPT_PATH))\b`)
})

// unquoted returns what stands outside of quotes in a shell command.
func unquoted(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '"':
			end := closing(s[i:])
			if end < 0 {
				return out.String()
			}
			out.WriteByte('_') // a word stands here
			i += end
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// execForm looks at an entry with args, whose words no shell reads.
func (c *checker) execForm(e *entry, at *Node, path string) bool {
	cmd := at.Text
	if first, _, ok := strings.Cut(strings.TrimSpace(cmd), " "); ok {
		_, err := os.Stat(c.expand(cmd))
		_, err1 := os.Stat(first)
		if err != nil && (!strings.Contains(first, "/") || err1 == nil) {
			c.add(Warning, at.Pos, path, "exec-form-line", fmt.Sprintf("with args the command is the name of one program, and none is called %.60q; no shell splits it", cmd), "put each further word into args, or leave args out")
			return false
		}
	}
	for i, w := range e.words {
		if !byShell().MatchString(w) || i > 0 && isShell(filepath.Base(e.words[0])) {
			continue
		}
		c.add(Warning, at.Pos, path, "not-expanded", fmt.Sprintf("with args no shell takes part, so %.60q stays as it is written", w), "write an absolute path, or leave args out")
		return i > 0
	}
	return true
}

// byShell finds a word that begins with what only a shell fills in. The host
// fills in the folders of its own.
var byShell = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:~/|\$\{?(?:HOME|USER|PWD)\b)`) })

// relative finds a program or a script that depends on the session's folder.
func (c *checker) relative(e *entry, at *Node, path string) {
	words := e.words
	if i := slices.Index(words, "--"); i >= 0 && isHooktrail(words[0]) {
		words = words[i+1:]
	}
	if len(words) == 0 {
		return
	}
	file := words[0]
	if interpreter(filepath.Base(file)) {
		i := slices.IndexFunc(words[1:], func(w string) bool { return !plainFlag(words[0], w) })
		if i < 0 || strings.HasPrefix(words[i+1], "-") || !script().MatchString(words[i+1]) {
			return
		}
		file = words[i+1]
	} else if !strings.Contains(file, "/") {
		return
	}
	if filepath.IsAbs(file) || !resolved(file) {
		return
	}
	severity := Note
	if isGuard(e.Event) {
		severity = Warning
	}
	c.add(severity, at.Pos, path, "path-relative", fmt.Sprintf("%.60q is looked for in the session's current folder, which follows each cd; elsewhere the hook cannot start", file),
		`write "${CLAUDE_PROJECT_DIR}/…" in double quotes, or an absolute path`)
}

// script tells a file by its path or its ending.
var script = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/|\.(?:py|js|mjs|cjs|ts|sh|rb|pl)$`) })

// isSettings tells whether the file surely is one of settings, and no plugin's.
func (c *checker) isSettings() bool {
	switch c.file.Layer {
	case "plugin":
		return false
	case "":
		return slices.Contains([]string{"settings.json", "settings.local.json", "managed-settings.json"}, filepath.Base(c.file.Name))
	}
	return true
}

// headers looks for variables that the host does not put into a header.
func (c *checker) headers(e *entry) {
	var allowed []string
	if l := e.node.Get("allowedEnvVars"); l.IsList() {
		for _, i := range l.Items {
			allowed = append(allowed, i.Text)
		}
	}
	e.node.Get("headers").last(func(m Member) {
		for _, v := range variable().FindAllStringSubmatch(m.Value.Text, -1) {
			if !slices.Contains(allowed, v[1]) {
				c.add(Warning, m.Value.Pos, pointer(pointer(e.Path, "headers"), m.Name), "header-env", fmt.Sprintf("the header %.40s takes $%s, which allowedEnvVars does not name, so it is not filled in", m.Name, v[1]), fmt.Sprintf(`add "allowedEnvVars": [%q]`, v[1]))
			}
		}
	})
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{?([A-Za-z_]\w*)`) })
