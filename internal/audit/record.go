package audit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hooktrail/internal/reason"
)

// NewEventID returns a new id for an event: a UUIDv7. Record gives one to events
// that have none; who must name the event before it is recorded asks here.
func NewEventID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make an event id: %w", err)
	}
	return id.String(), nil
}

// Record appends events, in their order, under one lock and in one write, and
// fills in their EventID, Time, Seq and Prev. It returns nil only once all of
// them are on disk. With an error, the events are to be taken as not recorded;
// the error has the code reason.AuditUnavailable and names the path.
//
// It returns by ctx's deadline and does not wait longer than LockTimeout for
// other writers. Before the lock is held nothing has been touched. A disk that
// hangs later cannot be interrupted: Record then gives up with an error while
// the write is under way, and the events may appear in the log although the
// answer was that they could not be recorded. The opposite never happens.
//
// A ctx that has ended already is an error. Callers who must record what was
// cancelled pass a context of their own.
func (l *Log) Record(ctx context.Context, events ...*Event) error {
	if len(events) == 0 {
		return nil
	}
	drafts, err := l.drafts(events)
	if err != nil {
		return l.fail("encode event", err)
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	if ctx.Err() != nil { // else the lock, and the folder around it, could still be made
		return l.fail("lock audit log", fmt.Errorf("%s: %w", l.o.Path, context.Cause(ctx)))
	}
	c := &commit{log: l, ctx: ctx, drafts: drafts, done: make(chan struct{})}
	patience := time.NewTimer(l.o.LockTimeout)
	defer patience.Stop()
	select {
	case l.turn <- struct{}{}:
	case <-patience.C:
		return l.fail("lock audit log", l.busy())
	case <-ctx.Done():
		return l.fail("lock audit log", fmt.Errorf("%s: %w", l.o.Path, context.Cause(ctx)))
	}
	go func() {
		defer func() { <-l.turn }()
		c.run()
		close(c.done)
	}()
	if err := l.await(ctx, c, patience.C); err != nil {
		return err
	}
	for i, e := range events {
		e.EventID, e.Time = drafts[i].id, drafts[i].time
		e.Seq, e.Prev = c.places[i].seq, c.places[i].prev
	}
	return nil
}

// await returns how the commit ended, or gives it up when its time is over.
func (l *Log) await(ctx context.Context, c *commit, patience <-chan time.Time) error {
	for {
		select {
		case <-c.done:
			if c.err != nil {
				return l.fail(c.op, c.err)
			}
			return nil
		case <-patience:
			if c.state.CompareAndSwap(commitWaiting, commitAbandoned) {
				return l.fail("lock audit log", l.busy())
			}
			patience = nil // it has the lock; what follows is bounded by ctx
		case <-ctx.Done():
			if c.state.CompareAndSwap(commitWaiting, commitAbandoned) {
				return l.fail("lock audit log", fmt.Errorf("%s: %w", l.o.Path, context.Cause(ctx)))
			}
			select {
			case <-c.done: // it finished just in time
				continue
			default:
				return l.fail("write audit log", fmt.Errorf("%s: the disk did not answer in time: %w", l.o.Path, context.Cause(ctx)))
			}
		}
	}
}

func (l *Log) busy() error {
	return fmt.Errorf("%s: another writer held the lock for %s", l.o.Path, l.o.LockTimeout)
}

func (l *Log) fail(op string, err error) error { return reason.Wrap(reason.AuditUnavailable, op, err) }

// bounded gives ctx a deadline if it has none: a hanging disk must not hang us.
func (l *Log) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, l.o.LockTimeout+diskTimeout)
}

// drafts encodes copies of events, complete but for their place in the chain.
func (l *Log) drafts(events []*Event) ([]*draft, error) {
	l.identity()
	drafts := make([]*draft, 0, len(events))
	for _, e := range events {
		d, err := l.draft(*e)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}

func (l *Log) draft(e Event) (*draft, error) {
	if e.EventID == "" {
		id, err := NewEventID()
		if err != nil {
			return nil, err
		}
		e.EventID = id
	}
	if e.Time.IsZero() {
		e.Time = l.o.Now()
	}
	if e.SchemaVersion == 0 {
		e.SchemaVersion = SchemaVersion
	}
	for _, f := range []struct {
		field *string
		value string
	}{{&e.Product, l.o.Product}, {&e.Host, l.o.Host}, {&e.User, l.o.User}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
	return encode(&e)
}

// The states of a commit. Only a waiting commit can be abandoned.
const (
	commitWaiting int32 = iota
	commitWriting
	commitAbandoned
)

// A commit is one Record under way. It runs in a goroutine of its own, because
// a disk that hangs cannot be interrupted; Record reads its results only after
// done is closed.
type commit struct {
	log    *Log
	ctx    context.Context
	drafts []*draft
	state  atomic.Int32
	done   chan struct{}

	places []place
	op     string // what was being done when err happened
	err    error
}

// A place is where in the chain a line stands.
type place struct {
	seq  uint64
	prev string
}

func (c *commit) run() {
	c.op = "open audit log"
	path, err := resolve(c.log.o.Path)
	if err == nil {
		err = notOwnOutput(path)
	}
	if err != nil {
		c.err = err
		return
	}
	c.op = "lock audit log"
	unlock, err := acquire(path, func() bool { return c.state.Load() == commitWaiting })
	if err != nil {
		c.err = err
		return
	}
	defer unlock()
	if !c.state.CompareAndSwap(commitWaiting, commitWriting) {
		return // given up; nobody reads the results
	}
	w := &writer{log: c.log, ctx: c.ctx, path: path}
	defer w.close()
	c.op = "open audit log"
	if c.err = w.open(); c.err != nil {
		return
	}
	c.op = "read audit log"
	if c.err = w.settle(); c.err != nil {
		return
	}
	c.op = "write audit log"
	c.places, c.err = w.append(c.drafts)
}
