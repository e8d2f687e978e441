package cli

import (
	"context"

	"hooktrail/internal/ship"
)

// runStream prints the last events of the stream, then follows it.
func (f *tailFlags) runStream(ctx context.Context, s *Stdio, set *settings) error {
	last := f.n
	if last <= 0 {
		last = -1 // none of what is stored
	}
	t := ship.TailOptions{Follow: f.follow, Keep: f.meets, Last: last}
	return readStream(ctx, s, set, t, func(event []byte) error { return f.show(s, event) })
}
