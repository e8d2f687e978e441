package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A StreamSpec is what a stream is made with. The zero value works on one
// server.
type StreamSpec struct {
	Replicas int           // zero means 1
	MaxBytes int64         // zero means no limit
	MaxAge   time.Duration // zero means for ever
	// Duplicates is the window in which the server drops copies. Zero means
	// 10 minutes.
	Duplicates time.Duration
}

// config is the one shape that audit streams have: on disk, refusing new events
// when full instead of dropping old ones, nothing to be deleted.
func (o *Options) config(s StreamSpec) jetstream.StreamConfig {
	window := s.Duplicates
	if window <= 0 {
		window = 10 * time.Minute
	}
	if s.MaxAge > 0 {
		window = min(window, s.MaxAge)
	}
	maxBytes := s.MaxBytes
	if maxBytes <= 0 {
		maxBytes = -1
	}
	return jetstream.StreamConfig{
		Name:        o.Stream,
		Description: "hooktrail audit events",
		Subjects:    []string{o.Subject + ".>"},
		Storage:     jetstream.FileStorage,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardNew,
		Replicas:    max(1, s.Replicas),
		MaxBytes:    maxBytes,
		MaxAge:      s.MaxAge,
		Duplicates:  window,
		DenyDelete:  true,
		DenyPurge:   true,
	}
}

// CreateStream makes the stream. When it is there already, nothing is changed:
// created is false, and differs says in words where it is weaker than it should
// be.
func CreateStream(ctx context.Context, o Options, spec StreamSpec) (created bool, differs []string, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return false, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Stall)
	defer cancel()
	l, err := dial(ctx, o.Conn)
	if err != nil {
		return false, nil, err
	}
	defer l.close()
	wait, stop := l.whileUp(ctx)
	defer stop()
	want := o.config(spec)
	str, err := l.js.Stream(wait, o.Stream)
	switch {
	case err == nil:
		return false, weaker(str.CachedInfo().Config, want), nil
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return false, nil, l.because("look for the stream", err)
	}
	if _, err := l.js.CreateStream(wait, want); err != nil {
		return false, nil, l.because("create the stream", err)
	}
	return true, nil, nil
}

// Weaknesses says in words where the stream is weaker than CreateStream would
// have made it. It changes nothing; the account may lack the right to ask, which
// is ErrNoRead.
func Weaknesses(ctx context.Context, o Options) ([]string, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Stall)
	defer cancel()
	l, err := dial(ctx, o.Conn)
	if err != nil {
		return nil, err
	}
	defer l.close()
	wait, stop := l.whileUp(ctx)
	defer stop()
	str, err := l.js.Stream(wait, o.Stream)
	if err != nil {
		return nil, l.reading(ctx, &o, err)
	}
	return weaker(str.CachedInfo().Config, o.config(StreamSpec{})), nil
}

// because prefers what the server said outside of the request.
func (l *link) because(op string, err error) error {
	if b := l.broken(); b != nil {
		err = b
	}
	return l.clean(op, err)
}

func weaker(have, want jetstream.StreamConfig) []string {
	var out []string
	say := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(!slices.Contains(have.Subjects, want.Subjects[0]), "it takes %v, not %s", have.Subjects, want.Subjects[0])
	say(have.Storage != want.Storage, "its storage is memory: a restart loses everything")
	say(have.Retention != want.Retention, "its retention is %s: events are removed when they are read", have.Retention)
	say(have.Discard != want.Discard && (have.MaxBytes > 0 || have.MaxMsgs > 0), "it drops the oldest events when it is full")
	say(have.MaxMsgsPerSubject > 0, "it keeps only %d events a subject", have.MaxMsgsPerSubject)
	say(!have.DenyDelete, "events can be deleted from it")
	say(!have.DenyPurge, "it can be purged")
	say(have.Duplicates < time.Minute, "its window of duplicates is only %v", have.Duplicates)
	say(have.NoAck, "it acknowledges nothing: events could not be counted as shipped")
	say(have.Replicas < want.Replicas, "it has %d replicas, not %d", have.Replicas, want.Replicas)
	return out
}
