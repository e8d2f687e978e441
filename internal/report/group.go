package report

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

// A Section is one table of a report.
type Section struct {
	Title   string
	Columns []string
	Rows    [][]string
	// Bar is the column whose numbers are worth a bar; -1 for none.
	Bar int
}

// A collector sees every row and ends with its sections.
type collector interface {
	add(*Row)
	sections() []Section
}

var seed = maphash.MakeSeed()

// set counts distinct strings by their 64-bit hash.
type set map[uint64]struct{}

func (s set) add(parts ...string) {
	s[hash(parts...)] = struct{}{}
}

func hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, p := range parts {
		_, _ = h.WriteString(p)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// grouped counts the rows that keep lets in, by some of their fields.
type grouped struct {
	title string
	keep  func(*Row) bool
	by    []string
	// distinct adds columns with the number of distinct values of fields.
	distinct []string
	groups   map[string]*group
	key      []byte
}

type group struct {
	fields []string
	n      int64
	seen   []set
}

func (g *grouped) add(r *Row) {
	if !g.keep(r) {
		return
	}
	if g.groups == nil {
		g.groups = map[string]*group{}
	}
	g.key = g.key[:0]
	for _, f := range g.by {
		g.key = append(append(g.key, r.Get(f)...), 0)
	}
	x := g.groups[string(g.key)]
	if x == nil {
		x = &group{fields: make([]string, len(g.by)), seen: make([]set, len(g.distinct))}
		for i, f := range g.by {
			x.fields[i] = strings.Clone(r.Get(f))
		}
		for i := range x.seen {
			x.seen[i] = set{}
		}
		g.groups[string(g.key)] = x
	}
	x.n++
	for i, f := range g.distinct {
		if v := r.Get(f); v != "" {
			x.seen[i].add(v)
		}
	}
}

var plural = map[string]string{"sessionId": "sessions", "user": "users", "toolUseId": "calls"}

func (g *grouped) sections() []Section {
	s := Section{Title: g.title, Columns: append([]string{"n"}, g.by...), Bar: 0}
	for _, d := range g.distinct {
		s.Columns = append(s.Columns, plural[d])
	}
	all := make([]*group, 0, len(g.groups))
	for _, x := range g.groups {
		all = append(all, x)
	}
	timed := len(g.by) > 0 && (g.by[0] == "hour" || g.by[0] == "day")
	slices.SortFunc(all, func(a, b *group) int {
		if !timed {
			if c := cmp.Compare(b.n, a.n); c != 0 {
				return c
			}
		}
		return slices.Compare(a.fields, b.fields)
	})
	for _, x := range all {
		row := append([]string{strconv.FormatInt(x.n, 10)}, x.fields...)
		for _, seen := range x.seen {
			row = append(row, strconv.Itoa(len(seen)))
		}
		s.Rows = append(s.Rows, row)
	}
	return []Section{s}
}

// listed keeps the rows that keep lets in, field by field.
type listed struct {
	title string
	keep  func(*Row) bool
	cols  []string
	rows  [][]string
	over  int
}

// maxListed bounds a list; what is beyond it is counted.
const maxListed = 10000

func (l *listed) add(r *Row) {
	if !l.keep(r) {
		return
	}
	if len(l.rows) >= maxListed {
		l.over++
		return
	}
	row := make([]string, len(l.cols))
	for i, c := range l.cols {
		row[i] = strings.Clone(r.Get(c))
	}
	l.rows = append(l.rows, row)
}

func (l *listed) sections() []Section {
	title := l.title
	if l.over > 0 {
		title += " (" + strconv.Itoa(l.over) + " more are left out)"
	}
	return []Section{{Title: title, Columns: l.cols, Rows: l.rows, Bar: -1}}
}

// many runs several collectors as one.
type many []collector

func (m many) add(r *Row) {
	for _, c := range m {
		c.add(r)
	}
}

func (m many) sections() []Section {
	var all []Section
	for _, c := range m {
		all = append(all, c.sections()...)
	}
	return all
}
