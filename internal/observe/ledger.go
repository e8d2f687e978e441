package observe

import "hooktrail/internal/audit"

// A Ledger knows which facts are on record, to tell which of a source's are new.
// It is built from the whole log.
type Ledger struct {
	have map[class]int // with the call they belong to
	lone map[class]int // those whose source named no call
	// runs are the sessions of facts by what stays the same when a session is
	// forked: its records are copied then, under another session's id.
	runs map[run]string
}

// A run is a fact without its session.
type run struct {
	class
	at   int64
	hook string
}

func runOf(e *audit.Event, c class) run {
	c.session = ""
	return run{c, e.Time.UnixNano(), e.HookName}
}

// copied tells whether the fact is on record under another session.
func (l *Ledger) copied(e *audit.Event, c class) bool {
	session, ok := l.runs[runOf(e, c)]
	return ok && session != c.session
}

// Add counts an event of the log. Events that are no facts do not count.
func (l *Ledger) Add(e *audit.Event) {
	c, ok := classOf(e)
	if !ok {
		return
	}
	if l.have == nil {
		l.have, l.lone, l.runs = map[class]int{}, map[class]int{}, map[run]string{}
	}
	if c.toolUse == "" {
		l.lone[c]++
		return
	}
	l.have[c]++
	if r := runOf(e, c); l.runs[r] == "" {
		l.runs[r] = c.session
	}
}

// New returns the events of one source that are not on record yet, and adds
// them. A fact without a call counts as told when the record has one like it
// that this source has not told otherwise.
func (l *Ledger) New(events []*audit.Event) []*audit.Event {
	have, lone := clone(l.have), clone(l.lone)
	var fresh, loose []*audit.Event
	for _, e := range events {
		c, ok := classOf(e)
		switch {
		case !ok:
			fresh = append(fresh, e)
		case c.toolUse == "":
			loose = append(loose, e)
		case take(have, c), l.copied(e, c):
		default:
			anon := c
			anon.toolUse = ""
			if !take(lone, anon) {
				fresh = append(fresh, e)
			}
		}
	}
	left := map[class]int{}
	for c, n := range have {
		c.toolUse = ""
		left[c] += n
	}
	for _, e := range loose {
		c, _ := classOf(e)
		if !take(lone, c) && !take(left, c) {
			fresh = append(fresh, e)
		}
	}
	for _, e := range fresh {
		l.Add(e)
	}
	return fresh
}

func take(m map[class]int, c class) bool {
	if m[c] == 0 {
		return false
	}
	m[c]--
	return true
}

func clone(m map[class]int) map[class]int {
	out := make(map[class]int, len(m))
	for c, n := range m {
		out[c] = n
	}
	return out
}
