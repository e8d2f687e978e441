package cli

import (
	"context"
	"errors"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/settings/doctor"
)

// tagProbe asks the configured provider for a checkpoint of a machine, as a
// change of it would, and waits for it within the guard's budget.
func tagProbe(ctx context.Context, s *Stdio, set *settings, vm string) []doctor.Check {
	check := func(state doctor.State, detail, do string) []doctor.Check {
		return []doctor.Check{{Name: "tag", State: state, Detail: detail, Do: do}}
	}
	p, err := newProvider(s, set)
	switch {
	case err != nil:
		return check(doctor.Failed, err.Error(), "mend the configuration")
	case p == nil:
		return check(doctor.Failed, "no checkpoint provider is configured", "set zerto or exec in the installed configuration")
	}
	log, err := set.open(s)
	if err != nil {
		return check(doctor.Failed, err.Error(), "set --log or HOME")
	}
	ctx, cancel := context.WithTimeout(ctx, set.Guard.Budget.Or(guard.DefaultBudget))
	defer cancel()
	out := p.Protect(ctx, guard.Request{
		Tool: "hooktrail doctor", Input: []byte("{}"), VMs: []guard.VM{{Ref: vm}}, Report: recordCheckpoints(ctx, set, log),
	})
	if c, ok := p.(interface{ Close(context.Context) error }); ok {
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		_ = c.Close(end) // zertoProbe tells when sessions cannot be ended
	}
	switch {
	case errors.Is(out.Code, reason.GuardCheckpointConfirmed):
		return check(doctor.OK, out.Message, "")
	case errors.Is(out.Code, reason.GuardCheckpointUnconfirmed):
		return check(doctor.Warning, out.Message, "hooktrail checkpoints --refresh tells when it has landed; a larger guard.budget waits longer")
	}
	return check(doctor.Failed, out.Message, "until then every change of this machine is stopped or asked about")
}

// recordCheckpoints returns what records each step of a checkpoint that no call
// asked for.
func recordCheckpoints(ctx context.Context, set *settings, log *audit.Log) func(string, guard.Checkpoint, string) error {
	return func(action string, cp guard.Checkpoint, message string) error {
		return log.Record(ctx, &audit.Event{
			Kind: audit.Checkpoint, Action: action, Target: cp.VM, Message: message,
			Reason: reason.Observed, Decision: reason.None, ConfigSHA256: set.SHA256,
			Checkpoint: &audit.CheckpointInfo{
				Provider: cp.Provider, VM: cp.VM, VPG: cp.VPG, Site: cp.Site, Platform: cp.Platform, Tag: cp.Tag, ID: cp.ID,
				Time: cp.Time, State: cp.State, CadenceS: int64(cp.Cadence.Seconds()), WaitedMs: cp.Waited.Milliseconds(),
			},
		})
	}
}
