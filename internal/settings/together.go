package settings

import (
	"fmt"
	"slices"
)

// together looks at what the files are in common. The result does not depend on
// the order in which they were named: the checkers stand in the order of names.
func together(all []*checker) {
	off, only := "", false
	for _, c := range all {
		if c.void != "" {
			c.off = ""
			continue
		}
		if c.off != "" && off == "" {
			off = c.off
		}
		if c.file.Layer == "managed" && c.root.Get("allowManagedHooksOnly").IsTrue() {
			only = true
		}
	}
	for _, c := range all {
		managed := c.file.Layer == "managed"
		switch {
		case off != "" && (!managed || c.off != ""):
			c.off = off
		case only && !managed:
			c.off = "managed settings allow managed hooks only"
		}
		for _, e := range c.entries {
			c.without(e)
			c.failsOpen(e)
		}
	}
	twice(all)
}

// twice finds entries that run the same thing on the same call.
func twice(all []*checker) {
	type what struct{ event, typ, command, condition string }
	seen := map[what][]*entry{}
	for _, c := range all {
		for _, e := range c.entries {
			if e.dropped != "" || e.Command == "" {
				continue
			}
			key := what{e.Event, e.Type, e.Command, text(e.node, "if")}
			i := slices.IndexFunc(seen[key], func(o *entry) bool { return overlap(e.Event, o.Matcher, e.Matcher) })
			if i < 0 {
				if len(seen[key]) < maxFindings {
					seen[key] = append(seen[key], e)
				}
				continue
			}
			o := seen[key][i]
			where := Dotted(o.Path)
			if o.owner != c {
				where += " of " + o.File
			}
			c.add(Warning, e.pos, e.Path, "same-hook-twice", fmt.Sprintf("the same hook as %s, repeated; calls that fit both run it once", where), "remove one of the two")
			if modeOf(o) != modeOf(e) {
				c.add(Warning, e.pos, e.Path, "same-hook-modes", fmt.Sprintf("the same hook stands in %s with another onFailure; which of the two counts is not certain", where), "write the same in both, or keep one")
			}
		}
	}
}

func text(n *Node, key string) string {
	if v := n.Get(key); v.IsString() {
		return v.Text
	}
	return ""
}

func modeOf(e *entry) string { return text(e.node, "onFailure") }
