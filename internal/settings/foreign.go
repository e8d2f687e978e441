package settings

import (
	"fmt"
	"slices"
	"strings"
)

// foreignEvents are events of other tools, by name. Names that Claude Code has
// too are left out.
var foreignEvents = map[string][]string{
	"Gemini CLI":     {"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress"},
	"Cursor":         {"beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution", "beforeReadFile", "beforeTabFileRead", "afterFileEdit", "afterTabFileEdit", "beforeSubmitPrompt", "afterAgentResponse", "afterAgentThought"},
	"Windsurf":       {"pre_run_command", "post_run_command", "pre_write_code", "post_write_code", "pre_read_code", "post_read_code", "pre_mcp_tool_use", "post_mcp_tool_use", "pre_user_prompt", "post_cascade_response"},
	"Copilot CLI":    {"userPromptSubmitted", "errorOccurred"},
	"Kiro":           {"agentSpawn"},
	"git (husky)":    {"pre-commit", "commit-msg", "pre-push", "prepare-commit-msg", "post-merge", "post-checkout", "post-commit"},
	"OpenCode":       {"tool.execute.before", "tool.execute.after", "file_edited", "session_completed"},
	"Amp or another": {"tool:pre-execute", "tool:post-execute"},
}

// foreignKeys are keys of an entry that only another tool reads.
var foreignKeys = []struct{ key, tool string }{
	{"failClosed", "Cursor"}, {"timeoutSec", "Copilot CLI"}, {"powershell", "Copilot CLI"}, {"bash", "Copilot CLI"},
	{"show_output", "Windsurf"}, {"timeout_ms", ""}, {"cache_ttl_seconds", "Kiro"},
}

// foreign recognises another tool's file and names it with the key that tells.
// It returns whether the file is one.
func (c *checker) foreign(root *Node) bool {
	hooks := root.Get("hooks")
	where, path := hooks, "/hooks"
	if hooks == nil {
		where, path = root, ""
	}
	own := 0
	var marks []Member
	tool := ""
	where.last(func(m Member) {
		if slices.Contains(namesMatcher, m.Name) || slices.Contains(noMatcher, m.Name) {
			own++
		}
		for _, t := range sortedTools() {
			if slices.Contains(foreignEvents[t], m.Name) && (tool == "" || tool == t) {
				tool = t
				marks = append(marks, m)
			}
		}
	})
	if v := root.Get("version"); len(marks) == 0 && v != nil && v.Kind == '0' && hooks.IsObject() {
		key, t := c.foreignKey(hooks)
		if t != "" {
			tool = t
			marks = append(marks, key)
		}
	}
	if len(marks) == 0 {
		if m, t := topMark(root); t != "" {
			tool, marks = t, []Member{m}
		}
	}
	if len(marks) == 0 {
		return c.other(root)
	}
	m := marks[0]
	p := pointer(path, m.Name)
	if at := c.pathOf(root, "", m.Pos); at != "" {
		p = at
	}
	// Events of ours may stand beside, in a file that several tools share;
	// they are looked at, too.
	c.add(Error, m.Pos, p, "foreign-file", fmt.Sprintf("%q is of %s: Claude Code runs no hook of this kind", m.Name, tool),
		"this looks like a file of "+tool+"; settings of Claude Code lie in .claude/settings.json")
	return own == 0
}

// topMark returns the key at the top that tells another tool's file.
func topMark(root *Node) (found Member, tool string) {
	for _, m := range root.Members {
		switch {
		case m.Name == "hooksConfig":
			return m, "Gemini CLI"
		case m.Name == "version" && m.Value.Kind == '0' && slices.ContainsFunc(root.Get("hooks").members(), camel):
			return m, "Cursor or Copilot CLI"
		}
	}
	return Member{}, ""
}

// camel tells whether an event's name begins in lower case, as no event of ours
// does.
func camel(m Member) bool { return m.Name != "" && m.Name[0] >= 'a' && m.Name[0] <= 'z' }

// isForeignEvent tells whether a name is another tool's event.
func isForeignEvent(name string) bool {
	for _, events := range foreignEvents {
		if slices.Contains(events, name) {
			return true
		}
	}
	return false
}

func sortedTools() []string {
	all := make([]string, 0, len(foreignEvents))
	for t := range foreignEvents {
		all = append(all, t)
	}
	slices.Sort(all)
	return all
}

// foreignKey returns the first entry key under n that another tool reads.
func (c *checker) foreignKey(n *Node) (found Member, tool string) {
	for _, m := range n.Members {
		for _, k := range foreignKeys {
			if m.Name == k.key && k.tool != "" {
				return m, k.tool
			}
		}
		if f, t := c.foreignKey(m.Value); t != "" {
			return f, t
		}
	}
	for _, i := range n.Items {
		if f, t := c.foreignKey(i); t != "" {
			return f, t
		}
	}
	return Member{}, ""
}

// pathOf returns the path of the member whose name stands at pos, or "".
func (c *checker) pathOf(n *Node, path string, pos int) string {
	if n == nil {
		return ""
	}
	for _, m := range n.Members {
		p := pointer(path, m.Name)
		if m.Pos == pos {
			return p
		}
		if at := c.pathOf(m.Value, p, pos); at != "" {
			return at
		}
	}
	for i, item := range n.Items {
		if at := c.pathOf(item, index(path, i), pos); at != "" {
			return at
		}
	}
	return ""
}

// other recognises files without hooks of any host that are taken for settings.
func (c *checker) other(root *Node) bool {
	say := func(key, what string) bool {
		for _, m := range root.Members {
			if m.Name == key {
				c.add(Warning, m.Pos, pointer("", key), "foreign-file", fmt.Sprintf("%q shows that this is %s, not a settings file of Claude Code", key, what), "settings lie in .claude/settings.json")
			}
		}
		return true
	}
	schema, hooks := root.Get("$schema"), root.Get("hooks")
	dotted := 0
	for _, m := range root.Members {
		if strings.Contains(m.Name, ".") {
			dotted++
		}
	}
	switch {
	case root.Get("name").IsString() && (hooks.IsString() || hooks.IsList() && !slices.ContainsFunc(hooks.Items, func(n *Node) bool { return !n.IsString() && !n.IsObject() }) && len(hooks.Items) > 0 && hooks.Items[0].IsString()):
		return say("hooks", "a plugin's manifest that names its hooks file; check that file")
	case dotted > 0 && 2*dotted >= len(root.Members) && hooks == nil:
		return say(root.Members[0].Name, "a file of an editor")
	case schema.IsString() && strings.Contains(schema.Text, "opencode.ai"):
		return say("$schema", "a file of OpenCode")
	case root.Get("experimental").Get("hook") != nil:
		return say("experimental", "a file of OpenCode")
	case root.Get("when").IsObject() && root.Get("then").IsObject():
		return say("then", "a hook of Kiro")
	case root.Get("husky") != nil:
		return say("husky", "a package.json")
	case root.Get("hooks") != nil:
		return false
	case root.Get("name").IsString() && (root.Get("dependencies").IsObject() || root.Get("devDependencies").IsObject() || root.Get("scripts").IsObject()):
		return say("name", "a package.json")
	case root.Get("mcpServers").IsObject() && len(root.Members) == 1:
		return say("mcpServers", "a list of MCP servers")
	}
	return false
}
