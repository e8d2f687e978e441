package hook

import (
	"context"
	"time"
)

// Within returns what f makes. With ok false that takes longer than d, or ctx has
// ended and some time after it, and f is still at work: neither a file system that
// hangs nor a computation can be interrupted. A panic of f is the caller's.
func Within[T any](ctx context.Context, d time.Duration, f func() T) (made T, ok bool) {
	done, broke := make(chan T, 1), make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				broke <- p
			}
		}()
		done <- f()
	}()
	patience := time.NewTimer(d)
	defer patience.Stop()
	ended := ctx.Done()
	for {
		select {
		case made = <-done:
			return made, true
		case p := <-broke:
			panic(p)
		case <-patience.C:
			return made, false
		case <-ended:
			ended = nil
			patience.Reset(min(d, givenUpGrace))
		}
	}
}
