package ship

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How long a reader waits for the server: for an answer to a request, and for
// the next of the messages that are there.
const (
	askTimeout  = 5 * time.Second
	nextTimeout = 10 * time.Second
)

// walk is read for those to whom a stream that is missing is an empty one.
func walk(ctx context.Context, o *Options, host string, since time.Time, headersOnly bool, fn func(jetstream.Msg) error) error {
	err := read(ctx, o, host, since, headersOnly, fn)
	if errors.Is(err, ErrNoStream) {
		return nil
	}
	return err
}

// read calls fn for each message of a host that is in the stream now, oldest
// first, on a connection of its own: a refusal breaks a connection. An empty
// host means all. What is stored meanwhile is not waited for. An error of fn's
// is returned as it is.
func read(ctx context.Context, o *Options, host string, since time.Time, headersOnly bool, fn func(jetstream.Msg) error) error {
	l, err := dial(ctx, o.Conn)
	if err != nil {
		return err
	}
	defer l.close()
	wait, cancel := l.whileUp(ctx)
	defer cancel()
	cfg := consumer(o, host, since)
	cfg.HeadersOnly = headersOnly
	cons, n, err := l.consume(wait, o.Stream, cfg)
	if err == nil && n > 0 {
		err = take(wait, cons, n, fn)
	}
	return l.reading(ctx, o, err)
}

// consumer describes what is to be read.
func consumer(o *Options, host string, since time.Time) jetstream.OrderedConsumerConfig {
	filter := o.Subject + ".>"
	if host != "" {
		filter = o.Subject + "." + host + ".>"
	}
	cfg := jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}, DeliverPolicy: jetstream.DeliverAllPolicy}
	if !since.IsZero() {
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	return cfg
}

// whileUp returns a context that ends with the connection, too. A refusal is
// told by the connection's end only: the request itself gets no answer.
func (l *link) whileUp(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-l.failed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// consume begins to read and tells how many messages are there now.
func (l *link) consume(ctx context.Context, stream string, cfg jetstream.OrderedConsumerConfig) (jetstream.Consumer, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	cons, err := l.js.OrderedConsumer(ctx, stream, cfg)
	if err != nil {
		return nil, 0, err
	}
	info, err := cons.Info(ctx)
	if err != nil {
		return nil, 0, err
	}
	return cons, info.NumPending, nil
}

// take calls fn for the next n messages. It ends before when the stream does:
// old messages may go away while it reads.
func take(ctx context.Context, cons jetstream.Consumer, n uint64, fn func(jetstream.Msg) error) error {
	iter, err := cons.Messages()
	if err != nil {
		return err
	}
	defer iter.Stop()
	for range n {
		next, cancel := context.WithTimeout(ctx, nextTimeout)
		msg, err := iter.Next(jetstream.NextContext(next))
		cancel()
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fmt.Errorf("read message: %w", err)
		}
		if err := fn(msg); err != nil {
			return &fnError{err}
		}
		if meta.NumPending == 0 {
			return nil
		}
	}
	return nil
}

// A fnError is an error of the caller's, which is returned as it is.
type fnError struct{ err error }

func (e *fnError) Error() string { return e.err.Error() }

// reading turns what ended a reading into words that say what to do.
func (l *link) reading(ctx context.Context, o *Options, err error) error {
	var own *fnError
	broken := l.broken()
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own.err
	case ctx.Err() != nil:
		return fmt.Errorf("read stream: %w", ctx.Err())
	case errors.Is(broken, nats.ErrPermissionViolation):
		return fmt.Errorf("read stream %s: %w", o.Stream, ErrNoRead)
	case broken != nil:
		return l.clean("read stream", broken)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("read stream: %w %s on this server; make it with hooktrail ship --create-stream", ErrNoStream, o.Stream)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("read stream: %w %s: the server has no JetStream for this account", ErrNoStream, o.Stream)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("read stream %s: the server does not answer", o.Stream)
	}
	return l.clean("read stream", err)
}
