package hook

import (
	"context"

	"hooktrail/internal/answer"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
)

// Guarded is the judge of "hooktrail hook": the guard on PreToolUse, the watch
// over the settings on ConfigChange, and nothing but a record on other events.
type Guarded struct {
	// Guard judges calls. Nil means that Fault does.
	Guard *guard.Guard

	// Fault, if it is set, denies every call: the configuration cannot be used.
	Fault error

	// Disarms says how a change of settings would switch hooktrail off, or "".
	// Nil watches nothing.
	Disarms func(e *event.Event) string
}

// Judge implements Judge.
func (g *Guarded) Judge(ctx context.Context, e *event.Event, report Report) Judgement {
	j := Judgement{Callback: gate.Result{HookName: "hooktrail", OnFailure: gate.OnFailureBlock}}
	switch {
	case e.Name == event.PreToolUse && (g.Fault != nil || g.Guard == nil):
		why := "there is no guard"
		if g.Fault != nil {
			why = g.Fault.Error()
		}
		j.Verdict = answer.Verdict{Decision: answer.Deny, Code: reason.ConfigInvalid,
			Message: "hooktrail's configuration cannot be used: " + why + ". Every call is stopped until it is mended; nothing was changed."}
	case e.Name == event.PreToolUse:
		j.judge(ctx, g.Guard, e, report)
	case e.Name == event.ConfigChange && g.Disarms != nil:
		j.Verdict = answer.Verdict{Decision: answer.NoDecision, Code: reason.Observed}
		if how := g.Disarms(e); how != "" {
			j.Stops = true // also when the log cannot be written
			j.Verdict = answer.Verdict{Decision: answer.Deny, Code: reason.SettingsDisarm,
				Message: "The new settings would switch hooktrail off: " + how + ". They were not taken over."}
		}
	default:
		j.Verdict = answer.Verdict{Decision: answer.NoDecision, Code: reason.Observed}
	}
	return j
}

func (j *Judgement) judge(ctx context.Context, g *guard.Guard, e *event.Event, report Report) {
	var input []byte
	if g.Reads(e.Tool) {
		var err error
		if input, err = e.InputJSON(); err != nil {
			j.deny(err)
			return
		}
	}
	v := g.Judge(ctx, guard.Call{
		Tool: e.Tool, ToolUseID: e.ToolUseID, SessionID: e.SessionID, PermissionMode: e.PermissionMode,
		Input: input, Report: report,
	})
	j.Verdict, j.Target, j.Checkpoints = v.Verdict, v.Target, v.Checkpoints
}

func (j *Judgement) deny(err error) {
	j.Verdict = answer.Verdict{Decision: answer.Deny, Code: reason.SchemaInvalid, Message: "The tool input cannot be read: " + err.Error() + "."}
}
