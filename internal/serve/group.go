package serve

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"hooktrail/internal/audit"
)

// A Recorder stores events. Record returns nil only once they would survive the
// end of the process.
type Recorder interface {
	Record(ctx context.Context, events ...*audit.Event) error
	Digest(data []byte) string
}

// maxGroup bounds the events of one write.
const maxGroup = 128

// errClosed is what Record says after Close.
var errClosed = errors.New("the log is closed")

// A GroupLog records for many callers at once: what comes while one write is
// synced shares the next. A caller alone writes at once, and waits for nobody.
type GroupLog struct {
	log     Recorder
	timeout time.Duration
	last    atomic.Pointer[error] // of the last write

	mu      sync.Mutex
	waiting []*record
	writing bool // a caller is writing, or was told to
	closed  bool
	idle    *sync.Cond
}

// A record is one caller's events. When its turn comes it is told either that
// another caller has written them, or to write for all that wait.
type record struct {
	events []*audit.Event
	turn   chan turn
}

type turn struct {
	lead bool
	err  error
}

// NewGroupLog returns a GroupLog that writes to log, each write within timeout
// (zero means 5 s).
func NewGroupLog(log Recorder, timeout time.Duration) *GroupLog {
	if timeout <= 0 {
		timeout = 5 * time.Second
	}
	g := &GroupLog{log: log, timeout: timeout}
	g.idle = sync.NewCond(&g.mu)
	return g
}

// Record stores events together with those of other callers. When ctx ends
// first it returns its error; the events may then still be stored.
func (g *GroupLog) Record(ctx context.Context, events ...*audit.Event) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return errClosed
	}
	r := &record{events: events, turn: make(chan turn, 1)}
	g.waiting = append(g.waiting, r)
	if !g.writing {
		g.writing = true
		g.mu.Unlock()
		return g.lead(r)
	}
	g.mu.Unlock()
	select {
	case t := <-r.turn:
		if t.lead {
			return g.lead(r)
		}
		return t.err
	case <-ctx.Done():
		go func() { // its turn comes all the same, and others may wait for it
			if t := <-r.turn; t.lead {
				_ = g.lead(r)
			}
		}()
		return ctx.Err()
	}
}

// lead writes for all that wait, own among them, and hands the lead on.
func (g *GroupLog) lead(own *record) error {
	g.mu.Lock()
	n, events := 0, []*audit.Event(nil)
	for _, r := range g.waiting { // the first is always taken: it is own
		if n > 0 && len(events)+len(r.events) > maxGroup {
			break
		}
		n++
		events = append(events, r.events...)
	}
	group := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.mu.Unlock()

	err := g.write(events)
	for _, r := range group {
		if r != own {
			r.turn <- turn{err: err}
		}
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) > 0 {
		g.waiting[0].turn <- turn{lead: true}
		return err
	}
	g.writing = false
	g.idle.Broadcast()
	return err
}

// Digest is the log's own.
func (g *GroupLog) Digest(data []byte) string { return g.log.Digest(data) }

// Err returns why the last write failed, or nil.
func (g *GroupLog) Err() error {
	if p := g.last.Load(); p != nil {
		return *p
	}
	return nil
}

// Close returns when all that waits is written. Later calls of Record fail.
func (g *GroupLog) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for g.writing {
		g.idle.Wait()
	}
}

// write stores one group. A panic of the log is an error for the whole group:
// the callers then block their calls.
func (g *GroupLog) write(events []*audit.Event) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), g.timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the log failed inside")
		}
		g.last.Store(&err)
	}()
	return g.log.Record(ctx, events...)
}
