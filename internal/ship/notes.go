package ship

import (
	"context"
	"fmt"
	"time"
)

// The words of kind "log" that shipping uses.
const (
	actionFailing   = "failing"
	actionRecovered = "recovered"
)

// failing keeps the cause of a failed run. The first failure of an outage
// becomes an event; the following ones only count, or a server that is away for
// a day would fill the log.
func (s *shipper) failing(ctx context.Context, err error) {
	now := s.o.Now()
	t := &s.c.Trouble
	first := t.Since.IsZero()
	if first {
		t.Since = now
	}
	t.Last = now
	t.Fails++
	t.NotBefore = now.Add(backOff(t.Fails))
	t.Cause = clip(err.Error(), 500)
	// Written down before it is recorded: the caller's time may end meanwhile.
	_ = s.save()
	if first {
		s.note(ctx, actionFailing, "shipping to NATS fails: "+t.Cause)
	}
}

// recovered ends an outage with the first acknowledgement after it.
func (s *shipper) recovered(ctx context.Context) {
	t := s.c.Trouble
	if t.Since.IsZero() {
		return
	}
	s.c.Trouble = Trouble{}
	s.note(ctx, actionRecovered, fmt.Sprintf("shipping to NATS works again after %v and %d failed attempts; nothing was lost",
		s.o.Now().Sub(t.Since).Round(time.Second), t.Fails))
}

// noteLeft records events that no server took.
func (s *shipper) noteLeft(ctx context.Context) {
	n := s.leftNow
	if n == 0 {
		return
	}
	s.leftNow = 0
	s.note(ctx, actionFailing, fmt.Sprintf("%d events are too large for the NATS server, which takes %d bytes; they are only in this log",
		n, s.l.nc.MaxPayload()))
}

// note writes an event. The log cannot always be written; shipping what is in
// it goes on.
func (s *shipper) note(ctx context.Context, action, message string) {
	if s.o.Note == nil {
		return
	}
	// The outage may be the end of the caller's time; its record is not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if s.o.Note(ctx, action, message) == nil {
		s.noted = true
	}
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return cutRunes(s, n) + cutMark
}
