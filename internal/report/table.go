package report

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

// A Table is one answer. A cell is a string, an int64 or a float64.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]any
	Bar     string // the column that is worth a picture; empty for none
}

// A counter counts events by some of their fields.
type counter struct {
	title string
	dims  []string
	want  func(*row) bool
	// uniq are fields whose different values are counted, as columns named after
	// them.
	uniq  []string
	times bool // adds the first and the last time
	last  bool // adds the last time
	more  func(dims []string) []any
	extra []string // the columns of more
	sort  string   // n (the default, the most first), dims, first or last

	seed maphash.Seed
	m    map[string]*tally
	key  []byte
}

type tally struct {
	n           int64
	uniq        []map[uint64]struct{}
	first, last string
}

func (c *counter) add(r *row) {
	if !c.want(r) {
		return
	}
	c.key = c.key[:0]
	for i, d := range c.dims {
		if i > 0 {
			c.key = append(c.key, 0x1f)
		}
		c.key = r.appendField(c.key, d)
	}
	t := c.m[string(c.key)]
	if t == nil {
		if c.m == nil {
			c.m, c.seed = map[string]*tally{}, maphash.MakeSeed()
		}
		t = &tally{uniq: make([]map[uint64]struct{}, len(c.uniq))}
		for i := range t.uniq {
			t.uniq[i] = map[uint64]struct{}{}
		}
		c.m[string(c.key)] = t
	}
	t.n++
	for i, u := range c.uniq {
		if v := r.appendField(nil, u); len(v) > 0 {
			t.uniq[i][maphash.Bytes(c.seed, v)] = struct{}{}
		}
	}
	if c.times || c.last {
		if t.first == "" || string(r.time) < t.first {
			t.first = string(r.time)
		}
		if string(r.time) > t.last {
			t.last = string(r.time)
		}
	}
}

func (c *counter) table() Table {
	t := Table{Title: c.title, Columns: slices.Concat(c.dims, []string{"n"}), Bar: "n"}
	t.Columns = append(t.Columns, c.uniq...)
	if c.times {
		t.Columns = append(t.Columns, "first")
	}
	if c.times || c.last {
		t.Columns = append(t.Columns, "last")
	}
	t.Columns = append(t.Columns, c.extra...)
	for k, v := range c.m {
		dims := strings.Split(k, "\x1f")
		cells := make([]any, 0, len(t.Columns))
		for _, d := range dims {
			cells = append(cells, d)
		}
		cells = append(cells, v.n)
		for _, u := range v.uniq {
			cells = append(cells, int64(len(u)))
		}
		if c.times {
			cells = append(cells, v.first)
		}
		if c.times || c.last {
			cells = append(cells, v.last)
		}
		if c.more != nil {
			cells = append(cells, c.more(dims)...)
		}
		t.Rows = append(t.Rows, cells)
	}
	n := len(c.dims)
	column := slices.Index(t.Columns, c.sort)
	slices.SortFunc(t.Rows, func(a, b []any) int {
		if column > 0 {
			if d := cmp.Compare(a[column].(string), b[column].(string)); d != 0 { //nolint:errcheck // times are strings
				return d
			}
		} else if c.sort != "dims" {
			if d := cmp.Compare(b[n].(int64), a[n].(int64)); d != 0 { //nolint:errcheck // made above
				return d
			}
		}
		return slices.CompareFunc(a[:n], b[:n], func(x, y any) int { return natural(x.(string), y.(string)) }) //nolint:errcheck // made above
	})
	return t
}

// natural orders numbers by their size.
func natural(a, b string) int {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// appendField appends a field of r under the name it has in reports.
func (r *row) appendField(b []byte, name string) []byte {
	switch name {
	case "hook":
		return append(b, r.hook()...)
	case "exitCode":
		if !r.hasExit {
			return b
		}
		return strconv.AppendInt(b, r.exit, 10)
	case "timedOut":
		if !r.hasTimedOut {
			return b
		}
		return strconv.AppendBool(b, r.timedOut)
	case "hour":
		return append(b, r.time[:min(13, len(r.time))]...)
	case "day":
		return append(b, r.time[:min(10, len(r.time))]...)
	case "sessions", "session":
		return append(b, r.session...)
	case "users":
		return append(b, r.user...)
	case "calls":
		return append(b, r.toolUse...)
	}
	if p := r.text([]byte(name)); p != nil {
		return append(b, *p...)
	}
	return b
}

// By lists the fields that a report can be split by.
func By() []string {
	return []string{"host", "user", "session", "tool", "hook", "day", "hour", "product", "permissionMode", "hookEvent", "layer", "reason", "decision"}
}
