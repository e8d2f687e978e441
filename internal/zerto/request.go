package zerto

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"hooktrail/internal/reason"
)

// request asks for the tag of e, once. The event is on disk before, so that a
// process that is killed leaves a trace. It returns a result when nothing is
// left to wait for.
func (c *call) request(ctx context.Context, r *result, e *entry) *result {
	if err := c.report(r, requested, "asking Zerto for a tagged checkpoint"); err != nil {
		c.settle(r, e.Tag, func(e *entry) { e.State, e.Reason = failed, "not asked for: the event could not be recorded" })
		return r.fail(reason.AuditUnavailable, fmt.Sprintf("its request could not be recorded (%v), so it was not made", err))
	}
	if err := ctx.Err(); err != nil {
		c.settle(r, e.Tag, func(e *entry) { e.State, e.Reason = failed, "not asked for: no time was left" })
		return r.lookup("ask for a checkpoint", errors.New("no time was left"))
	}
	task, fate, err := c.p.client.ask(ctx, r.vpg, e.Tag)
	switch fate {
	case taken, unsure:
		c.settle(r, e.Tag, func(e *entry) {
			if e.State == intended && fate == taken {
				e.State = requested
			}
			e.Task = task
		})
		if fate == taken {
			e.State, e.Task = requested, task
		}
		return nil
	case unsent:
		text := "the request could not be sent: " + err.Error()
		c.settle(r, e.Tag, func(e *entry) { e.State, e.Reason = failed, cut(text, 300) })
		return c.told(r.fail(reason.GuardLookupFailed, text), failed)
	case refused:
	}
	// An error of the server may come after the tag was taken.
	var ce *callError
	uncertain := errors.As(err, &ce) && ce.status >= 500
	if uncertain {
		if row := c.look(ctx, r, e); row != nil {
			return c.settleFound(r, e, row)
		}
	}
	text := "Zerto refused the request: " + err.Error()
	c.settle(r, e.Tag, func(e *entry) { e.State, e.Reason, e.Uncertain = failed, cut(text, 300), uncertain })
	done := r.fail(reason.GuardCheckpointFailed, text)
	if ce != nil {
		done.retry = ce.retryAfter
		if ce.status == http.StatusUnauthorized {
			// The token became void on the way. The next call logs in anew.
			done.code, done.retry = reason.GuardLookupFailed, time.Second
		}
	}
	return c.told(done, failed)
}

// look reads the list once for the tag of e; nil when it is not there or the
// list could not be read.
func (c *call) look(ctx context.Context, r *result, e *entry) *checkpointRow {
	rows, err := c.p.client.checkpoints(ctx, r.vpg, e.Since.Add(-wide))
	if err != nil {
		return nil
	}
	return listed(rows, e.Tag, e.Since)
}

// lastWordFor is short: a host that gives up sends KILL 1.5 s after TERM, and the
// decision has to be recorded, too.
const lastWordFor = 500 * time.Millisecond

// lastWord is the context in which the end of a request is noted: that of the
// call, and a moment more when it is over already.
func (c *call) lastWord() (context.Context, context.CancelFunc) {
	if c.outer.Err() == nil {
		return c.outer, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(c.outer), lastWordFor)
}

// settle changes the entry of a tag in the state file. Its errors are of no
// account: the entry stays as the pending one it was, which is the careful side.
func (c *call) settle(r *result, tag string, f func(*entry)) {
	ctx, cancel := c.lastWord()
	defer cancel()
	_ = c.p.state.update(ctx, func(l *ledger) error {
		if e := l.group(r.vpg).find(tag); e != nil && !e.seen() {
			f(e)
		}
		return nil
	})
}

// settleFound marks a tag that was just seen in the list. It returns nil when
// the tag is of no use: a change was let through between its request and now, or
// nobody remembers it.
func (c *call) settleFound(r *result, e *entry, row *checkpointRow) *result {
	good := false
	err := c.p.state.update(c.outer, func(l *ledger) error {
		g := l.group(r.vpg)
		kept := g.find(e.Tag)
		switch {
		case kept == nil:
			return nil
		case kept.seen(): // by a call that waits with us, before it let its change through
			good = true
		case kept.Changes == g.Changes:
			good = true
		default:
			kept.State, kept.Reason = void, "a change was let through before the tag was listed"
			return nil
		}
		if err := c.see(r, kept, row); err != nil {
			return err
		}
		*e = *kept
		return nil
	})
	if err != nil {
		return r.unusable(err)
	}
	if !good {
		return nil
	}
	return c.found(r, e)
}
