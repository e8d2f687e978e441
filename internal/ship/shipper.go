package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// windowBytes bounds what waits for acknowledgements, beside Options.Window.
const windowBytes = 4 << 20

// saveEvery is how often the cursor is written while lines flow.
const saveEvery = 250 * time.Millisecond

// A Result says what a run did.
type Result struct {
	Acked      uint64 `json:"acked"`      // stored, or found to be stored already by the server
	Present    uint64 `json:"present"`    // found in the stream before sending
	Shortened  uint64 `json:"shortened"`  // cut to fit the server's limit
	Left       uint64 `json:"left"`       // too large for the server even so
	Unreadable uint64 `json:"unreadable"` // lines of the log that are no events
	// Purged counts events that the server took for copies of messages that it
	// no longer has: it remembers the ids of a purged stream for a while.
	Purged uint64 `json:"purged"`
	// Anew is set when the stream was found to have lost what it had
	// acknowledged, and the whole log was offered again.
	Anew bool `json:"anew"`
	// ByOther is set when another shipper did the work.
	ByOther bool `json:"byOther"`
}

// A shipper is one run of the path from log to stream. It holds the cursor's
// lock for as long as it lives.
type shipper struct {
	o      *Options
	l      *link
	r      *reader
	c      Cursor
	saved  time.Time
	result Result

	queue []item
	bytes int
	// tail is the last line that the cursor stands behind; its hash is needed
	// only when the cursor is written.
	tail []byte
	// known is what the stream was found to hold. Nil when that need not be asked.
	known *known
	// settled is Cursor.StreamSeq from before the lines on their way: those can be
	// stored in another order, when one had to be sent again in short.
	settled uint64
	// doubted are events that the stream had not before they were sent and that
	// the server called copies.
	doubted []Meta
	// leftNow counts what was left behind and is not in the log's events yet.
	leftNow uint64
	noted   bool // an event was recorded since the log's end was seen
}

// An item is a line on its way.
type item struct {
	line    line
	ack     jetstream.PubAckFuture // nil when nothing was sent
	short   bool                   // less than the line was sent
	core    bool                   // no more than the core was sent
	left    bool
	present bool
}

// pass ships all finished lines and returns nil once each has its
// acknowledgement and the cursor stands behind the last.
func (s *shipper) pass(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
		if err := s.reap(ctx); err != nil {
			return err
		}
		l, err := s.r.next()
		switch {
		case err == nil:
			if err := s.send(ctx, l); err != nil {
				return err
			}
			continue
		case errors.Is(err, errShrunk):
			if err := s.drain(ctx); err != nil {
				return err
			}
			if err := s.open(); err != nil {
				return err
			}
			continue
		case !errors.Is(err, io.EOF):
			return errors.Join(err, s.drain(ctx))
		}
		if err := s.drain(ctx); err != nil {
			return err
		}
		if err := s.checkDoubted(ctx); err != nil {
			return err
		}
		s.c.InFlight, s.settled = time.Time{}, s.c.StreamSeq
		if err := s.save(); err != nil {
			return err
		}
		if s.noteLeft(ctx); !s.noted {
			return nil
		}
		s.noted = false // what shipping itself recorded is shipped as well
	}
}

// open opens the log at the cursor's place.
func (s *shipper) open() error {
	s.r.close()
	s.r = nil
	at := s.c.At
	if s.o.Rescan {
		at = Position{}
	}
	r, found, err := openReader(s.o.Log, at)
	if err != nil {
		return err
	}
	s.r, s.known = r, nil
	switch now := s.o.Now(); {
	case !found:
		// Everything is offered again. What the stream has longer than its
		// window of duplicates must be asked for.
		s.known = newKnown(time.Time{})
	case !s.c.InFlight.IsZero() && now.Sub(s.c.InFlight).Abs() > sureWindow:
		s.known = newKnown(s.c.InFlight.Add(-clockSlack))
	}
	return nil
}

