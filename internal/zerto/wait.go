package zerto

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"hooktrail/internal/reason"
)

const (
	firstPoll = 250 * time.Millisecond
	slowPoll  = 5 * time.Second
	// quick is how long a request is watched although its tag cannot be expected
	// in time: long enough to hear of a task that fails at once.
	quick = 1500 * time.Millisecond
)

// wait polls until the tag of e is listed, its request has failed, or the time
// is up. It returns nil when the tag cannot be used and another is needed.
func (c *call) wait(ctx context.Context, r *result, e *entry, pc pace, mine bool, state string) *result {
	clk := c.p.clock
	end := clk.left(ctx)
	start := clk.now()
	short := false
	if rest := pc.expected() - c.now().Sub(e.Since); pc.expected() > 0 && rest > end {
		short = true
		end = min(end, quick)
	}
	ctx, cancel := context.WithTimeout(ctx, clk.real(end))
	defer cancel()
	pause, step := firstPoll, max(time.Second, min(slowPoll, pc.cadence()/4))
	var last error
	seenTask := false
	for n := 0; ; n++ {
		if n > 0 || mine {
			if clk.sleep(ctx, pause) != nil {
				break
			}
		}
		pause = min(2*pause, step)
		back := margin
		if n%4 == 3 {
			back = wide
		}
		rows, err := c.p.client.checkpoints(ctx, r.vpg, e.Since.Add(-back))
		var ce *callError
		switch {
		case err == nil:
			last = nil
			if row := listed(rows, e.Tag, e.Since); row != nil {
				return c.settleFound(r, e, row)
			}
			if t := cutTag(rows, e.Tag); t != "" {
				last = fmt.Errorf("the journal shows the tag %s, which is not the one asked for: if this ZVM shortens tags, set a shorter zerto.tagPrefix", quote(t))
			}
		case ctx.Err() != nil:
			if n == 0 {
				last = err
			}
		case errors.As(err, &ce):
			last = err
			pause = max(pause, ce.retryAfter)
			if ce.status == http.StatusUnauthorized || ce.login {
				pause = slowPoll // each try is a login
			}
		}
		if e.Task != "" && !seenTask && ctx.Err() == nil {
			switch progress, why := c.p.client.task(ctx, e.Task); progress {
			case broken:
				return c.broken(ctx, r, e, why)
			case done:
				seenTask = true // completed: the list says the rest
			case running:
			}
		}
		if !mine {
			if done, over := c.joined(ctx, r, e); over {
				return done
			}
		}
		if n%4 == 3 && clk.now().Sub(start) > pc.expected() && ctx.Err() == nil {
			if bad := c.stateNow(ctx, r); bad != nil {
				return bad
			}
		}
	}
	if errors.Is(context.Cause(ctx), errEnough) {
		return c.unconfirmed(r, e, pc, "its tag "+e.Tag+" was asked for and is not listed yet", 0)
	}
	elapsed := max(0, c.now().Sub(e.Since))
	rest := max(pc.expected()-elapsed, min(max(pc.cadence()/4, 5*time.Second), 2*time.Minute))
	text := fmt.Sprintf("the tag %s was asked for %s ago and is not in the list of checkpoints yet", e.Tag, span(elapsed))
	if short {
		text += fmt.Sprintf(", where it should appear about %s after the request, which is longer than the time this call has", span(pc.expected()))
	}
	if cad := pc.cadence(); cad > 0 {
		text += fmt.Sprintf("; the journal takes a checkpoint every %s (%s)", span(cad), r.point.Platform)
	}
	if state != "" {
		text += "; the group's state, " + state + ", may hold checkpoints back"
	}
	if last != nil {
		text += "; the last look at the list: " + cut(last.Error(), 300)
	}
	return c.unconfirmed(r, e, pc, text, rest)
}

// joined looks after a request of another call. It is over when that call was
// told that it failed, or when the tag is overdue.
func (c *call) joined(ctx context.Context, r *result, e *entry) (done *result, over bool) {
	l, err := c.p.state.read()
	if err != nil {
		return nil, false
	}
	kept := l.Groups[key(r.vpg)].find(e.Tag)
	if kept == nil {
		return nil, true
	}
	*e = *kept
	switch {
	case e.State == failed && !e.Uncertain && ctx.Err() == nil && e.Changes == l.Groups[key(r.vpg)].Changes:
		done := r.fail(reason.GuardCheckpointFailed, e.Reason)
		return c.told(done, failed), true
	case e.State == void:
		return nil, true
	case e.pending() && c.now().Sub(e.Since) >= e.pace().patience(e.State == requested):
		return nil, true
	}
	return nil, false
}

// broken ends a request whose task failed. A tag in the list counts all the same.
func (c *call) broken(ctx context.Context, r *result, e *entry, why string) *result {
	if row := c.look(ctx, r, e); row != nil {
		return c.settleFound(r, e, row)
	}
	text := "Zerto's task for the tag " + e.Tag + " failed: " + why
	c.settle(r, e.Tag, func(e *entry) { e.State, e.Reason = failed, cut(text, 300) })
	return c.told(r.fail(reason.GuardCheckpointFailed, text), failed)
}

// stateNow asks again for the state of a group whose tag is overdue. It returns
// a result when the group takes no tags any more.
func (c *call) stateNow(ctx context.Context, r *result) *result {
	var row vpgRow
	if c.p.client.get(ctx, "/v1/vpgs/"+url.PathEscape(r.vpg), nil, &row) != nil || !row.Status.known {
		return nil
	}
	fitness, state := judge(row.Status, row.SubStatus, row.ActualRPO)
	if fitness != unfit {
		return nil
	}
	text := "the group went into a state that takes no tags, " + state + ", before its tag was listed"
	c.settle(r, r.point.Tag, func(e *entry) { e.Unconfirmed = c.p.clock.now() })
	return c.told(r.fail(reason.GuardCheckpointFailed, text), failed)
}

// unconfirmed makes the result of a tag that is still on its way, and remembers
// that a call was denied for want of it.
func (c *call) unconfirmed(r *result, e *entry, pc pace, text string, retry time.Duration) *result {
	c.settle(r, e.Tag, func(e *entry) {
		if e.Unconfirmed.IsZero() {
			e.Unconfirmed = c.p.clock.now()
		}
	})
	r.point.State = requested
	r.point.Waited = max(0, c.now().Sub(e.Since))
	r.point.Cadence = pc.cadence()
	r.retry = retry
	return r.fail(reason.GuardCheckpointUnconfirmed, text)
}
