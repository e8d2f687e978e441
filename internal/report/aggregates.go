package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// maxList bounds how many rows a report lists one by one.
const maxList = 10000

// A list shows events one by one.
type list struct {
	title   string
	columns []string
	rows    [][]any
	more    int
}

func (l *list) add(r *row) {
	if len(l.rows) >= maxList {
		l.more++
		return
	}
	cells := make([]any, len(l.columns))
	for i, c := range l.columns {
		if c == "seq" {
			cells[i] = int64(r.seq) //nolint:gosec // at most 2^53
			continue
		}
		cells[i] = string(r.appendField(nil, c))
	}
	l.rows = append(l.rows, cells)
}

func (l *list) table() Table {
	t := Table{Title: l.title, Columns: l.columns, Rows: l.rows}
	if l.more > 0 {
		t.Title += " (the first ones)"
	}
	return t
}

// picked lists the events that want wants.
type picked struct {
	list
	want func(*row) bool
}

func (p *picked) add(r *row, _ []byte) {
	if p.want(r) {
		p.list.add(r)
	}
}

func (p *picked) tables() []Table { return []Table{p.table()} }

type drift struct {
	counter
	list list
}

func (d *drift) add(r *row, _ []byte) {
	d.counter.add(r)
	if is(r.layer, "schema") || is(r.reason, "settings_disarm") {
		d.list.add(r)
	}
}

func (d *drift) tables() []Table { return []Table{d.counter.table(), d.list.table()} }

// timeouts counts timeouts, and holds durations against deadlines. Durations are
// whole milliseconds and therefore few.
type timeouts struct {
	count *counter
	spans map[string]*span
}

type span struct {
	n        int64
	ms       map[int64]int64
	deadline int64
}

func (t *timeouts) add(r *row, _ []byte) {
	t.count.add(r)
	if !r.hasDeadline || !r.hasDuration {
		return
	}
	s := t.spans[string(r.hook())]
	if s == nil {
		if t.spans == nil {
			t.spans = map[string]*span{}
		}
		s = &span{ms: map[int64]int64{}}
		t.spans[string(r.hook())] = s
	}
	s.n++
	s.ms[r.duration]++
	s.deadline = max(s.deadline, r.deadline)
}

func (t *timeouts) tables() []Table {
	p := Table{Title: "Durations against the deadline", Columns: []string{"hook", "n", "p50ms", "p95ms", "maxms", "deadlineMs"}, Bar: "p95ms"}
	for _, k := range slices.Sorted(maps.Keys(t.spans)) {
		s := t.spans[k]
		p.Rows = append(p.Rows, []any{k, s.n, s.at(0.5), s.at(0.95), s.at(1), s.deadline})
	}
	return []Table{t.count.table(), p}
}

// at returns the quantile q, the lower of two.
func (s *span) at(q float64) int64 {
	rank := min(int64(float64(s.n)*q), s.n-1)
	var seen int64
	for _, ms := range slices.Sorted(maps.Keys(s.ms)) {
		if seen += s.ms[ms]; seen > rank {
			return ms
		}
	}
	return 0
}

// rates is the share of blocks by hour, release and hook.
type rates struct{ m map[string]*[2]int64 }

func (t *rates) add(r *row, _ []byte) {
	if !is(r.hookEvent, "PreToolUse") || len(r.hookName) == 0 {
		return
	}
	k := string(r.time[:min(13, len(r.time))]) + "\x1f" + string(r.product) + "\x1f" + string(r.hook())
	c := t.m[k]
	if c == nil {
		if t.m == nil {
			t.m = map[string]*[2]int64{}
		}
		c = new([2]int64)
		t.m[k] = c
	}
	c[0]++
	if is(r.decision, "blocked") {
		c[1]++
	}
}

func (t *rates) tables() []Table {
	out := Table{Title: "Block rate", Columns: []string{"hour", "product", "hook", "n", "blocked", "rate"}, Bar: "rate"}
	for _, k := range slices.Sorted(maps.Keys(t.m)) {
		d, c := strings.Split(k, "\x1f"), t.m[k]
		out.Rows = append(out.Rows, []any{d[0], d[1], d[2], c[0], c[1], float64(c[1]) / float64(c[0])})
	}
	return []Table{out}
}

// retries finds calls of one session, tool and command that were stopped three
// times and more and then went through. It remembers those stopped at least
// once.
type retries struct{ m map[string]*retry }

type retry struct {
	stops, n int64
	through  bool
}

func (t *retries) add(r *row, _ []byte) {
	if !is(r.hookEvent, "PreToolUse") || len(r.command) == 0 || is(r.kind, "callback") && bytes.Equal(r.hook(), r.command) {
		return
	}
	k := string(r.session) + "\x1f" + string(r.tool) + "\x1f" + string(r.command)
	e := t.m[k]
	stop := is(r.decision, "blocked", "denied")
	if e == nil {
		if !stop {
			return
		}
		if t.m == nil {
			t.m = map[string]*retry{}
		}
		e = &retry{}
		t.m[k] = e
	}
	e.n++
	if stop {
		e.stops++
	}
	e.through = !stop
}

func (t *retries) tables() []Table {
	out := Table{Title: "Stopped three times and more, then let through", Columns: []string{"session", "tool", "command", "stops", "tries"}}
	for _, k := range slices.Sorted(maps.Keys(t.m)) {
		if e := t.m[k]; e.stops >= 3 && e.through {
			d := strings.SplitN(k, "\x1f", 3)
			out.Rows = append(out.Rows, []any{d[0], d[1], d[2], e.stops, e.n})
		}
	}
	return []Table{out}
}

