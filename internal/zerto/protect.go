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
	"hooktrail/internal/reason"
)

// grace is how much longer the other groups of a machine are waited for when one
// of its tags is confirmed, which is enough.
const grace = 3 * time.Second

// errEnough ends the wait for groups that are not needed any more.
var errEnough = errors.New("enough is confirmed")

// A target is one group to be tagged for the call.
type target struct {
	membership
	vms []string // names of the machines of the call that it covers
}

// A result is what became of a target. The zero value confirms nothing.
type result struct {
	*target
	code  reason.Code
	text  string // what happened, without the group's name
	point guard.Checkpoint
	retry time.Duration
	place siteRow
}

func (r *result) confirmed() bool { return r != nil && r.code == reason.GuardCheckpointConfirmed }

// protect tags all groups of the machines at the same time and waits until each
// machine has a confirmed tag.
func (c *call) protect(ctx context.Context, machines []*machine) guard.Outcome {
	targets := targetsOf(machines)
	c.sites = map[string]*memo[siteRow]{}
	for _, t := range targets {
		c.sites[siteKey(t.site)] = &memo[siteRow]{}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	results := make([]*result, len(targets))
	type numbered struct {
		i int
		r *result
	}
	arrived := make(chan numbered, len(targets))
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		each(len(targets), len(targets), func(i int) { arrived <- numbered{i, c.cover(ctx, targets[i])} })
	}()
	var soon <-chan time.Time
	for n := 0; n < len(targets); {
		select {
		case a := <-arrived:
			n++
			results[a.i] = a.r
			if soon == nil && n < len(targets) && covered(machines, targets, results) {
				t := time.NewTimer(c.p.clock.real(grace))
				defer t.Stop()
				soon = t.C
			}
		case <-soon:
			stop(errEnough)
			soon = nil
		case fault := <-ended:
			if fault != nil {
				panic(fault)
			}
		}
	}
	if !covered(machines, targets, results) {
		return c.held(machines, targets, results)
	}
	// Every group of the machines gets the change, whether its tag is confirmed
	// or not.
	var groups []string
	tags := map[string]string{}
	for i, t := range targets {
		groups = append(groups, t.vpg)
		if results[i].confirmed() {
			tags[t.vpg] = results[i].point.Tag
		}
	}
	if err := c.touch(groups, tags); err != nil {
		return cannotRemember(err)
	}
	return c.through(machines, targets, results)
}

func siteKey(l link) string { return string(l.Type) + " " + l.id() }

func targetsOf(machines []*machine) []*target {
	var all []*target
	for _, m := range machines {
		for _, g := range m.groups {
			i := slices.IndexFunc(all, func(t *target) bool { return strings.EqualFold(t.vpg, g.vpg) })
			if i < 0 {
				i = len(all)
				all = append(all, &target{membership: g})
			}
			add(&all[i].vms, m.name)
		}
	}
	return all
}

// of returns the results of a machine's groups that are there.
func of(m *machine, targets []*target, results []*result) []*result {
	var rs []*result
	for i, t := range targets {
		if m.in(t.vpg) && results[i] != nil {
			rs = append(rs, results[i])
		}
	}
	return rs
}

func covered(machines []*machine, targets []*target, results []*result) bool {
	for _, m := range machines {
		if !slices.ContainsFunc(of(m, targets, results), (*result).confirmed) {
			return false
		}
	}
	return true
}

