package ship

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DefaultInlineBudget is what a hook gives to shipping, all included.
const DefaultInlineBudget = 50 * time.Millisecond

// inlineWindow keeps small what is under way when the budget ends.
const inlineWindow = 128

// Inline ships from a hook whose event is on disk and whose answer is fixed. It
// returns within budget (zero means 50 ms) whatever the disk or the server do,
// and says what became of it; the caller has nothing to do with the error but to
// drop it. It gives way to a running shipper, and leaves a server alone that
// failed lately.
//
// What could not be shipped in time stays in the log for the next call, or for
// ship.
func Inline(ctx context.Context, o Options, budget time.Duration) error {
	if budget <= 0 {
		budget = DefaultInlineBudget
	}
	if o.Window <= 0 {
		o.Window = inlineWindow
	}
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	// The budget's last part is for writing down how it went.
	work, cancel := context.WithTimeout(ctx, budget*8/10)
	defer cancel()
	hard := time.NewTimer(budget)
	defer hard.Stop()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("ship inline: %v", p)
			}
		}()
		done <- inline(work, &o)
	}()
	select {
	case err := <-done:
		return err
	case <-hard.C:
		return fmt.Errorf("ship inline: %w", context.DeadlineExceeded)
	}
}

func inline(ctx context.Context, o *Options) error {
	lock, err := lockCursor(o.Cursor)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // the process's end frees it as well
	s, err := newShipper(o)
	if err != nil {
		return err
	}
	defer s.close()
	if now := o.Now(); now.Before(s.c.Trouble.NotBefore) && s.c.Trouble.NotBefore.Sub(now) <= backOff(9) {
		return errors.New("ship inline: the server failed lately and is left alone")
	}
	err = s.attempt(ctx)
	if err == nil {
		return s.end(ctx, nil)
	}
	if s.result.Acked > 0 && ctx.Err() != nil {
		return s.end(ctx, nil) // the server works, the budget is used up
	}
	// That the time ran out is a failure here: it is what a server that
	// swallows everything looks like.
	s.failing(ctx, err)
	return errors.Join(err, s.save())
}
