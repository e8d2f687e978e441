package settings

import (
	"cmp"
	"fmt"
	"slices"
)

// together looks at what the files are in common. The result does not depend on
// the order in which they were named: the checkers stand in the order of names.
func together(all []*checker, halted string) {
	off, managedOff, only := "", "", false
	for _, c := range all {
		switch {
		case c.void != "":
			c.off = ""
		case c.managed():
			managedOff = cmp.Or(managedOff, c.off)
			v := c.root.Get("allowManagedHooksOnly")
			only = only || v != nil && v.Kind != 'f' // a value of a wrong type counts as true
		default:
			off = cmp.Or(off, c.off)
		}
	}
	for _, c := range all {
		c.halts = halted != ""
		switch {
		case halted != "":
			c.off = halted
		case managedOff != "": // the managed files are one to the host
			c.off = managedOff
		case c.managed():
		case off != "":
			c.off = off
		case only:
			c.off = "managed settings allow managed hooks only"
		}
		for _, e := range c.entries {
			c.without(e)
			c.failsOpen(e)
		}
	}
	twice(all)
}

func (c *checker) managed() bool { return c.file.Layer == "managed" }

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
