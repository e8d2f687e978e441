package zerto

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
)

// freshFor is how old a checkpoint that nobody used may be and still stand for a
// new call: going back to it loses all that the machine did since.
const freshFor = time.Hour

// othersFor is how long a tag stands for machines that it was not asked for. One
// that was put into the group later is in no checkpoint before that; its first
// sync takes longer than this, but for small machines.
const othersFor = 20 * time.Minute

// cover sees to one group: it is in a state to take tags, the journal can be
// read, and a tag is found, joined or asked for and waited for.
func (c *call) cover(ctx context.Context, t *target) *result {
	r := &result{target: t}
	state, bad := c.inspect(ctx, r)
	if bad != nil {
		return bad
	}
	since := c.now().Add(-r.pace().platform.window())
	if l, err := c.p.state.read(); err == nil {
		// What is remembered must be in the list if it has landed.
		if g := l.Groups[key(t.vpg)]; g != nil {
			for _, e := range g.Entries {
				if e.Changes == g.Changes && e.Since.Add(-wide).Before(since) && c.now().Sub(e.Since) < freshFor+margin {
					since = e.Since.Add(-wide)
				}
			}
		}
	}
	rows, err := c.p.client.checkpoints(ctx, t.vpg, since)
	if err != nil {
		return r.lookup("read the list of checkpoints", err)
	}
	pc := pace{platform: r.pace().platform, measured: measure(rows)}
	r.point.Cadence = pc.cadence()
	for {
		e, mine, err := c.claim(ctx, r, pc, rows)
		if err != nil {
			return r.unusable(err)
		}
		r.point.Tag = e.Tag
		if !mine && e.seen() {
			return c.found(r, e)
		}
		if mine {
			if done := c.request(ctx, r, e); done != nil {
				return done
			}
		}
		done := c.wait(ctx, r, e, pc, mine, state)
		if done != nil {
			return done
		}
		// The tag was of no use: a change was let through before it was seen, or
		// it never came. A new one is needed, and time for it.
		if c.p.clock.left(ctx) < time.Second {
			return c.unconfirmed(r, e, pc, "the tag asked for before cannot be used, and no time is left for a new one", time.Second)
		}
		rows = nil
	}
}

// pace is what is known of the group so far.
func (r *result) pace() pace { return pace{platform: platform(r.point.Platform)} }

// inspect asks for the group's state and its protected site.
func (c *call) inspect(ctx context.Context, r *result) (string, *result) {
	var row vpgRow
	var err error
	r.point = guard.Checkpoint{Provider: c.p.Name(), VM: strings.Join(r.vms, ", "), VPG: r.name, Site: r.siteAs}
	each(2, 2, func(i int) {
		if i == 0 {
			err = c.p.client.get(ctx, "/v1/vpgs/"+url.PathEscape(r.vpg), nil, &row)
			return
		}
		// A site that cannot be read leaves the platform unknown; the cadence is
		// measured as well.
		r.place, _ = c.sites[siteKey(r.site)].get(func() (siteRow, error) { return c.p.client.site(ctx, r.site) })
	})
	r.point.Platform = string(platformOf(string(r.place.SiteType), string(r.place.RegionName)))
	if n := r.place.name(); n != "" {
		r.point.Site = n
	}
	if err != nil && !notFound(err, r.vpg) {
		return "", r.lookup("read the state of the group", err)
	}
	status, sub, rpo := row.Status, row.SubStatus, row.ActualRPO
	if err != nil || !status.known {
		status, sub, rpo = r.status, r.sub, r.rpo
	}
	// The API's own names are shown; its numbers decide.
	fitness, state := judge(status, sub, rpo)
	if s := printable(string(row.StatusDescription)); s != "" && fitness == unfit {
		state += " (" + strings.TrimSpace(s+" "+printable(string(row.SubStatusDescription))) + ")"
	}
	if fitness == unfit {
		done := r.fail(reason.GuardCheckpointFailed, "the group takes no tags in its state, "+state)
		return state, c.told(done, failed)
	}
	if fitness == held {
		return state, nil
	}
	return "", nil
}

