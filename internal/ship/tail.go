package ship

import (
	"bytes"
	"context"
	"hash/maphash"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TailOptions say what Tail shows.
type TailOptions struct {
	// Since leaves out what was stored before. Zero means all.
	Since time.Time
	// Follow goes on until ctx ends.
	Follow bool
	// Host shows one host only. Empty means all.
	Host string
	// Keep leaves out events for which it is false. Nil keeps all.
	Keep func(event []byte) bool
	// Once leaves out copies of events, for 8 bytes of memory an event. Copies
	// come about where a lost cursor met a stream that could not be asked.
	Once bool
	// Last shows only this many of what is stored at the start. Zero means all,
	// less than zero none.
	Last int
}

// Tail calls fn for each event in the stream, oldest first. The bytes are valid
// during the call. Without Follow it returns when all that was stored at its
// start was shown; with it, it returns nil when ctx ends. fn may end it with an
// error.
func Tail(ctx context.Context, o Options, t TailOptions, fn func(event []byte) error) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	host := ""
	if t.Host != "" {
		host = Token(t.Host)
	}
	w := newTailWindow(t, fn)
	if t.Follow {
		return follow(ctx, &o, host, w)
	}
	if err := read(ctx, &o, host, t.Since, false, w.message); err != nil {
		return err
	}
	return w.flush()
}

// follow shows what is stored and what comes.
func follow(ctx context.Context, o *Options, host string, w *tailWindow) error {
	l, err := dial(ctx, o.Conn)
	if err != nil {
		return err
	}
	defer l.close()
	wait, cancel := l.whileUp(ctx)
	defer cancel()
	cons, n, err := l.consume(wait, o.Stream, consumer(o, host, w.t.Since))
	if err == nil {
		err = w.follow(wait, cons, n)
	}
	if ctx.Err() != nil {
		return nil
	}
	return l.reading(ctx, o, err)
}

// A tailWindow lets through what comes after the stored events, and of those the
// last ones.
type tailWindow struct {
	t      TailOptions
	fn     func([]byte) error
	kept   [][]byte
	passed bool // the stored events have been seen

	seed maphash.Seed
	seen map[uint64]struct{} // event ids; nil keeps copies
}

func newTailWindow(t TailOptions, fn func([]byte) error) *tailWindow {
	w := &tailWindow{t: t, fn: fn, seed: maphash.MakeSeed()}
	if t.Once {
		w.seen = map[uint64]struct{}{}
	}
	return w
}

// copied tells whether the event was seen before.
func (w *tailWindow) copied(m jetstream.Msg) bool {
	id := m.Headers().Get(jetstream.MsgIDHeader)
	if w.seen == nil || id == "" {
		return false
	}
	key := maphash.String(w.seed, id)
	_, was := w.seen[key]
	w.seen[key] = struct{}{}
	return was
}

// follow shows the last of the n stored events, then all that come.
func (w *tailWindow) follow(ctx context.Context, cons jetstream.Consumer, n uint64) error {
	iter, err := cons.Messages()
	if err != nil {
		return err
	}
	defer iter.Stop()
	for seen := uint64(0); ; seen++ {
		if seen >= n && !w.passed {
			if err := w.flush(); err != nil {
				return &fnError{err}
			}
		}
		msg, err := iter.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		if meta.NumPending == 0 { // old messages may have gone away meanwhile
			n = 0
		}
		if err := w.message(msg); err != nil {
			return &fnError{err}
		}
	}
}

func (w *tailWindow) message(m jetstream.Msg) error {
	b := m.Data()
	switch {
	case w.copied(m):
		return nil
	case w.t.Keep != nil && !w.t.Keep(b):
		return nil
	case w.passed || w.t.Last == 0:
		return w.fn(b)
	}
	if w.kept = append(w.kept, bytes.Clone(b)); len(w.kept) > max(w.t.Last, 0) {
		w.kept = w.kept[1:]
	}
	return nil
}

// flush shows what is left of the stored events.
func (w *tailWindow) flush() error {
	w.passed = true
	for _, b := range w.kept {
		if err := w.fn(b); err != nil {
			return err
		}
	}
	w.kept = nil
	return nil
}
