package settings

import (
	"fmt"
	"slices"
	"strings"

	"hooktrail/internal/event"
)

// hooks looks at the map of events.
func (c *checker) hooks(n *Node, path string) {
	if !n.IsObject() {
		hint := `hooks is an object of events: "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}]}`
		if n.IsList() && len(n.Items) > 0 { // any other value is only dropped
			c.voids("hooks is a list")
			hint += "; " + c.voidHint()
		}
		c.add(Error, n.Pos, path, "hooks-type", "hooks must be an object of events, this is "+n.what(), hint)
		return
	}
	if isGroup(n) {
		c.voids("hooks is a single matcher group")
		c.add(Error, n.Pos, path, "hooks-type", "hooks holds a matcher or an entry where the name of an event is expected", `put it under an event: "hooks": {"PreToolUse": [ … ]}`)
		return
	}
	n.last(func(m Member) { c.event(m, pointer(path, m.Name)) })
}

// misplaced reports an onFailure that stands outside of any entry.
func (c *checker) misplaced(m Member, path, where string) {
	c.add(Warning, m.Pos, path, "key-without-effect", m.Name+" has no effect "+where+": every hook stays as it is written", `put "onFailure": "block" on each entry that is a guard`)
}

func (c *checker) event(m Member, path string) {
	if strings.EqualFold(m.Name, "onFailure") && !m.Value.IsList() {
		c.misplaced(m, path, "directly under hooks")
		return
	}
	if !slices.Contains(event.Known(), m.Name) {
		c.unknownEvent(m, path)
		return
	}
	if !m.Value.IsList() {
		hint := fmt.Sprintf(`write "%s": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}]`, m.Name)
		c.bad(m.Name, m.Value, path, "event-type", fmt.Sprintf("the value of %s must be a list of matcher groups, this is %s", m.Name, m.Value.what()), hint)
		if m.Value.IsObject() {
			m.Value.last(func(x Member) {
				if x.Value.IsObject() {
					c.ruleOf(m.Name, x.Value, pointer(path, x.Name))
				}
			})
		}
		return
	}
	for i, g := range m.Value.Items {
		c.group(m.Name, g, index(path, i))
	}
}

// ruleOf looks at an entry in a shape that only other guides know, so that its
// other faults are told in one go.
func (c *checker) ruleOf(eventName string, n *Node, path string) {
	if f := n.Get("onFailure"); f != nil && (!f.IsString() || f.Text != "block" && f.Text != "continue") {
		c.add(Error, f.Pos, pointer(path, "onFailure"), "on-failure", "onFailure must be exactly \"block\" or \"continue\"", "")
	}
	if t := n.Get("timeout"); t != nil {
		c.timeout(eventName, t, pointer(path, "timeout"))
	}
}

// unknownEvent reports a name that is no event, and looks at what stands under
// it all the same.
func (c *checker) unknownEvent(m Member, path string) {
	if holdsGuards(m.Value) {
		c.voids("guards stand under " + m.Name + ", which is no event")
		c.add(Error, m.Pos, path, "hooks-nested", fmt.Sprintf("%q is no event, but it holds events", m.Name), "events stand directly under hooks; "+c.voidHint())
		if m.Name == "hooks" && m.Value.IsObject() {
			m.Value.last(func(x Member) { c.event(x, pointer(path, x.Name)) })
			c.dropLast("it stands one level too deep")
		}
		return
	}
	if slices.Contains(documentation, m.Name) || strings.HasPrefix(m.Name, "_") || strings.HasPrefix(m.Name, "$") {
		c.add(Note, m.Pos, path, "event-unknown", fmt.Sprintf("%q is no event and is ignored", m.Name), "")
		return
	}
	meant := meantEvent(m.Name)
	switch {
	case isForeignEvent(m.Name): // said already
	case meant != "":
		hint := "the event is " + meant
		if _, matcher := qualified(m.Name); matcher != "" {
			hint += fmt.Sprintf(`, and what it is limited to stands on the group: "matcher": %q`, matcher)
		}
		c.add(Error, m.Pos, path, "event-misspelt", fmt.Sprintf("%q is no event of Claude Code, so its hooks never run", m.Name), hint)
	case slices.Contains(tools, m.Name) || strings.HasPrefix(m.Name, "mcp__"):
		c.add(Error, m.Pos, path, "event-is-tool", fmt.Sprintf("%q is a tool and not an event, so its hooks never run", m.Name), fmt.Sprintf(`put it under an event: "PreToolUse": [{"matcher": %q, "hooks": [ … ]}]`, m.Name))
	case !m.Value.IsList() && !m.Value.IsObject():
		c.add(Warning, m.Pos, path, "event-unknown", fmt.Sprintf("%q is no event and is ignored", m.Name), "")
		return
	default:
		c.add(Warning, m.Pos, path, "event-unknown", fmt.Sprintf("%q is not an event of Claude Code %s; hooks under it do not run there", m.Name, NewestClient), "an event of a newer version works only there; of another tool, never")
	}
	before := len(c.entries)
	if m.Value.IsList() {
		void := c.void
		for i, g := range m.Value.Items {
			c.group(m.Name, g, index(path, i))
		}
		c.void = void
	}
	for _, e := range c.entries[before:] {
		e.dropped = "its event is unknown to the host"
	}
}

func (c *checker) dropLast(why string) {
	for _, e := range c.entries {
		if e.dropped == "" {
			e.dropped = why
		}
	}
}

// isGroup tells whether a value looks like a matcher group or an entry.
func isGroup(n *Node) bool {
	if !n.IsObject() {
		return false
	}
	if n.Get("matcher") == nil && slices.ContainsFunc(n.Members, func(m Member) bool { return slices.Contains(event.Known(), m.Name) }) {
		return false
	}
	h := n.Get("hooks")
	if h.IsList() {
		return len(h.Items) > 0
	}
	return h.IsObject() && (n.Get("matcher") != nil || h.Get("type").IsString())
}

