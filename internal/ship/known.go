package ship

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// sureWindow is the age up to which the stream's own window of duplicates (two
// minutes unless it was made smaller) is relied on.
const sureWindow = 30 * time.Second

// clockSlack is how far our clock and the server's may differ.
const clockSlack = 10 * time.Minute

// A known is what the stream holds of the hosts in a log, as far as was asked:
// 64 bits an event. Where the account may not read, it knows nothing, and copies
// beyond the window are left to the reader of the stream, who has the event id.
type known struct {
	since time.Time // zero means from the start
	seed  maphash.Seed
	hosts map[string]bool
	ids   map[uint64]struct{}
	blind bool // the account may not read
}

func newKnown(since time.Time) *known {
	return &known{since: since, seed: maphash.MakeSeed(), hosts: map[string]bool{}, ids: map[uint64]struct{}{}}
}

// has tells whether the stream holds the event. The first event of a host asks
// for all of that host.
func (k *known) has(ctx context.Context, o *Options, m Meta) (bool, error) {
	if !k.hosts[m.Host] {
		if !o.Rescan && k.since.IsZero() && !m.Time.IsZero() && len(k.hosts) == 0 && o.Now().Sub(m.Time).Abs() < sureWindow {
			// The log begins within the window: the server itself finds copies.
			// Nothing is asked now; a later host's older lines ask for it.
			return false, nil
		}
		if err := k.ask(ctx, o, m.Host); err != nil {
			return false, err
		}
	}
	return k.holds(m), nil
}

// ask reads which events of a host the stream has.
func (k *known) ask(ctx context.Context, o *Options, host string) error {
	k.hosts[host] = true
	err := walk(ctx, o, Token(host), k.since, true, func(msg jetstream.Msg) error {
		k.ids[maphash.String(k.seed, msg.Headers().Get(jetstream.MsgIDHeader))] = struct{}{}
		return nil
	})
	if errors.Is(err, errNoRead) {
		k.blind = true
		return nil
	}
	return err
}

func (k *known) holds(m Meta) bool {
	_, ok := k.ids[maphash.String(k.seed, m.EventID)]
	return ok
}

// errNoRead says that the account may not read the stream.
var errNoRead = errors.New("the account may not read the stream")

// walk calls fn for each message of a host that is in the stream now, oldest
// first, on a connection of its own: a refusal breaks a connection. An empty
// host means all. A stream that is missing is empty.
func walk(ctx context.Context, o *Options, host string, since time.Time, headersOnly bool, fn func(jetstream.Msg) error) error {
	l, err := dial(ctx, o.Conn)
	if err != nil {
		return err
	}
	defer l.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-l.failed:
			cancel()
		case <-ctx.Done():
		}
	}()
	filter := o.Subject + ".>"
	if host != "" {
		filter = o.Subject + "." + host + ".>"
	}
	cfg := jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}, HeadersOnly: headersOnly, DeliverPolicy: jetstream.DeliverAllPolicy}
	if !since.IsZero() {
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	err = l.each(ctx, o.Stream, cfg, fn)
	switch broken := l.broken(); {
	case errors.Is(broken, nats.ErrPermissionViolation):
		return errNoRead
	case err == nil:
		return nil
	case broken != nil:
		return l.clean("read stream", broken)
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, nats.ErrNoResponders):
		return nil
	}
	return l.clean("read stream", err)
}

// each reads from an ordered consumer up to what is pending now.
func (l *link) each(ctx context.Context, stream string, cfg jetstream.OrderedConsumerConfig, fn func(jetstream.Msg) error) error {
	setup, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cons, err := l.js.OrderedConsumer(setup, stream, cfg)
	if err != nil {
		return err
	}
	info, err := cons.Info(setup)
	if err != nil {
		return err
	}
	if info.NumPending == 0 {
		return nil
	}
	iter, err := cons.Messages()
	if err != nil {
		return err
	}
	defer iter.Stop()
	for {
		next, cancel := context.WithTimeout(ctx, 10*time.Second)
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
			return err
		}
		if meta.NumPending == 0 {
			return nil
		}
	}
}