// claim finds the tag to wait for: one that has landed and may be used, one that
// is on its way, or a new one, whose intent is on disk when claim returns.
func (c *call) claim(ctx context.Context, r *result, pc pace, rows []checkpointRow) (e *entry, mine bool, err error) {
	now := c.now()
	err = c.p.state.update(ctx, func(l *ledger) error {
		e, mine = nil, false
		g := l.group(r.vpg)
		g.Name = r.name
		for i := len(g.Entries) - 1; i >= 0; i-- {
			old := g.Entries[i]
			if old.Changes != g.Changes || old.State == failed && !old.Uncertain {
				continue
			}
			if now.Sub(old.Since) >= othersFor && !holds(old.VMs, r.vms) {
				continue
			}
			if row := listed(rows, old.Tag, old.Since); row != nil {
				if now.Sub(landed(old, row)) < freshFor {
					e = old
					return c.see(r, old, row)
				}
				continue
			}
			if old.pending() && now.Sub(old.Since) < old.pace().patience(old.State == requested) && e == nil {
				e = old
			}
		}
		if e != nil {
			return nil
		}
		mine = true
		e = &entry{
			Tag: newTag(c.p.prefix, now), VMs: r.vms, Site: r.point.Site, Platform: pc.platform, State: intended, Changes: g.Changes,
			Since: now, Until: c.until, CadenceS: seconds(pc.cadence()), ExpectedS: seconds(pc.expected()),
		}
		g.Entries = append(g.Entries, e)
		return nil
	})
	return e, mine, err
}

// holds tells whether all of some are among all.
func holds(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func seconds(d time.Duration) int64 { return int64((d + time.Second/2) / time.Second) }

func landed(e *entry, row *checkpointRow) time.Time {
	if row.TimeStamp.IsZero() {
		return e.Since
	}
	return row.TimeStamp.Time
}

// see marks an entry that stands in the list. When that is news to those who
// were denied for want of it, the event is on disk before the mark is.
func (c *call) see(r *result, e *entry, row *checkpointRow) error {
	news := !e.seen()
	if news {
		now := c.p.clock.now()
		if !e.Unconfirmed.IsZero() || now.After(e.Until) || e.State == failed {
			e.State = late
		} else {
			e.State = confirmed
		}
		e.Listed = now
	}
	e.ID, e.Time = row.id(), row.TimeStamp.Time
	if !news || e.State != late {
		return nil
	}
	r.point.Tag, r.point.ID, r.point.Time = e.Tag, e.ID, e.Time
	r.point.Waited = max(0, c.now().Sub(e.Since))
	if err := c.report(r, late, "the tag has landed after a call was denied for want of it"); err != nil {
		return unrecorded{err}
	}
	return nil
}

// unrecorded is an event that could not be recorded.
type unrecorded struct{ error }

// unusable makes the result of a state file that cannot be used, or of an event
// that could not be recorded with its change.
func (r *result) unusable(err error) *result {
	if u := (unrecorded{}); errors.As(err, &u) {
		return r.fail(reason.AuditUnavailable, fmt.Sprintf("its tag has landed, and that could not be recorded: %v", u.error))
	}
	return r.fail(reason.GuardCheckpointFailed, fmt.Sprintf("the state file cannot be used: %v", err))
}

// found makes the result of a tag that stands in the list.
func (c *call) found(r *result, e *entry) *result {
	r.point.Tag, r.point.ID, r.point.Time = e.Tag, e.ID, e.Time
	r.point.Waited = max(0, c.now().Sub(e.Since))
	r.code, r.text = reason.GuardCheckpointConfirmed, "confirmed"
	return c.told(r, confirmed)
}

// told reports what r says and returns it, or a failure when the event of a
// confirmed tag could not be recorded.
func (c *call) told(r *result, action string) *result {
	if err := c.report(r, action, r.text); err != nil && r.confirmed() {
		return r.fail(reason.AuditUnavailable, fmt.Sprintf("it is confirmed, and that could not be recorded: %v", err))
	}
	return r
}

func (c *call) report(r *result, action, message string) error {
	r.point.State = action
	if c.req.Report == nil {
		return nil
	}
	return c.req.Report(action, r.point, sentence(fmt.Sprintf("group %s: %s", quote(r.name), message)))
}

func (r *result) fail(code reason.Code, text string) *result {
	r.code, r.text = code, text
	if code != reason.GuardCheckpointUnconfirmed {
		r.point.State = failed
	}
	return r
}

func (r *result) lookup(op string, err error) *result {
	m := lookupFailed(op, err)
	r.retry = m.retry
	return r.fail(m.code, m.message)
}
