package ship

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
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
	// Last shows only this many of what is stored at the start. Zero means all,
	// less than zero none.
	Last int
}

// A tailWindow lets through what comes after the stored events, and of those the
// last ones.
type tailWindow struct {
	t      TailOptions
	fn     func([]byte) error
	kept   [][]byte
	passed bool // the stored events have been seen
}

// event takes one message; pending is how many are stored behind it.
func (w *tailWindow) event(b []byte, pending uint64) error {
	if w.t.Keep == nil || w.t.Keep(b) {
		if w.passed || w.t.Last == 0 {
			return w.fn(b)
		}
		if w.kept = append(w.kept, bytes.Clone(b)); len(w.kept) > max(w.t.Last, 0) {
			w.kept = w.kept[1:]
		}
	}
	if pending == 0 {
		return w.flush()
	}
	return nil
}

func (w *tailWindow) message(m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	return w.event(m.Data(), meta.NumPending)
}

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

// Tail calls fn for each event in the stream, oldest first. The bytes are valid
// during the call. Without Follow it returns when all that is stored was shown;
// with it, it returns nil when ctx ends. fn may end it with an error.
func Tail(ctx context.Context, o Options, t TailOptions, fn func(event []byte) error) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	host := ""
	if t.Host != "" {
		host = Token(t.Host)
	}
	w := &tailWindow{t: t, fn: fn}
	if t.Follow {
		return follow(ctx, &o, host, t.Since, w)
	}
	return walk(ctx, &o, host, t.Since, false, w.message)
}

// follow shows what is stored and what comes.
func follow(ctx context.Context, o *Options, host string, since time.Time, w *tailWindow) error {
	l, err := dial(ctx, o.Conn)
	if err != nil {
		return err
	}
	defer l.close()
	filter := o.Subject + ".>"
	if host != "" {
		filter = o.Subject + "." + host + ".>"
	}
	cfg := jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}}
	if !since.IsZero() {
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	wait, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-l.failed:
			cancel(l.broken())
		case <-wait.Done():
		}
	}()
	cons, err := l.js.OrderedConsumer(wait, o.Stream, cfg)
	if err == nil {
		var iter jetstream.MessagesContext
		if iter, err = cons.Messages(); err == nil {
			defer iter.Stop()
			err = pump(wait, iter, w)
		}
	}
	var own *fnError
	switch {
	case errors.As(err, &own):
		return own.err
	case ctx.Err() != nil:
		return nil
	case errors.Is(l.broken(), nats.ErrPermissionViolation):
		return errNoRead
	case l.broken() != nil:
		return l.clean("read stream", l.broken())
	}
	return l.clean("read stream", err)
}

// A fnError is an error of the caller's, which is returned as it is.
type fnError struct{ err error }

func (e *fnError) Error() string { return e.err.Error() }

func pump(ctx context.Context, iter jetstream.MessagesContext, w *tailWindow) error {
	for {
		msg, err := iter.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		if err := w.message(msg); err != nil {
			return &fnError{err}
		}
	}
}
