package cli

import (
	"context"
	"time"

	"hooktrail/internal/settings/doctor"
)

// probeTime bounds the questions to a ZVM.
const probeTime = time.Minute

// zertoProbe asks the configured ZVM what the guard has to know of it. It asks
// for no checkpoint.
func zertoProbe(ctx context.Context, s *Stdio, set *settings) []doctor.Check {
	if set.Zerto == nil {
		return nil
	}
	p, err := newZerto(s, set)
	if err != nil {
		return nil // the guard's own check says so
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	facts, err := p.Probe(ctx)
	var all []doctor.Check
	for _, f := range facts {
		c := doctor.Check{Name: "zerto", State: doctor.OK, Detail: f.Question + " " + f.Answer}
		if f.Doubt {
			c.State, c.Do = doctor.Warning, "see docs/zerto.md"
		}
		all = append(all, c)
	}
	if err != nil {
		all = append(all, doctor.Check{Name: "zerto", State: doctor.Failed, Detail: "the Zerto Virtual Manager cannot be asked: " + err.Error(), Do: "mend the zerto section or the way to the ZVM: until then every change is stopped"})
	}
	if err := p.Close(ctx); err != nil {
		all = append(all, doctor.Check{Name: "zerto", State: doctor.Warning, Detail: "the session could not be ended: " + err.Error(), Do: "it ends by itself in half an hour"})
	}
	return all
}