// holdsGuards tells whether hooks of PreToolUse or PermissionRequest stand
// somewhere under n.
func holdsGuards(n *Node) bool {
	if n == nil {
		return false
	}
	if slices.ContainsFunc(n.Members, func(m Member) bool {
		return isGuard(m.Name) && m.Value.Kind != 'n' && (!m.Value.IsList() || len(m.Value.Items) > 0)
	}) {
		return true
	}
	return slices.ContainsFunc(n.Members, func(m Member) bool { return holdsGuards(m.Value) }) || slices.ContainsFunc(n.Items, holdsGuards)
}

// bad reports what the host does not load: on a guard's event it throws the
// whole file away, on another it drops the entry.
func (c *checker) bad(eventName string, at *Node, path, code, message, hint string) {
	consequence := "only this is dropped"
	if isGuard(eventName) && (code != "event-type" || at.Kind != 'n') {
		c.voids(Dotted(path) + " cannot be loaded")
		consequence = c.voidHint()
	}
	if hint != "" {
		hint += "; "
	}
	c.add(Error, at.Pos, path, code, message, hint+consequence)
}

func (c *checker) group(eventName string, g *Node, path string) {
	if !g.IsObject() {
		c.bad(eventName, g, path, "group-type", "a matcher group must be an object with hooks, this is "+g.what(), `write {"matcher": "Bash", "hooks": [ … ]}`)
		return
	}
	matcher, dropped := "", ""
	if m := g.Get("matcher"); m != nil {
		if m.IsString() {
			matcher = m.Text
			c.matcher(eventName, m, pointer(path, "matcher"))
		} else {
			hint := `write a string such as "Bash" or "Write|Edit"`
			if m.Kind == 'n' {
				hint = "leave the matcher out to match everything"
			}
			c.bad(eventName, m, pointer(path, "matcher"), "matcher-type", "the matcher must be a string, this is "+m.what(), hint)
			dropped = "its matcher is not a string"
		}
	}
	hooks := g.Get("hooks")
	flat := g.Get("command") != nil || g.Get("url") != nil || g.Get("prompt") != nil || g.Get("type").IsString() || g.Get("bash") != nil
	switch {
	case hooks == nil && flat:
		c.bad(eventName, g, path, "group-flat", "the entry stands where a matcher group is expected: it has no hooks list, so it never runs", `wrap it: {"matcher": "…", "hooks": [ENTRY]}`)
		c.ruleOf(eventName, g, path)
		return
	case hooks == nil:
		hint := `add "hooks": [{"type": "command", "command": "…"}]`
		for _, m := range g.Members {
			if nearest(m.Name, []string{"hooks"}) != "" {
				hint = fmt.Sprintf("%q must be written hooks", m.Name)
			}
		}
		c.bad(eventName, g, path, "group-hooks", "the matcher group has no hooks list, so nothing runs", hint)
		return
	case !hooks.IsList():
		c.bad(eventName, hooks, pointer(path, "hooks"), "group-hooks", "hooks must be a list of entries, this is "+hooks.what(), `write "hooks": [ … ]`)
		return
	}
	c.groupKeys(g, path)
	if len(hooks.Items) == 0 {
		c.add(Note, hooks.Pos, pointer(path, "hooks"), "group-empty", "the list of hooks is empty: nothing runs here", "")
	}
	for i, e := range hooks.Items {
		c.entry(eventName, matcher, e, index(pointer(path, "hooks"), i))
		if dropped != "" {
			c.entries[len(c.entries)-1].dropped = dropped
		}
	}
}

func (c *checker) matcher(eventName string, m *Node, path string) {
	if !slices.Contains(event.Known(), eventName) {
		return
	}
	for _, f := range matcherFaults(eventName, m.Text) {
		c.add(f.severity, m.Pos, path, f.code, f.message, f.hint)
	}
}

func isEntryKey(name string) bool {
	if name == "type" {
		return true
	}
	for _, t := range hookTypes {
		if _, ok := t.keys[name]; ok {
			return true
		}
	}
	return false
}

// groupKeys warns of keys that the host ignores on a matcher group.
func (c *checker) groupKeys(g *Node, path string) {
	g.last(func(m Member) {
		p := pointer(path, m.Name)
		switch {
		case m.Name == "matcher" || m.Name == "hooks" || isDocumentation(m.Name):
		case m.Name == "onFailure":
			c.add(Warning, m.Pos, p, "key-on-group", "onFailure on a matcher group has no effect: its hooks fail open", "put it on each entry in hooks")
		case isEntryKey(m.Name):
			c.add(Warning, m.Pos, p, "key-on-group", fmt.Sprintf("%s on a matcher group has no effect", m.Name), "it belongs on the entries in hooks")
		case nearest(m.Name, []string{"matcher", "hooks"}) != "":
			c.add(Warning, m.Pos, p, "unknown-key", fmt.Sprintf("%q is ignored", m.Name), "is "+nearest(m.Name, []string{"matcher", "hooks"})+" meant? Without a matcher the group fits everything")
		case m.Name == "enabled" || m.Name == "disabled":
			c.add(Warning, m.Pos, p, "unknown-key", fmt.Sprintf("%q is ignored: the hooks run all the same", m.Name), "take the group out to switch it off")
		default:
			c.add(Warning, m.Pos, p, "unknown-key", fmt.Sprintf("the host does not know %q here and ignores it", m.Name), "if it was to limit the hooks, they run without that limit")
		}
	})
}
