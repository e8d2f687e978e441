package zerto

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hooktrail/internal/guard"
)

// A Record is one tag that was asked for, as people see it.
type Record struct {
	Tag      string `json:"tag"`
	VPG      string `json:"vpg"`
	VPGID    string `json:"vpgId"`
	VMs      string `json:"vms"`
	Site     string `json:"site,omitzero"`
	Platform string `json:"platform"`

	// State is pending, confirmed, late, failed, or void: not seen in the list
	// before a change was let through, so that it is no way back for any later
	// call.
	State string `json:"state"`

	ID       string    `json:"id,omitzero"`   // of the checkpoint
	Time     time.Time `json:"time,omitzero"` // when the journal took it
	Since    time.Time `json:"requested"`
	Listed   time.Time `json:"listed,omitzero"`
	Used     time.Time `json:"used,omitzero"` // when a call was let through on its strength
	CadenceS int64     `json:"cadenceS,omitzero"`
	Reason   string    `json:"reason,omitzero"`
}

// Records returns what a state file remembers, the newest first. A file that
// does not exist remembers nothing.
func Records(stateFilePath string) ([]Record, error) {
	l, err := (&stateFile{path: stateFilePath}).read()
	if errors.Is(err, errCorrupt) {
		return nil, fmt.Errorf("%s: %w", stateFilePath, err)
	}
	if err != nil {
		return nil, err
	}
	var all []Record
	for id, g := range l.Groups {
		for _, e := range g.Entries {
			r := Record{
				Tag: e.Tag, VPG: g.Name, VPGID: id, VMs: strings.Join(e.VMs, ", "), Site: e.Site, Platform: string(e.Platform), State: e.State,
				ID: e.ID, Time: e.Time, Since: e.Since, Listed: e.Listed, Used: e.Used, CadenceS: e.CadenceS, Reason: e.Reason,
			}
			if e.pending() {
				r.State = "pending"
				if e.Changes != g.Changes {
					r.State = void
				}
			}
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Tag, b.Tag))
	})
	return all, nil
}

// Refresh looks for the tags that are still pending and marks those that have
// landed, with an event "late" for each; report may be nil. Nothing is asked for
// and no call is let through. It returns the first error and goes on.
func (p *Provider) Refresh(ctx context.Context, report func(action string, c guard.Checkpoint, message string) error) error {
	l, err := p.state.read()
	if err != nil {
		return err
	}
	c := &call{p: p, outer: ctx, req: guard.Request{Report: report}}
	c.skew = p.client.serverTime(ctx)
	var errs []error
	for id, g := range l.Groups {
		for _, e := range g.Entries {
			open := e.pending() || e.State == failed && e.Uncertain
			if !open || !pathSafe(id) {
				continue
			}
			rows, err := p.client.checkpoints(ctx, id, e.Since.Add(-wide))
			if err != nil {
				errs = append(errs, fmt.Errorf("group %s: %w", quote(g.Name), err))
				break
			}
			if row := listed(rows, e.Tag, e.Since); row != nil {
				errs = append(errs, c.markLate(id, e.Tag, row))
			}
		}
	}
	return errors.Join(errs...)
}

// markLate marks a tag that has landed. One before whose listing a change was
// let through is a checkpoint like any other and covers no later call.
func (c *call) markLate(vpg, tag string, row *checkpointRow) error {
	return c.p.state.update(c.outer, func(l *ledger) error {
		g := l.group(vpg)
		e := g.find(tag)
		if e == nil || e.seen() {
			return nil
		}
		if e.Unconfirmed.IsZero() {
			e.Unconfirmed = c.p.clock.now()
		}
		r := &result{target: &target{membership: membership{name: g.Name}}, point: guard.Checkpoint{
			Provider: c.p.Name(), VM: strings.Join(e.VMs, ", "), VPG: g.Name, Site: e.Site, Platform: string(e.Platform),
			Cadence: time.Duration(e.CadenceS) * time.Second,
		}}
		if err := c.see(r, e, row); err != nil {
			return err
		}
		if e.Changes != g.Changes {
			e.State, e.Reason = void, "a change was let through before the tag was listed"
		}
		return nil
	})
}
