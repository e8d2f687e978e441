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
// synced shares the next. A caller alone waits for nobody.
type GroupLog struct {
	log     Recorder
	timeout time.Duration
	work    chan *record
	done    chan struct{}

	mu     sync.RWMutex
	closed bool
	last   atomic.Pointer[error] // of the last write
}

type record struct {
	events []*audit.Event
	err    chan error
}

// NewGroupLog returns a GroupLog that writes to log, each write within timeout
// (zero means 5 s).
func NewGroupLog(log Recorder, timeout time.Duration) *GroupLog {
	if timeout <= 0 {
		timeout = 5 * time.Second
	}
	g := &GroupLog{log: log, timeout: timeout, work: make(chan *record, maxGroup), done: make(chan struct{})}
	go g.run()
	return g
}

// Record stores events together with those of other callers. When ctx ends
// first it returns its error; the events may then still be stored.
func (g *GroupLog) Record(ctx context.Context, events ...*audit.Event) error {
	r := &record{events: events, err: make(chan error, 1)}
	if err := g.enqueue(ctx, r); err != nil {
		return err
	}
	select {
	case err := <-r.err:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *GroupLog) enqueue(ctx context.Context, r *record) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return errClosed
	}
	select {
	case g.work <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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

// Close writes what is queued and returns. Later calls of Record fail.
func (g *GroupLog) Close() {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.closed = true
	close(g.work)
	g.mu.Unlock()
	<-g.done
}

func (g *GroupLog) run() {
	defer close(g.done)
	for r := range g.work {
		group := []*record{r}
		events := append([]*audit.Event(nil), r.events...)
		for more := true; more && len(events) < maxGroup; {
			select {
			case next, ok := <-g.work:
				if more = ok; ok {
					group = append(group, next)
					events = append(events, next.events...)
				}
			default:
				more = false
			}
		}
		err := g.write(events)
		for _, r := range group {
			r.err <- err
		}
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
