package ship

import (
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
	if !t.Follow {
		err := walk(ctx, &o, host, t.Since, false, func(m jetstream.Msg) error { return fn(m.Data()) })
		if errors.Is(err, errNoRead) {
			return errNoRead
		}
		return err
	}
	return follow(ctx, &o, host, t.Since, fn)
}

// follow shows what is stored and what comes.
func follow(ctx context.Context, o *Options, host string, since time.Time, fn func([]byte) error) error {
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
			err = pump(wait, iter, fn)
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

func pump(ctx context.Context, iter jetstream.MessagesContext, fn func([]byte) error) error {
	for {
		msg, err := iter.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		if err := fn(msg.Data()); err != nil {
			return &fnError{err}
		}
	}
}