// send publishes one line, or queues it as done when there is nothing to send.
func (s *shipper) send(ctx context.Context, l line) error {
	it := item{line: l}
	if !l.ok {
		s.push(it)
		return nil
	}
	if s.known != nil {
		there, err := s.known.has(ctx, s.o, l.meta)
		if err != nil {
			return err
		}
		if there {
			it.present = true
			s.push(it)
			return nil
		}
	}
	for len(s.queue) >= s.o.Window || s.bytes > windowBytes {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	if s.c.InFlight.IsZero() {
		// From here on a line may be in the stream that the cursor does not
		// know of. A later run must be able to tell since when.
		s.c.InFlight = s.o.Now()
		if err := s.save(); err != nil {
			return err
		}
	}
	if err := s.publish(&it, s.l.nc.MaxPayload()); err != nil {
		return err
	}
	s.push(it)
	return nil
}

func (s *shipper) publish(it *item, limit int64) error {
	msg, short := message(s.o, &it.line, limit)
	it.short = short
	if msg == nil {
		it.left = true
		return nil
	}
	ack, err := s.l.js.PublishMsgAsync(msg, jetstream.WithRetryAttempts(0))
	if err != nil {
		if cause := s.l.broken(); cause != nil {
			err = cause
		}
		return s.l.explain(s.o, err)
	}
	it.ack = ack
	return nil
}

func (s *shipper) push(it item) {
	s.queue = append(s.queue, it)
	s.bytes += len(it.line.bytes)
}

// reap takes what is done from the front of the queue without waiting.
func (s *shipper) reap(ctx context.Context) error {
	for len(s.queue) > 0 {
		it := &s.queue[0]
		if it.ack == nil {
			if err := s.done(ctx, nil); err != nil {
				return err
			}
			continue
		}
		select {
		case ack := <-it.ack.Ok():
			if err := s.done(ctx, ack); err != nil {
				return err
			}
		case err := <-it.ack.Err():
			if err := s.refused(err); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (s *shipper) drain(ctx context.Context) error {
	for len(s.queue) > 0 {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the first of the queue is done.
func (s *shipper) settle(ctx context.Context) error {
	it := &s.queue[0]
	if it.ack == nil {
		return s.done(ctx, nil)
	}
	select { // the common case, without a timer
	case ack := <-it.ack.Ok():
		return s.done(ctx, ack)
	default:
	}
	stall := time.NewTimer(s.o.Stall)
	defer stall.Stop()
	select {
	case ack := <-it.ack.Ok():
		return s.done(ctx, ack)
	case err := <-it.ack.Err():
		return s.refused(err)
	case <-s.l.failed:
		// What was acknowledged before counts; the rest does not.
		if err := s.reap(ctx); err != nil {
			return err
		}
		if len(s.queue) == 0 {
			return nil
		}
		return s.l.explain(s.o, s.l.broken())
	case <-stall.C:
		return fmt.Errorf("publish: %w within %v", ErrStalled, s.o.Stall)
	case <-ctx.Done():
		return fmt.Errorf("publish: %w", ctx.Err())
	}
}

// refused handles an error for the first of the queue. An error about the
// message alone is answered with the event's core, once.
func (s *shipper) refused(err error) error {
	it := &s.queue[0]
	if !tooLarge(err) {
		if cause := s.l.broken(); cause != nil {
			err = cause
		}
		return s.l.explain(s.o, err)
	}
	it.ack = nil
	if it.core {
		it.left = true
		return nil
	}
	it.core = true
	return s.publish(it, coreLimit)
}

// coreLimit is what the core of an event with its headers needs at most.
const coreLimit = 1 << 10

// done moves the cursor over the first of the queue. ack is nil when it was not
// sent.
func (s *shipper) done(ctx context.Context, ack *jetstream.PubAck) error {
	it := s.queue[0]
	s.queue[0] = item{}
	s.queue = s.queue[1:]
	s.bytes -= len(it.line.bytes)
	s.c.At, s.tail = it.line.at, it.line.bytes
	now := s.o.Now()
	switch {
	case !it.line.ok:
		s.c.Unreadable++
		s.result.Unreadable++
	case it.left:
		s.c.Left++
		s.result.Left++
		if it.line.meta.Kind != "log" { // or its own event might be left, too
			s.leftNow++
		}
	case it.present:
		s.result.Present++
	default:
		s.c.Acked++
		s.result.Acked++
		s.c.LastAck = now
		if it.short {
			s.c.Shortened++
			s.result.Shortened++
		}
		s.recovered(ctx)
		if err := s.look(ctx, ack, it.line.meta); err != nil {
			return err
		}
	}
	if now.Sub(s.saved) >= saveEvery {
		if !s.c.InFlight.IsZero() {
			s.c.InFlight = now
		}
		return s.save()
	}
	return nil
}

func (s *shipper) save() error {
	if s.tail != nil {
		s.c.At.SHA256 = lineHash(s.tail)
		s.tail = nil
	}
	s.c.Log = s.o.Log
	s.saved = s.o.Now()
	return saveCursor(s.o.Cursor, s.c)
}

func (s *shipper) close() {
	s.r.close()
	s.l.close()
}