// held makes the outcome of a call that is not let through.
func (c *call) held(machines []*machine, targets []*target, results []*result) guard.Outcome {
	out := guard.Outcome{}
	var said []string
	for _, m := range machines {
		rs := of(m, targets, results)
		if slices.ContainsFunc(rs, (*result).confirmed) {
			add(&said, fmt.Sprintf("%s has a confirmed checkpoint", quote(m.name)))
			continue
		}
		code := rs[0].code
		for _, r := range rs {
			if gravity(r.code) < gravity(code) {
				code = r.code // what can still come right decides for this machine
			}
			add(&said, fmt.Sprintf("%s, group %s: %s", quote(m.name), quote(r.name), r.text))
			out.RetryAfter = max(out.RetryAfter, r.retry)
		}
		if out.Code == "" || gravity(code) > gravity(out.Code) {
			out.Code = code
		}
	}
	out.Checkpoints = points(results)
	said = clip(said, 8)
	switch out.Code {
	case reason.GuardCheckpointUnconfirmed:
		out.Message = sentence("no confirmed checkpoint yet: "+strings.Join(said, "; ")) +
			fmt.Sprintf(" The change was not made, and the request is remembered: make the same call again in %s (after %s); if the tag is listed by then, the call goes through without a second request.",
				span(out.RetryAfter), at(c.p.clock.now().Add(out.RetryAfter+time.Second-1)))
	case reason.GuardLookupFailed:
		out.Message = sentence("Zerto could not be asked: "+strings.Join(said, "; ")) + " The change was not made. " + again(out.RetryAfter)
	case reason.AuditUnavailable:
		out.Message = sentence("a checkpoint could not be recorded: "+strings.Join(said, "; ")) + " The change was not made."
		out.RetryAfter = 0
	default:
		out.Message = sentence("no checkpoint: "+strings.Join(said, "; ")) + " The change was not made, since Zerto could not take it back. "
		if out.RetryAfter > 0 {
			out.Message += again(out.RetryAfter)
		} else {
			out.Message += "A person has to look at the protection group first."
		}
	}
	return out
}

func again(after time.Duration) string {
	if after <= 0 {
		return "Try again later."
	}
	return fmt.Sprintf("Make the same call again in %s.", span(after))
}

func clip(s []string, most int) []string {
	if len(s) > most {
		return append(s[:most:most], fmt.Sprintf("and %d more", len(s)-most))
	}
	return s
}

func gravity(code reason.Code) int {
	switch code {
	case reason.GuardCheckpointConfirmed:
		return 0
	case reason.GuardCheckpointUnconfirmed:
		return 1
	case reason.GuardLookupFailed:
		return 2
	case reason.GuardCheckpointFailed:
		return 3
	default: // the audit
		return 4
	}
}

// points returns the checkpoints of all groups, the confirmed ones first.
func points(results []*result) []guard.Checkpoint {
	var first, rest []guard.Checkpoint
	for _, r := range results {
		switch {
		case r.confirmed():
			first = append(first, r.point)
		case r.point.Tag != "":
			rest = append(rest, r.point)
		}
	}
	return append(first, rest...)
}

// through makes the outcome of a call that is let through.
func (c *call) through(machines []*machine, targets []*target, results []*result) guard.Outcome {
	out := guard.Outcome{Code: reason.GuardCheckpointConfirmed, Checkpoints: points(results)}
	var b strings.Builder
	b.WriteString("Before this call Zerto confirmed a checkpoint to go back to:\n")
	var short []string
	for i, t := range targets {
		r := results[i]
		names := make([]string, len(t.vms))
		for j, n := range t.vms {
			names[j] = quote(n)
		}
		where := fmt.Sprintf("%s, protection group %s", strings.Join(names, ", "), quote(r.name))
		if r.point.Site != "" {
			where += fmt.Sprintf(", protected site %s (%s)", quote(r.point.Site), r.point.Platform)
		}
		if r.confirmed() {
			fmt.Fprintf(&b, "- confirmed: %s: tag %q, checkpoint %s, taken %s.\n", where, r.point.Tag, cmp.Or(printable(r.point.ID), "without an identifier"), at(r.point.Time))
			short = append(short, fmt.Sprintf("%s in group %s: tag %s, checkpoint %s", strings.Join(names, ", "), quote(r.name), r.point.Tag, printable(r.point.ID)))
			continue
		}
		fmt.Fprintf(&b, "- NOT confirmed: %s: %s. Do not count on this group.\n", where, r.text)
	}
	for _, m := range machines {
		if m.unsure {
			fmt.Fprintf(&b, "- whether there is another machine called %s that no group protects could not be found out.\n", quote(m.name))
		}
	}
	b.WriteString("To go back, a person or a tool with access to Zerto recovers the group (Failover, Move or File restore) to the checkpoint with this tag. It takes all machines of the group back to that time, is crash-consistent only, and lasts as long as the group's journal history.")
	out.Context = b.String()
	out.Message = sentence("checkpoint confirmed for " + strings.Join(clip(short, 6), "; "))
	return out
}