// contradictions finds calls that were stopped and yet ran. A record may come
// late, so either may come first.
type contradictions struct {
	seed    maphash.Seed
	ran     map[uint64]struct{}
	stopped map[string][]any
}

func (t *contradictions) add(r *row, _ []byte) {
	if len(r.toolUse) == 0 {
		return
	}
	if t.ran == nil {
		t.seed, t.ran, t.stopped = maphash.MakeSeed(), map[uint64]struct{}{}, map[string][]any{}
	}
	if r.ranTool() {
		t.ran[maphash.Bytes(t.seed, r.toolUse)] = struct{}{}
		return
	}
	if r.stopped() {
		if _, ok := t.stopped[string(r.toolUse)]; !ok {
			t.stopped[string(r.toolUse)] = []any{string(r.time), string(r.toolUse), string(r.session), string(r.tool), string(r.layer), string(r.reason), string(r.hook())}
		}
	}
}

func (t *contradictions) tables() []Table {
	out := Table{Title: "Stopped, and yet ran", Columns: []string{"time", "toolUseId", "session", "tool", "layer", "reason", "hook"}}
	for id, cells := range t.stopped {
		if _, ok := t.ran[maphash.String(t.seed, id)]; ok {
			out.Rows = append(out.Rows, cells)
		}
	}
	slices.SortFunc(out.Rows, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[0].(string), b[0].(string)), cmp.Compare(a[1].(string), b[1].(string))) //nolint:errcheck // made above
	})
	return []Table{out}
}

// health lists the log's own events, and sessions that never ended. A session
// that was heard of within the last hour may still be going on.
type health struct {
	now  time.Time
	log  list
	open map[string]*[3]string // session: last, host, ended
}

func (t *health) add(r *row, _ []byte) {
	if is(r.kind, "log") || is(r.reason, "audit_unavailable") {
		t.log.add(r)
	}
	if len(r.session) == 0 {
		return
	}
	s := t.open[string(r.session)]
	if s == nil {
		if t.open == nil {
			t.open = map[string]*[3]string{}
		}
		s = &[3]string{1: string(r.host)}
		t.open[string(r.session)] = s
	}
	if string(r.time) > s[0] {
		s[0] = string(r.time)
	}
	if is(r.hookEvent, "SessionEnd") {
		s[2] = "ended"
	}
}

func (t *health) tables() []Table {
	out := Table{Title: "Sessions without an end: their last records may be missing", Columns: []string{"session", "host", "last"}}
	limit := ""
	if !t.now.IsZero() {
		limit = t.now.Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	for _, id := range slices.Sorted(maps.Keys(t.open)) {
		if s := t.open[id]; s[2] == "" && (limit == "" || s[0] < limit) {
			out.Rows = append(out.Rows, []any{id, s[1], s[0]})
		}
	}
	return []Table{t.log.table(), out}
}

// integrity counts gaps and doubles in the numbers of each host, and links of
// the chain that do not hold.
type integrity struct{ hosts map[string]*numbers }

type numbers struct {
	n, doubles  int64
	first, last uint64
	pages       map[uint64]*[1024]uint64 // one bit a number
	hash        string                   // of the line before
	broken      int64
}

func (t *integrity) add(r *row, line []byte) {
	h := t.hosts[string(r.host)]
	if h == nil {
		if t.hosts == nil {
			t.hosts = map[string]*numbers{}
		}
		h = &numbers{first: r.seq, pages: map[uint64]*[1024]uint64{}}
		t.hosts[string(r.host)] = h
	} else if h.hash != string(r.prev) {
		h.broken++
	}
	sum := sha256.Sum256(line)
	h.hash = hex.EncodeToString(sum[:])
	h.n++
	h.first, h.last = min(h.first, r.seq), max(h.last, r.seq)
	page := h.pages[r.seq>>16]
	if page == nil {
		page = new([1024]uint64)
		h.pages[r.seq>>16] = page
	}
	word, bit := r.seq>>6&1023, uint64(1)<<(r.seq&63)
	if page[word]&bit != 0 {
		h.doubles++
	}
	page[word] |= bit
}

func (t *integrity) tables() []Table {
	out := Table{Title: "Numbers and links", Columns: []string{"host", "n", "first", "last", "missing", "doubles", "brokenLinks"}}
	for _, k := range slices.Sorted(maps.Keys(t.hosts)) {
		h := t.hosts[k]
		var have int64
		for _, p := range h.pages {
			for _, w := range p {
				have += int64(bits.OnesCount64(w))
			}
		}
		missing := int64(h.last-h.first) + 1 - have                                                             //nolint:gosec // at most 2^53
		out.Rows = append(out.Rows, []any{k, h.n, int64(h.first), int64(h.last), missing, h.doubles, h.broken}) //nolint:gosec // likewise
	}
	return []Table{out}
}

// sensitive tells whether the event's target or command names secrets or keys.
func (r *row) sensitive() bool {
	t := r.target
	for _, dir := range []string{".ssh/", ".aws/", ".gnupg/", ".kube/config"} {
		if i := bytes.Index(t, []byte(dir)); i == 0 || i > 0 && t[i-1] == '/' {
			return true
		}
	}
	base := t[bytes.LastIndexByte(t, '/')+1:]
	if is(base, ".env", "credentials", ".netrc", ".npmrc", ".pypirc") || bytes.HasPrefix(base, []byte(".env.")) || bytes.HasPrefix(base, []byte("id_")) || bytes.HasSuffix(base, []byte(".pem")) {
		return true
	}
	for _, w := range []string{".env", ".ssh/", ".aws/", "AWS_SECRET", "id_rsa", "id_ed25519"} {
		if bytes.Contains(r.command, []byte(w)) {
			return true
		}
	}
	return false
}
