package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A doc is a settings file in the making. Edits are splices at the positions
// that the parser gives, so that no byte outside of them moves. (A library that
// sets a path in JSON text writes the value compactly and cannot take it out
// again without a trace.)
type doc struct {
	b    []byte
	root *Node

	binaries []string // paths of our program, whatever it is called
}

func newDoc(b []byte) (*doc, error) {
	d := &doc{b: b}
	return d, d.parse()
}

func (d *doc) parse() (err error) {
	d.root, err = Parse(d.b)
	return err
}

// splice replaces the bytes from..to and reads the result again.
func (d *doc) splice(from, to int, text string) error {
	if bytes.Contains(d.b, []byte("\r\n")) {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	d.b = slices.Concat(d.b[:from], []byte(text), d.b[to:])
	return d.parse()
}

// indent returns the file's unit of indentation, or "" for a file on one line.
func (d *doc) indent() string {
	if len(d.root.Members) == 0 {
		return "  "
	}
	_, ws := d.before(d.root.Members[0].Pos)
	return ws
}

// before returns the white space before a position: whether it holds a line
// end, and what follows the last one.
func (d *doc) before(pos int) (line bool, ws string) {
	start := pos
	for start > 0 && (d.b[start-1] == ' ' || d.b[start-1] == '\t') {
		start--
	}
	if start == 0 || d.b[start-1] != '\n' {
		return false, ""
	}
	return true, string(d.b[start:pos])
}

// add puts a child into a list (name is "") or an object, as the last one.
func (d *doc) add(parent *Node, name string, v any) error {
	lead := ""
	if name != "" {
		q, _ := json.Marshal(name)
		lead = string(q) + ":"
	}
	starts, ends := children(parent)
	unit := d.indent()
	if unit == "" && len(d.root.Members) > 0 {
		// The whole file stands on one line, or in a style of its own.
		if lead != "" && !bytes.Contains(d.b, []byte(`":"`)) {
			lead += " "
		}
		return d.insert(parent, ends, ", ", lead+encode(v, "", ""))
	}
	if lead != "" {
		lead += " "
	}
	if len(starts) > 0 {
		if line, ws := d.before(starts[len(starts)-1]); line {
			return d.insert(parent, ends, ",\n"+ws, lead+encode(v, ws, unit))
		}
		return d.insert(parent, ends, ", ", lead+encode(v, "", ""))
	}
	outer := strings.Repeat(unit, d.depth(parent))
	text := "\n" + outer + unit + lead + encode(v, outer+unit, unit) + "\n" + outer
	return d.splice(parent.Pos+1, parent.End-1, text)
}

func (d *doc) insert(parent *Node, ends []int, sep, text string) error {
	if len(ends) == 0 {
		return d.splice(parent.Pos+1, parent.End-1, text)
	}
	at := ends[len(ends)-1]
	return d.splice(at, at, sep+text)
}

// depth counts the values around n.
func (d *doc) depth(n *Node) int {
	depth := 0
	var walk func(*Node, int) bool
	walk = func(x *Node, at int) bool {
		if x == n {
			depth = at
			return true
		}
		for _, m := range x.Members {
			if walk(m.Value, at+1) {
				return true
			}
		}
		for _, i := range x.Items {
			if walk(i, at+1) {
				return true
			}
		}
		return false
	}
	walk(d.root, 0)
	return depth
}

// children returns where each child of n begins (its name, in an object) and
// ends.
func children(n *Node) (starts, ends []int) {
	for _, m := range n.Members {
		starts, ends = append(starts, m.Pos), append(ends, m.Value.End)
	}
	for _, i := range n.Items {
		starts, ends = append(starts, i.Pos), append(ends, i.End)
	}
	return starts, ends
}

// remove takes child i out of parent, with its comma and the space around it.
func (d *doc) remove(parent *Node, i int) error {
	starts, ends := children(parent)
	switch {
	case len(starts) == 1:
		return d.splice(parent.Pos+1, parent.End-1, "")
	case i > 0:
		return d.splice(ends[i-1], ends[i], "")
	default:
		return d.splice(starts[0], starts[1], "")
	}
}

// encode writes v as JSON, its further lines under prefix.
func encode(v any, prefix, unit string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if unit != "" {
		e.SetIndent(prefix, unit)
	}
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode our own entry: %v", err)) // plain structs of strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}
