package report

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// budgets sets how long hooks take against what they may take.
type budgets struct{ hooks map[string]*budget }

type budget struct {
	took  map[int64]int64 // milliseconds -> runs
	n     int64
	limit int64
}

func (b *budgets) add(r *Row) {
	if !r.HasDeadline || !r.HasDuration {
		return
	}
	if b.hooks == nil {
		b.hooks = map[string]*budget{}
	}
	x := b.hooks[r.HookName]
	if x == nil {
		x = &budget{took: map[int64]int64{}}
		b.hooks[strings.Clone(r.HookName)] = x
	}
	x.took[r.DurationMs]++
	x.n++
	x.limit = max(x.limit, r.DeadlineMs)
}

// p95 is the value at place floor(0.95 n) of the sorted durations.
func (b *budget) p95() int64 {
	at, seen := b.n*95/100, int64(0)
	for _, ms := range slices.Sorted(maps.Keys(b.took)) {
		if seen += b.took[ms]; seen > at {
			return ms
		}
	}
	return 0
}

func (b *budgets) sections() []Section {
	s := Section{Title: "Duration against the deadline", Columns: []string{"hookName", "runs", "p95Ms", "deadlineMs"}, Bar: -1}
	names := slices.SortedFunc(maps.Keys(b.hooks), func(x, y string) int {
		return cmp.Or(cmp.Compare(b.hooks[y].p95(), b.hooks[x].p95()), cmp.Compare(x, y))
	})
	for _, n := range names {
		x := b.hooks[n]
		s.Rows = append(s.Rows, []string{n, itoa(x.n), itoa(x.p95()), itoa(x.limit)})
	}
	return []Section{s}
}

const maxReasons = 1000

// contradictions finds calls that were stopped and yet ran. Of the others it
// keeps a hash and what stopped them: a month has a million.
type contradictions struct {
	calls   map[uint64]uint16 // 0 for a call that ran, else one more than a place in reasons
	reasons []string
	both    map[string]string // tool use id -> what stopped it first
}

func (c *contradictions) add(r *Row) {
	after := r.HookEvent == "PostToolUse" || r.HookEvent == "PostToolUseFailure"
	stopped := r.stopped() && !after // a block after the tool has run stops nothing
	ran := after && r.Kind == "invocation"
	if r.ToolUseID == "" || !stopped && !ran {
		return
	}
	if c.calls == nil {
		c.calls, c.both = map[uint64]uint16{}, map[string]string{}
	}
	key := hash(r.ToolUseID)
	was, known := c.calls[key]
	if _, done := c.both[r.ToolUseID]; done {
		return
	}
	switch {
	case !known && ran:
		c.calls[key] = 0
	case !known:
		c.calls[key] = c.reason(r.Reason)
	case ran && was > 0:
		c.both[strings.Clone(r.ToolUseID)] = c.reasons[was-1]
	case stopped && was == 0:
		c.both[strings.Clone(r.ToolUseID)] = c.reasons[c.reason(r.Reason)-1]
	}
}

// reason returns one more than the place of a reason. There are some thirty; a
// forged log with very many gets no name for the rest.
func (c *contradictions) reason(code string) uint16 {
	if i := slices.Index(c.reasons, code); i >= 0 {
		return uint16(i + 1) //nolint:gosec // bounded below
	}
	if len(c.reasons) == maxReasons-1 {
		code = ""
	} else if len(c.reasons) == maxReasons {
		return maxReasons
	}
	c.reasons = append(c.reasons, strings.Clone(code))
	return uint16(len(c.reasons)) //nolint:gosec // at most maxReasons
}

func (c *contradictions) sections() []Section {
	s := Section{Title: "Stopped, and yet ran", Columns: []string{"toolUseId", "stoppedBy"}, Bar: -1}
	for _, id := range slices.Sorted(maps.Keys(c.both)) {
		s.Rows = append(s.Rows, []string{id, c.both[id]})
	}
	return []Section{s}
}

// retries finds commands that were tried until they got through. A try is one
// call, however many events speak of it.
type retries struct{ tries map[uint64]*try }

type try struct {
	session, tool, command string
	calls                  map[uint64]bool // whether the call was stopped
	last                   uint64
}

func (x *retries) add(r *Row) {
	if r.HookEvent != "PreToolUse" || r.Command == "" {
		return
	}
	if x.tries == nil {
		x.tries = map[uint64]*try{}
	}
	key := hash(r.SessionID, r.Tool, r.Command)
	t := x.tries[key]
	if t == nil {
		if !r.stopped() {
			return // what was never stopped is not remembered
		}
		t = &try{session: strings.Clone(r.SessionID), tool: strings.Clone(r.Tool), command: strings.Clone(r.Command), calls: map[uint64]bool{}}
		x.tries[key] = t
	}
	call := hash(r.ToolUseID)
	if _, known := t.calls[call]; !known {
		t.last = call
	}
	t.calls[call] = t.calls[call] || r.stopped()
}

func (x *retries) sections() []Section {
	s := Section{Title: "Stopped three times and more, then through", Columns: []string{"sessionId", "tool", "command", "stopped"}, Bar: -1}
	for _, t := range x.tries {
		stopped := int64(0)
		for _, yes := range t.calls {
			if yes {
				stopped++
			}
		}
		if stopped >= 3 && !t.calls[t.last] {
			s.Rows = append(s.Rows, []string{t.session, t.tool, t.command, itoa(stopped)})
		}
	}
	slices.SortFunc(s.Rows, slices.Compare)
	return []Section{s}
}

// rates counts how often hooks block.
type rates struct{ groups map[[3]string]*[2]int64 }

