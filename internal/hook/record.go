package hook

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
)

// record puts the invocation's event, and what the observer found, on disk.
//
// The recording outlives the caller's cancellation: a host that has given up
// must not cost the record.
func (h *Hook) record(ctx context.Context, c *call) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.o.AuditTimeout)
	defer cancel()
	d := *c // the recording may outlive this function
	err, ok := Within(ctx, h.o.AuditTimeout+recordGrace, func() error { return h.store(ctx, &d) })
	if !ok {
		return fmt.Errorf("it was not done within %v", h.o.AuditTimeout)
	}
	c.recorded = err == nil
	return err
}

// recordGrace is for a recording that ends because its time is over.
const recordGrace = time.Second

// store writes the events.
func (h *Hook) store(ctx context.Context, c *call) error {
	events := []*audit.Event{h.describe(c)}
	for _, o := range c.judgement.Others {
		other := &call{id: uuid.Must(uuid.NewV7()).String(), start: c.start, event: c.event, admitted: true, judgement: o}
		settle(other)
		events = append(events, h.describe(other))
	}
	more, commit := h.observe(ctx, c)
	events = append(events, more...)
	if err := h.o.Log.Record(ctx, events...); err != nil {
		return err
	}
	// A commit that fails lets the observer read the same records again, and
	// they are known by their ids.
	_ = commit()
	return nil
}

// observe asks the observer, and does without it when the host's records lie where
// nothing answers: they are there next time, and the call's own event is now.
func (h *Hook) observe(ctx context.Context, c *call) (events []*audit.Event, commit func() error) {
	type seen struct {
		events []*audit.Event
		commit func() error
	}
	if h.o.Observer == nil || !c.admitted {
		return nil, func() error { return nil }
	}
	e := c.event // the observer may outlive this function
	s, _ := Within(ctx, h.o.AuditTimeout/2, func() seen {
		events, commit := h.o.Observer.Observe(ctx, &e)
		return seen{events, commit}
	})
	if s.commit == nil {
		s.commit = func() error { return nil }
	}
	return s.events, s.commit
}

// unrecorded turns the verdict into that of a failed audit.
func (h *Hook) unrecorded(c *call, err error) {
	if h.o.Continue {
		c.recorded = true // as configured: the answer stands without a record
		return
	}
	c.verdict = answer.Verdict{
		Decision: answer.Deny, Code: reason.AuditUnavailable,
		Message: fmt.Sprintf("The audit log could not be written (%v), and nothing may run unrecorded. %s Mend the audit log, then try again.", err, upshot(c.event.Name, c.judgement.Stops)),
	}
}

// describe makes the event of kind invocation.
func (h *Hook) describe(c *call) *audit.Event {
	e, j := &c.event, &c.judgement
	r := h.base(e)
	r.EventID = c.id
	r.Kind = audit.Invocation
	r.Reason = c.verdict.Code
	r.Layer = r.Reason.Layer()
	r.Decision = decision(e.Name, c.verdict, j.Stops)
	r.Message = c.verdict.Message
	r.Gate = string(c.gate)
	r.HookName = cmp.Or(j.Callback.HookName, h.o.HookName)
	r.OnFailure = j.Callback.OnFailure
	if c.gate != gate.Schema || c.admitted {
		code, late := j.Callback.ExitCode, j.Callback.TimedOut
		r.ExitCode, r.TimedOut = &code, &late
	}
	took, limit := h.o.Now().Sub(c.start).Milliseconds(), h.o.JudgeTimeout.Milliseconds()
	if j.Took > 0 {
		took = j.Took.Milliseconds()
	}
	r.DurationMs, r.DeadlineMs = &took, &limit
	r.Target = cmp.Or(j.Target, e.InputString("file_path", "notebook_path", "path", "url"))
	r.Command = e.InputString("command", "cli_command")
	if e.InputRaw != nil {
		r.Input = &audit.Input{Bytes: int64(len(e.InputRaw)), HMAC: h.o.Log.Digest(e.InputRaw)}
	}
	r.SchemaErrors = c.faults
	if len(j.Checkpoints) > 0 {
		r.Checkpoint = checkpoint(j.Checkpoints[0])
	}
	return r
}

// base fills in what every event of one invocation shares.
func (h *Hook) base(e *event.Event) *audit.Event {
	return &audit.Event{
		SessionID: e.SessionID, ToolUseID: e.ToolUseID, PromptID: e.PromptID, AgentID: e.AgentID,
		HookEvent: e.Name, PermissionMode: e.PermissionMode, CWD: e.CWD, TranscriptPath: e.TranscriptPath,
		Tool: e.Tool, MCPServer: e.MCPServer, ConfigSHA256: h.o.ConfigSHA256,
	}
}

// report returns the function that records a checkpoint's steps at once: what is
// only recorded at the end is lost with a killed process.
func (h *Hook) report(e *event.Event) Report {
	return func(action string, cp guard.Checkpoint, message string) error {
		r := h.base(e)
		r.Kind = audit.Checkpoint
		r.Action = action
		r.Target = cp.VM
		r.Message = message
		r.Decision = reason.None
		r.Reason = reason.Observed
		r.Checkpoint = checkpoint(cp)
		ctx, cancel := context.WithTimeout(context.Background(), h.o.AuditTimeout)
		defer cancel()
		return h.o.Log.Record(ctx, r)
	}
}

func checkpoint(c guard.Checkpoint) *audit.CheckpointInfo {
	return &audit.CheckpointInfo{
		Provider: c.Provider, VM: c.VM, VPG: c.VPG, Site: c.Site, Platform: c.Platform, Tag: c.Tag, ID: c.ID,
		Time: c.Time, State: c.State, CadenceS: int64(c.Cadence.Seconds()), WaitedMs: c.Waited.Milliseconds(),
	}
}
