package cli

import (
	"context"
	"errors"

	"hooktrail/internal/ship"
)

// runStream prints the last events of the stream, then follows it.
func (f *tailFlags) runStream(ctx context.Context, s *Stdio, set *settings) error {
	o := shipOptions(s, set)
	if o.URL == "" {
		return errors.New("no NATS server is set; set HOOKTRAIL_NATS_URL or nats.url in the configuration")
	}
	last := f.n
	if last <= 0 {
		last = -1 // none of what is stored
	}
	t := ship.TailOptions{Follow: f.follow, Keep: f.meets, Last: last}
	if err := ship.Tail(ctx, o, t, func(event []byte) error { return f.show(s, event) }); err != nil {
		return errors.New(ship.MaskURL(err.Error()))
	}
	return nil
}
