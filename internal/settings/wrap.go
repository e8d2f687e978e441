package settings

import (
	"fmt"
	"math"
	"strconv"

	"hooktrail/internal/event"
)

// shell is what a wrapped shell command is run with, as the host does.
var shell = []string{"/bin/sh", "-c"}

// wrap puts each command entry of others under "hooktrail run". Entries in the
// background, on events that nobody can hold back by failing, or in another
// shell are left alone, and so is what is wrapped already.
//
// What hooktrail run cannot turn into a block is its own loss: a program that is
// gone, or killed. So an entry that would block gets onFailure, too, unless its
// author wrote one. The order of the flags says so to unwrap: JSON has no place
// for a remark.
func (d *doc) wrap(o InstallOptions) error {
	for {
		e, eventName := d.wrappable()
		if e == nil {
			return nil
		}
		words, exec := argv(e)
		if !exec {
			words = append(append([]string{}, shell...), e.Get("command").Text)
		}
		mode, limit := wrapMode(e, eventName), fmt.Sprintf("%gs", wrapTimeout(e))
		args := []string{"run", "--on-failure", mode, "--timeout", limit, "--config", o.Config, "--"}
		alone := isGuard(eventName) && e.Get("onFailure") == nil
		if alone {
			args = []string{"run", "--timeout", limit, "--on-failure", mode, "--config", o.Config, "--"}
		}
		if err := d.setCommand(e, o.Binary, append(args, words...)); err != nil {
			return err
		}
		if alone {
			if err := d.addAfter(d.at(e.Pos), "args", "onFailure", "block"); err != nil {
				return err
			}
		}
	}
}

// wrappable returns the first entry that is still to be wrapped.
func (d *doc) wrappable() (*Node, string) {
	for _, m := range d.root.Get("hooks").members() {
		if m.Name != event.PreToolUse && m.Name != event.PermissionRequest && m.Name != "UserPromptSubmit" {
			continue
		}
		for _, g := range m.Value.Items {
			for _, e := range g.Get("hooks").items() {
				t, words := e.Get("type"), []string(nil)
				if t.IsString() && t.Text == "command" && e.Get("command").IsString() {
					words, _ = argv(e)
				}
				if len(words) == 0 || foreignShell(e) || e.Get("async").IsTrue() || e.Get("asyncRewake").IsTrue() {
					continue
				}
				if w := program(words); len(w) > 0 && isProgram(w[0], d.binaries) {
					continue
				}
				return e, m.Name
			}
		}
	}
	return nil, ""
}

// wrapMode is block on a guard's event, unless its author wrote continue.
func wrapMode(e *Node, eventName string) string {
	if isGuard(eventName) && text(e, "onFailure") != "continue" {
		return "block"
	}
	return "continue"
}

// wrapTimeout lies below what the host gives the entry, so that the host does
// not cancel first.
func wrapTimeout(e *Node) float64 {
	t := e.Get("timeout")
	if t == nil {
		return 25 // under every timeout that the host has of its own accord on these events
	}
	s, err := strconv.ParseFloat(t.Text, 64)
	if err != nil || s <= 0 {
		return 25
	}
	return math.Round(s*1000-math.Min(s*200, 2000)) / 1000
}

// setCommand gives an entry a command and arguments. The new arguments stand
// where the old ones stood, or right after the command.
func (d *doc) setCommand(e *Node, command string, args []string) error {
	pos := e.Pos
	if a := e.Get("args"); a != nil {
		if err := d.splice(a.Pos, a.End, encode(args, "", "")); err != nil {
			return err
		}
	} else if err := d.addAfter(e, "command", "args", args); err != nil {
		return err
	}
	c := d.at(pos).Get("command")
	return d.splice(c.Pos, c.End, encode(command, "", ""))
}

// addAfter puts a member into an object, right after another one.
func (d *doc) addAfter(n *Node, after, name string, v any) error {
	m := n.Get(after)
	sep := ", "
	for _, x := range n.Members {
		if x.Value != m {
			continue
		}
		if line, ws := d.before(x.Pos); line {
			sep = ",\n" + ws
		}
	}
	return d.splice(m.End, m.End, sep+encode(name, "", "")+": "+encode(v, "", ""))
}

// at returns the value that begins at an offset.
func (d *doc) at(pos int) *Node {
	var found *Node
	var walk func(*Node)
	walk = func(n *Node) {
		if n.Pos == pos {
			found = n
			return
		}
		for _, m := range n.Members {
			walk(m.Value)
		}
		for _, i := range n.Items {
			walk(i)
		}
	}
	walk(d.root)
	return found
}

// unwrap gives wrapped entries their own command back.
func (d *doc) unwrap() error {
	for {
		e, inner := d.wrapped()
		if e == nil {
			return nil
		}
		pos := e.Pos
		if e.Get("args").Items[1].Text == "--timeout" { // the onFailure is ours, see wrap
			if err := d.take(e, "onFailure"); err != nil {
				return err
			}
			e = d.at(pos)
		}
		if len(inner) == 3 && inner[0] == shell[0] && inner[1] == shell[1] {
			if err := d.take(e, "args"); err != nil {
				return err
			}
			c := d.at(pos).Get("command")
			if err := d.splice(c.Pos, c.End, encode(inner[2], "", "")); err != nil {
				return err
			}
			continue
		}
		if err := d.setCommand(e, inner[0], append([]string{}, inner[1:]...)); err != nil {
			return err
		}
	}
}

// wrapped returns the first entry that wrap has made, and what it wraps.
func (d *doc) wrapped() (*Node, []string) {
	for _, m := range d.root.Get("hooks").members() {
		for _, g := range m.Value.Items {
			for _, e := range g.Get("hooks").items() {
				words, exec := argv(e)
				if !exec || len(words) < 10 || !isProgram(words[0], d.binaries) || words[1] != "run" || words[8] != "--" {
					continue
				}
				if words[2] == "--on-failure" || words[2] == "--timeout" && words[4] == "--on-failure" {
					return e, words[9:]
				}
			}
		}
	}
	return nil, nil
}

// take takes a member out of an object, if it is there.
func (d *doc) take(n *Node, name string) error {
	for i, m := range n.Members {
		if m.Name == name {
			return d.remove(n, i)
		}
	}
	return nil
}
