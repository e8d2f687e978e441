// Package supervise runs other people's hooks, and always comes back.
//
// The child gets the bytes of the event on its standard input exactly as they
// came, its own process group, and a deadline. Run returns when the child
// exits, not when a grandchild lets go of a pipe; at the deadline the whole
// group gets TERM and then KILL, and the clock decides, not a late exit status.
// What a child does with its input, how much it writes and what it leaves behind
// changes nothing: output is bounded, the rest is drained and counted, and the
// group is killed once the child is gone, also after a normal end.
//
// The package does not judge: it has no opinion of an exit status or of what was
// printed. It runs no shell, splits no argument, and does not start a program
// from the current folder because its name was found there.
//
// A process that leaves the group (setsid) is out of the group's reach. A program
// that does nothing but supervise can have it all the same on Linux; see
// AdoptOrphans.
package supervise

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// flushGrace is how long a child that has exited may still be heard through
// processes it left behind, such as the tee of a "> >(tee log)". An ordinary
// child's pipes close with it and nothing is waited for.
const flushGrace = 200 * time.Millisecond

// cancelGrace replaces KillAfter when the caller gives up: whoever ends us with
// TERM sends KILL soon, and the event must be written before.
const cancelGrace = 300 * time.Millisecond

// lostGrace is how long to wait for a child that was sent KILL. Only one that
// hangs in the kernel needs longer, and it is not waited for.
const lostGrace = 2 * time.Second

// A Spec says what to run. The zero value of every field but Command works.
type Spec struct {
	// Command is the program and its arguments. A name without a slash is
	// looked up in PATH; one found in the current folder only is not started.
	Command []string

	// Stdin is written to the child's standard input, which is then closed. A
	// child need not read it.
	Stdin []byte

	// Env is the child's environment. Nil means our own.
	Env []string

	// Dir is the child's working folder. Empty means our own.
	Dir string

	// Deadline is when the child must have ended, by the clock of Now. Zero
	// means 30 s from the call.
	Deadline time.Time

	// KillAfter is the time between TERM and KILL. Zero means 1.5 s.
	KillAfter time.Duration

	// MaxOutput bounds what is kept of each output stream. Zero means 1 MiB.
	MaxOutput int

	// Now returns the current time. It must not be nil.
	Now func() time.Time
}

// A Result is what became of a child.
type Result struct {
	// ExitCode is the exit status as it was, 128+n after death by signal n,
	// 127 when there was no such program, 126 when it could not be executed,
	// and 124 when there was no time left to start it.
	ExitCode int64

	// TimedOut says that the child was not over at its deadline, or that ctx
	// ended before it.
	TimedOut bool

	// Cancelled says that ctx ended first.
	Cancelled bool

	// Started says whether the program ran at all. StartError says why not.
	Started    bool
	StartError string

	// Signal names the signal that the child died of, such as "killed".
	Signal string

	Stdout, Stderr Output

	// Duration is the time from the call until the child was over, or was
	// given up.
	Duration time.Duration
}

// DefaultTimeout is the time that a child has when nothing else is said.
const DefaultTimeout = 30 * time.Second

// Run runs the child to its end or to its deadline.
//
// It has no error result on purpose: every failure is a Result, so that no
// caller can forget one. It returns at the latest KillAfter and a little more
// after the deadline.
func Run(ctx context.Context, s Spec) Result {
	start := s.Now()
	s.setDefaults(start)
	if ctx.Err() != nil || !start.Before(s.Deadline) {
		return Result{ExitCode: exitNoTime, TimedOut: true, Cancelled: ctx.Err() != nil,
			StartError: "there was no time left to start it"}
	}
	// The signal that a child gets when its parent dies is bound to the thread
	// that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	c, p, fault := launch(s)
	if fault != nil {
		r := fault.result()
		r.Duration = s.Now().Sub(start)
		return r
	}
	r := Result{Started: true}
	at, exited := watch(ctx, s, c, &r)
	if exited && !r.TimedOut {
		p.flush(flushGrace)
	}
	c.kill()
	if exited {
		r.ExitCode, r.Signal = status(c.reap())
	} else {
		r.ExitCode, r.Signal = exitLost, "killed"
	}
	c.release()
	r.Stdout, r.Stderr = p.stop()
	r.Duration = at.Sub(start)
	return r
}

func (s *Spec) setDefaults(start time.Time) {
	if s.Deadline.IsZero() {
		s.Deadline = start.Add(DefaultTimeout)
	}
	if s.KillAfter <= 0 {
		s.KillAfter = 1500 * time.Millisecond
	}
	if s.MaxOutput <= 0 {
		s.MaxOutput = 1 << 20
	}
}

// watch waits until the child has exited, or has been sent KILL. It returns when
// that was and whether the child is gone, and says in r what came first.
func watch(ctx context.Context, s Spec, c *child, r *Result) (at time.Time, exited bool) {
	over := make(chan time.Time, 1)
	go func() {
		c.await()
		over <- s.Now()
	}()
	deadline := time.NewTimer(s.Deadline.Sub(s.Now()))
	defer deadline.Stop()
	select {
	case at := <-over:
		r.TimedOut = !at.Before(s.Deadline)
		return at, true
	case <-ctx.Done():
		r.TimedOut, r.Cancelled = true, true
	case <-deadline.C:
		r.TimedOut = true
	}
	return end(ctx, s, c, over)
}

// end sends TERM, then KILL, and waits for the child.
func end(ctx context.Context, s Spec, c *child, over <-chan time.Time) (at time.Time, exited bool) {
	c.term()
	grace := s.KillAfter
	given := ctx.Done()
	if ctx.Err() != nil {
		grace, given = min(grace, cancelGrace), nil
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	for {
		select {
		case at := <-over:
			return at, true
		case <-given:
			patience.Reset(min(grace, cancelGrace))
			given = nil
			continue
		case <-patience.C:
		}
		break
	}
	c.kill()
	lost := time.NewTimer(lostGrace)
	defer lost.Stop()
	select {
	case at := <-over:
		return at, true
	case <-lost.C:
		return s.Now(), false
	}
}

// A child is a started program.
type child struct {
	cmd *exec.Cmd
	handle
}
