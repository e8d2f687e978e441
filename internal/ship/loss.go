package ship

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// errAnew says that the stream lost what it had acknowledged.
var errAnew = errors.New("the stream lost what it had acknowledged")

// maxDoubted bounds what is remembered for checkDoubted.
const maxDoubted = 1 << 16

// look draws from an acknowledgement what it says of earlier ones. A stream that
// is deleted and made again, or whose server lost its disk, counts from the
// start: what it had acknowledged is offered once more then.
func (s *shipper) look(ctx context.Context, ack *jetstream.PubAck, m Meta) error {
	if ack == nil {
		return nil
	}
	if ack.Duplicate {
		k := s.known
		if k != nil && k.since.IsZero() && k.hosts[m.Host] && !k.blind && len(s.doubted) < maxDoubted {
			s.doubted = append(s.doubted, m)
		}
		return nil
	}
	was := s.settled
	if ack.Sequence > was {
		s.c.StreamSeq = max(s.c.StreamSeq, ack.Sequence)
		return nil
	}
	s.c.StreamSeq = ack.Sequence
	s.result.Anew = true
	s.c.At, s.tail = Position{}, nil
	if err := s.save(); err != nil {
		return err
	}
	s.note(ctx, actionFailing, fmt.Sprintf("stream %s lost what it had acknowledged: it counts %d, and counted %d before; the whole log is offered to it again",
		s.o.Stream, ack.Sequence, was))
	return errAnew
}

// checkDoubted finds the events that are in no stream although the server calls
// them copies: it remembers the ids of messages for the stream's window of
// duplicates, and goes on to do so when they are purged.
func (s *shipper) checkDoubted(ctx context.Context) error {
	if len(s.doubted) == 0 {
		return nil
	}
	// Of any age. What pass knew is not the measure: the connection may have broken
	// in between, and the cursor is found again then.
	k := newKnown(time.Time{})
	var gone uint64
	for _, m := range s.doubted {
		if !k.hosts[m.Host] {
			if err := k.ask(ctx, s.o, m.Host); err != nil {
				return err
			}
		}
		if !k.blind && !k.holds(m) {
			gone++
		}
	}
	s.doubted = nil
	if gone > 0 {
		s.result.Purged += gone
		s.result.Acked -= min(gone, s.result.Acked)
		s.note(ctx, actionFailing, fmt.Sprintf("%d events are not in stream %s: it was purged, and the server takes them for copies of what it had; they are in this log, and can be sent with ship --rescan when the stream's window of duplicates is over",
			gone, s.o.Stream))
	}
	return nil
}
