package ship

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"hooktrail/internal/regular"
)

// Run ships what is in the log and returns when all of it is acknowledged, or
// with an error when it cannot go on. It ends in bounded time against any
// server: at most the time to connect, and Options.Stall without progress. When
// another shipper is at work, it waits that long for it to reach the log's end or
// to give up, and returns ErrBusy if it does neither.
func Run(ctx context.Context, o Options) (Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Result{}, err
	}
	lock, err := lockCursor(o.Cursor)
	if errors.Is(err, ErrBusy) {
		lock, err = waitForOther(ctx, &o)
	}
	switch {
	case errors.Is(err, ErrBusy):
		return Result{ByOther: true}, err
	case err != nil:
		return Result{}, err
	case lock == nil:
		return Result{ByOther: true}, nil
	}
	defer lock.Close() //nolint:errcheck // the process's end frees it as well
	s, err := newShipper(&o)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	var progress time.Time // of the last acknowledgement; zero before the first
	for {
		before := s.result.Acked
		err = s.attempt(ctx)
		if s.result.Acked > before {
			progress = o.Now()
		}
		if err == nil || progress.IsZero() || !transient(err) || o.Now().Sub(progress) > o.Stall {
			break
		}
		// It went well for a while and the connection broke: the server may be
		// starting anew.
		if !sleep(ctx, 200*time.Millisecond) {
			break
		}
	}
	return s.result, s.end(ctx, err)
}

// Follow ships until ctx ends and then returns nil, with everything that was
// acknowledged by then behind the cursor. Failures are repeated for ever, ever
// more slowly; report is told of each, and of nil when it works again. It
// returns an error only when it cannot begin.
func Follow(ctx context.Context, o Options, report func(error)) (Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Result{}, err
	}
	// A service may be started before the first hook has made the log's folder.
	if err := os.MkdirAll(filepath.Dir(o.Cursor), 0o700); err != nil {
		return Result{}, fmt.Errorf("ship: %w", err)
	}
	lock, err := lockCursor(o.Cursor)
	for errors.Is(err, ErrBusy) {
		report(err)
		if !sleep(ctx, time.Second) {
			return Result{}, nil
		}
		lock, err = lockCursor(o.Cursor)
	}
	if err != nil {
		return Result{}, err
	}
	defer lock.Close() //nolint:errcheck // the process's end frees it as well
	s, err := newShipper(&o)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	for try := 0; ctx.Err() == nil; {
		before := s.result.Acked
		err := s.follow(ctx, func() {
			if try > 0 {
				report(nil)
			}
			try = 0
		})
		if ctx.Err() != nil {
			break
		}
		if s.result.Acked > before {
			try = 0
		}
		try++
		report(err)
		_ = s.end(ctx, err)
		// A short wait first: a restarting server is back within seconds.
		sleep(ctx, min(250*time.Millisecond<<min(try-1, 7), 30*time.Second))
	}
	return s.result, s.end(ctx, nil)
}

func newShipper(o *Options) (*shipper, error) {
	s := &shipper{o: o}
	c, err := loadCursor(o.Cursor)
	if err != nil && !errors.Is(err, errCursor) {
		return nil, err
	}
	s.c = c // a damaged one is the same as none
	return s, nil
}

// attempt connects and ships all there is.
func (s *shipper) attempt(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	err := s.pass(ctx)
	if errors.Is(err, errAnew) {
		if err = s.start(ctx); err == nil {
			err = s.pass(ctx)
		}
	}
	return err
}

// start opens the log at the cursor and connects.
func (s *shipper) start(ctx context.Context) error {
	s.l.close()
	s.l, s.queue, s.bytes = nil, nil, 0
	s.settled = s.c.StreamSeq
	if err := s.open(); err != nil {
		return err
	}
	l, err := dial(ctx, s.o.Conn)
	if err != nil {
		return err
	}
	s.l = l
	return nil
}

// follow ships and waits for more until something fails or ctx ends. caughtUp is
// called each time that nothing is left to do.
func (s *shipper) follow(ctx context.Context, caughtUp func()) error {
	for {
		err := s.start(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !sleep(ctx, s.o.Poll) { // nothing has been recorded on this machine yet
			return ctx.Err()
		}
	}
	tick := time.NewTicker(s.o.Poll)
	defer tick.Stop()
	idle := false
	for {
		err := s.passWithin(ctx)
		if errors.Is(err, errAnew) {
			if err = s.start(ctx); err == nil {
				err = s.passWithin(ctx)
			}
		}
		if err != nil {
			return err
		}
		if !idle {
			caughtUp()
		}
		idle = true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.l.failed:
			return s.l.explain(s.o, s.l.broken())
		case <-tick.C:
		}
	}
}

// passWithin is pass that is given a moment after the end of ctx for what is in
// flight, so that a graceful stop sends nothing twice.
func (s *shipper) passWithin(ctx context.Context) error {
	err := s.pass(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.drain(grace); err == nil {
		s.c.InFlight = time.Time{}
	}
	return ctx.Err()
}

// end writes down how a run ended and returns err.
func (s *shipper) end(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		s.failing(ctx, err)
	}
	if serr := s.save(); serr != nil && err == nil {
		err = serr
	}
	return err
}

// waitForOther waits until the shipper at work has come to the log's present end,
// and then returns no lock. When that one gives up before, as a hook does whose
// budget ends, it returns the lock that has become free.
func waitForOther(ctx context.Context, o *Options) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Stall)
	defer cancel()
	for {
		st, err := ReadStatus(*o)
		if err == nil && st.Backlog == 0 {
			return nil, nil
		}
		if !sleep(ctx, 5*o.Poll) {
			return nil, fmt.Errorf("ship: %w", ErrBusy)
		}
		lock, err := lockCursor(o.Cursor)
		if !errors.Is(err, ErrBusy) {
			return lock, err
		}
	}
}

// lockCursor takes the lock that one shipper at a time may hold, or returns
// ErrBusy at once.
func lockCursor(cursor string) (*flock.Flock, error) {
	l, err := regular.Lock(context.Background(), cursor+".lock", 0)
	switch {
	case errors.Is(err, regular.ErrHeld):
		return nil, ErrBusy
	case err != nil:
		return nil, fmt.Errorf("lock cursor: %w", err)
	}
	return l, nil
}

// sleep waits and is false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