func (x *rates) add(r *Row) {
	if r.HookEvent != "PreToolUse" || r.HookName == "" {
		return
	}
	if x.groups == nil {
		x.groups = map[[3]string]*[2]int64{}
	}
	key := [3]string{r.Get("hour"), r.Product, r.HookName}
	g := x.groups[key]
	if g == nil {
		g = new([2]int64)
		x.groups[[3]string{strings.Clone(key[0]), strings.Clone(key[1]), strings.Clone(key[2])}] = g
	}
	g[0]++
	if r.Decision == "blocked" {
		g[1]++
	}
}

func (x *rates) sections() []Section {
	s := Section{Title: "Block rate", Columns: []string{"hour", "product", "hookName", "n", "blocked", "rate"}, Bar: 5}
	for k, g := range x.groups {
		s.Rows = append(s.Rows, []string{k[0], k[1], k[2], itoa(g[0]), itoa(g[1]), fmt.Sprintf("%.3f", float64(g[1])/float64(g[0]))})
	}
	slices.SortFunc(s.Rows, slices.Compare)
	return []Section{s}
}

// spans says from when to when a group was seen.
type spans struct {
	title           string
	by              []string
	keep            func(*Row) bool
	byLast, byFirst bool
	groups          map[string]*span
}

type span struct {
	fields      []string
	first, last string
	n           int64
}

func (x *spans) add(r *Row) {
	if !x.keep(r) {
		return
	}
	if x.groups == nil {
		x.groups = map[string]*span{}
	}
	var key strings.Builder
	for _, f := range x.by {
		key.WriteString(r.Get(f))
		key.WriteByte(0)
	}
	g := x.groups[key.String()]
	if g == nil {
		g = &span{first: strings.Clone(r.Time), fields: make([]string, len(x.by))}
		for i, f := range x.by {
			g.fields[i] = strings.Clone(r.Get(f))
		}
		x.groups[key.String()] = g
	}
	g.n++
	if r.Time < g.first {
		g.first = strings.Clone(r.Time)
	}
	if r.Time > g.last {
		g.last = strings.Clone(r.Time)
	}
}

func (x *spans) sections() []Section {
	s := Section{Title: x.title, Columns: append(slices.Clone(x.by), "first", "last", "n"), Bar: -1}
	all := slices.SortedFunc(maps.Values(x.groups), func(a, b *span) int {
		switch {
		case x.byLast:
			return cmp.Or(cmp.Compare(a.last, b.last), slices.Compare(a.fields, b.fields))
		case x.byFirst:
			return cmp.Or(cmp.Compare(b.first, a.first), slices.Compare(a.fields, b.fields))
		}
		return cmp.Or(cmp.Compare(a.fields[0], b.fields[0]), cmp.Compare(a.first, b.first))
	})
	for _, g := range all {
		s.Rows = append(s.Rows, append(slices.Clone(g.fields), g.first, g.last, itoa(g.n)))
	}
	return []Section{s}
}

// unfinished finds sessions whose end was never seen: what the host recorded of
// their last calls was never read.
type unfinished struct{ open map[string]*string }

func (x *unfinished) add(r *Row) {
	if r.Kind != "invocation" || r.SessionID == "" {
		return
	}
	if x.open == nil {
		x.open = map[string]*string{}
	}
	if r.HookEvent == "SessionEnd" {
		delete(x.open, r.SessionID)
		return
	}
	last := strings.Clone(r.Time)
	if at, ok := x.open[r.SessionID]; ok {
		*at = last // setting the map's value would keep the whole line as its key
		return
	}
	x.open[strings.Clone(r.SessionID)] = &last
}

func (x *unfinished) sections() []Section {
	s := Section{Title: "Sessions without an end", Columns: []string{"sessionId", "last"}, Bar: -1}
	for id, last := range x.open {
		s.Rows = append(s.Rows, []string{id, *last})
	}
	slices.SortFunc(s.Rows, func(a, b []string) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	return []Section{s}
}

// gaps counts numbers that are missing or stand twice, for each host.
type gaps struct{ hosts map[string]*numbers }

type numbers struct {
	n           int64
	uniq        int64
	first, last uint64
	seen        map[uint64]uint64 // number/64 -> bits
}

func (x *gaps) add(r *Row) {
	if r.Seq == 0 {
		return
	}
	if x.hosts == nil {
		x.hosts = map[string]*numbers{}
	}
	h := x.hosts[r.Host]
	if h == nil {
		h = &numbers{first: r.Seq, seen: map[uint64]uint64{}}
		x.hosts[strings.Clone(r.Host)] = h
	}
	h.n++
	h.first, h.last = min(h.first, r.Seq), max(h.last, r.Seq)
	word, bit := r.Seq/64, uint64(1)<<(r.Seq%64)
	old := h.seen[word]
	h.uniq += int64(bits.OnesCount64(bit &^ old))
	h.seen[word] = old | bit
}

func (x *gaps) sections() []Section {
	s := Section{Title: "Numbers of each host", Columns: []string{"host", "n", "first", "last", "missing", "doubles"}, Bar: -1}
	for _, name := range slices.Sorted(maps.Keys(x.hosts)) {
		h := x.hosts[name]
		missing := int64(h.last-h.first) + 1 - h.uniq //nolint:gosec // a log has fewer than 2^63 lines
		s.Rows = append(s.Rows, []string{name, itoa(h.n), strconv.FormatUint(h.first, 10), strconv.FormatUint(h.last, 10), itoa(missing), itoa(h.n - h.uniq)})
	}
	return []Section{s}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
