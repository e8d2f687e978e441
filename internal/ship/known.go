package ship

import (
	"context"
	"errors"
	"hash/maphash"
	"time"

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
	if errors.Is(err, ErrNoRead) {
		k.blind = true
		return nil
	}
	return err
}

func (k *known) holds(m Meta) bool {
	_, ok := k.ids[maphash.String(k.seed, m.EventID)]
	return ok
}
