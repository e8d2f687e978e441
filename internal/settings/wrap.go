package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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
		mode, limit := wrapMode(e, eventName), fmt.Sprintf("%gs", wrapTimeout(e))
		run := []string{"run", "--on-failure", mode, "--timeout", limit, "--config", o.Config, "--"}
		alone := isGuard(eventName) && e.Get("onFailure") == nil
		if alone {
			run = []string{"run", "--timeout", limit, "--on-failure", mode, "--config", o.Config, "--"}
		}
		if err := d.wrapEntry(e, run); err != nil {
			return err
		}
		if err := d.setCommand(e.Pos, encode(o.Binary, "", "")); err != nil {
			return err
		}
		if alone {
			if err := d.addAfter(d.at(e.Pos), "args", `"onFailure": "block"`); err != nil {
				return err
			}
		}
	}
}

// wrapEntry puts a command line before an entry's own, whose bytes stay as they
// are, escapes and the space between arguments included: that is what unwrap
// gives back. In the shell's form the arguments are new and stand right after
// the command.
func (d *doc) wrapEntry(e *Node, run []string) error {
	c, args := e.Get("command"), e.Get("args")
	before := strings.Trim(encode(run, "", ""), "[]") + ","
	if args.IsList() {
		text, at := before+d.raw(c), args.Pos+1
		if len(args.Items) > 0 {
			text, at = text+ownArgs, args.Items[0].Pos
		}
		return d.splice(at, at, text)
	}
	text := `"args": [` + before + strings.Trim(encode(shell, "", ""), "[]") + "," + d.raw(c) + "]"
	if args != nil {
		return d.splice(args.Pos, args.End, strings.TrimPrefix(text, `"args": `))
	}
	return d.addAfter(e, "command", text)
}

// addAfter puts a member, written as JSON, into an object right after another.
func (d *doc) addAfter(n *Node, after, text string) error {
	v, sep := n.Get(after), ", "
	for _, m := range n.Members {
		if m.Value != v {
			continue
		}
		if line, ws := d.before(m.Pos); line {
			sep = ",\n" + ws
		}
	}
	return d.splice(v.End, v.End, sep+text)
}

// ownArgs stands between the command of an entry that had arguments and these.
// It tells "/bin/sh -c" with arguments of its author's from the one that wrap
// puts there.
const ownArgs = ", "

func (d *doc) raw(n *Node) string { return string(d.b[n.Pos:n.End]) }

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

// setCommand gives the entry at an offset another command, as JSON.
func (d *doc) setCommand(pos int, text string) error {
	c := d.at(pos).Get("command")
	return d.splice(c.Pos, c.End, text)
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
		e := d.wrapped()
		if e == nil {
			return nil
		}
		if e.Get("args").Items[1].Text == "--timeout" { // the onFailure is ours, see wrap
			pos := e.Pos
			if err := d.removeName(e, "onFailure"); err != nil {
				return err
			}
			e = d.at(pos)
		}
		items := e.Get("args").Items
		own, last := d.raw(items[wrapWords]), items[wrapWords].End
		if len(items) == wrapWords+3 && items[wrapWords].Text == shell[0] && items[wrapWords+1].Text == shell[1] &&
			string(d.b[last:items[wrapWords+1].Pos]) != ownArgs {
			own = d.raw(items[wrapWords+2])
			if err := d.removeName(e, "args"); err != nil {
				return err
			}
		} else {
			if len(items) > wrapWords+1 {
				last = items[wrapWords+1].Pos
			}
			if err := d.splice(items[0].Pos, last, ""); err != nil {
				return err
			}
		}
		if err := d.setCommand(e.Pos, own); err != nil {
			return err
		}
	}
}

// wrapWords is how many arguments wrap puts before an entry's own command.
const wrapWords = 8

// wrapped returns the first entry that wrap has made, or nil.
func (d *doc) wrapped() *Node {
	for _, m := range d.root.Get("hooks").members() {
		for _, g := range m.Value.Items {
			for _, e := range g.Get("hooks").items() {
				words, exec := argv(e)
				if !exec || len(words) <= wrapWords+1 || !isProgram(words[0], d.binaries) || words[1] != "run" || words[wrapWords] != "--" {
					continue
				}
				if words[2] == "--on-failure" || words[2] == "--timeout" && words[4] == "--on-failure" {
					return e
				}
			}
		}
	}
	return nil
}

// removeName takes the member of a name out of an object.
func (d *doc) removeName(n *Node, name string) error {
	for i, m := range n.Members {
		if m.Name == name {
			return d.remove(n, i)
		}
	}
	return nil
}
