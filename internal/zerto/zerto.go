package zerto

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
)

// A Provider is the zerto checkpoint provider. Several goroutines may use it.
type Provider struct {
	client   *client
	clock    clock
	state    *stateFile
	prefix   string
	warnings []string
	active   atomic.Int32 // calls under way
}

var _ guard.Provider = (*Provider)(nil)

// Name returns zerto.
func (p *Provider) Name() string { return "zerto" }

// Warnings returns what is dangerous in the settings, for people.
func (p *Provider) Warnings() []string { return append([]string(nil), p.warnings...) }

// Close ends the session of a Windows ZVM and the open connections. The Provider
// works on afterwards.
func (p *Provider) Close(ctx context.Context) error {
	err := p.client.closeSession(ctx)
	p.client.transport.CloseIdleConnections()
	return err
}

// leave ends the session of a Windows ZVM with the last call: hooks are short
// processes, and each would leave one behind for half an hour.
func (p *Provider) leave(ctx context.Context) {
	if p.active.Add(-1) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, p.clock.real(min(time.Second, p.clock.left(ctx)/4)))
	defer cancel()
	_ = p.client.closeSession(ctx) // it ends by itself, too
}

// A call is one Request under way.
type call struct {
	p      *Provider
	req    guard.Request
	outer  context.Context //nolint:containedctx // the last writes may go on until here
	until  time.Time       // by our clock, when outer has ended
	skew   time.Duration   // how far the ZVM's clock is ahead of ours
	sites  map[string]*memo[siteRow]
	shared *finder
}

// now is the ZVM's time.
func (c *call) now() time.Time { return c.p.clock.now().Add(c.skew) }

// Protect implements guard.Provider. It answers before ctx ends: a tenth of the
// time, at most a second, is kept back for the last writes.
func (p *Provider) Protect(ctx context.Context, req guard.Request) guard.Outcome {
	if len(req.VMs) == 0 {
		return guard.Outcome{Code: reason.GuardVMMissing, Message: "The call names no machine, so there is nothing to make a checkpoint of."}
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.clock.real(defaultBudget))
		defer cancel()
	}
	left := p.clock.left(ctx)
	if left <= 0 {
		return guard.Outcome{Code: reason.GuardLookupFailed, Message: "No time was left to ask Zerto. Nothing was changed."}
	}
	p.active.Add(1)
	defer p.leave(ctx)
	c := &call{p: p, req: req, outer: ctx, until: p.clock.now().Add(left), shared: &finder{c: p.client}}
	work, cancel := context.WithTimeout(ctx, p.clock.real(left-min(left/10, p.clock.fromReal(time.Second))))
	defer cancel()

	machines, out := c.resolve(work)
	if out.Code != "" {
		return c.warned(out)
	}
	return c.warned(c.protect(work, machines))
}

// warned adds the warnings of the settings to what people and the model read.
func (c *call) warned(out guard.Outcome) guard.Outcome {
	for _, w := range c.p.warnings {
		out.Message += " Warning: " + w + "."
		if out.Context != "" {
			out.Context += "\nWarning: " + w + "."
		}
	}
	return out
}

// resolve looks up all machines of the call. When one of them cannot be
// protected, the outcome has a code and nothing is asked of Zerto.
func (c *call) resolve(ctx context.Context) ([]*machine, guard.Outcome) {
	vms := c.req.VMs
	found := make([]*machine, len(vms))
	missed := make([]*miss, len(vms))
	each(len(vms)+2, few, func(i int) {
		switch i {
		case len(vms):
			c.skew = c.p.client.serverTime(ctx)
		case len(vms) + 1:
			_, _ = c.shared.unguarded.get(func() ([]unprotectedRow, error) { return listUnprotected(ctx, c.p.client) })
		default:
			found[i], missed[i] = c.shared.find(ctx, vms[i])
		}
	})
	var worst *miss
	var said []string
	for _, m := range missed {
		if m == nil {
			continue
		}
		add(&said, m.message)
		if worst == nil || severity(m.code) > severity(worst.code) {
			worst = m
		}
	}
	if worst == nil {
		return unique(found), guard.Outcome{}
	}
	out := guard.Outcome{Code: worst.code, Message: sentence(strings.Join(said, "; ")), RetryAfter: worst.retry}
	if worst.code == reason.GuardLookupFailed {
		out.Message += " Without the look-up there is no knowing whether the change could be taken back, so it was not made. " + again(out.RetryAfter) + " If that does not help, a person has to see why the Zerto Virtual Manager cannot be asked."
		return nil, out
	}
	out.Message += " No checkpoint was asked for: if the call is let through, Zerto cannot take it back. A person has to decide."
	// A person may let the call through: what is under way on these groups could
	// then lie after the change.
	var groups []string
	for i := range vms {
		if found[i] != nil {
			for _, g := range found[i].groups {
				add(&groups, g.vpg)
			}
		}
		if missed[i] != nil {
			for _, g := range missed[i].groups {
				add(&groups, g)
			}
		}
	}
	if err := c.touch(groups, nil); err != nil {
		return nil, cannotRemember(err)
	}
	return nil, out
}

func severity(code reason.Code) int {
	switch code {
	case reason.GuardLookupFailed:
		return 4
	case reason.GuardVMAmbiguous:
		return 3
	case reason.GuardVMUnprotected:
		return 2
	default:
		return 1
	}
}

func unique(all []*machine) []*machine {
	var kept []*machine
	for _, m := range all {
		twice := false
		for _, k := range kept {
			twice = twice || k.id == m.id
		}
		if !twice {
			kept = append(kept, m)
		}
	}
	return kept
}

func cannotRemember(err error) guard.Outcome {
	return guard.Outcome{Code: reason.GuardCheckpointFailed, Message: sentence(fmt.Sprintf("what was asked of Zerto could not be remembered: %v", err)) + " The change was not made. Mend the state file or its folder and try again."}
}

// sentence begins s with a capital letter and ends it with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	return strings.TrimRight(s, ". ") + "."
}

// touch counts a change on each of the groups, before it is let through, and
// marks the tags on whose strength it is. A process that ends in between costs a
// tag, never a false point.
func (c *call) touch(groups []string, tags map[string]string) error {
	if len(groups) == 0 {
		return nil
	}
	return c.p.state.update(c.outer, func(l *ledger) error {
		for _, vpg := range groups {
			g := l.group(vpg)
			g.Changes++
			if tag, ok := tags[vpg]; ok {
				e := g.find(tag)
				if e == nil || !e.seen() {
					return errors.New("the confirmed tag is not in the state file any more")
				}
				if e.Used.IsZero() {
					e.Used = c.p.clock.now()
				}
			}
		}
		return nil
	})
}
