package zerto

import (
	"context"
	"time"
)

// A clock is the time of the world the ZVM lives in. In a demonstration it runs
// faster than the timers of the process by the factor speed.
type clock struct {
	now   func() time.Time
	speed float64
}

// left is the time of this clock until ctx ends, or long when it never does.
func (c clock) left(ctx context.Context) time.Duration {
	d, ok := ctx.Deadline()
	if !ok {
		return 24 * time.Hour
	}
	return c.fromReal(time.Until(d))
}

// real turns a span of this clock into one of the process's timers.
func (c clock) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / c.speed)
}

// fromReal turns a span of the process's timers into one of this clock.
func (c clock) fromReal(d time.Duration) time.Duration {
	return time.Duration(float64(d) * c.speed)
}

// sleep waits for d of this clock. It returns the context's error when that
// ends first.
func (c clock) sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(c.real(d))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
