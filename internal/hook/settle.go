package hook

import (
	"cmp"
	"fmt"
	"strings"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/reason"
)

// settle runs the judge's own fate through hook_failure_gate and fixes the
// verdict and the branch.
func settle(c *call) {
	j := &c.judgement
	c.verdict = j.Verdict
	if !c.admitted {
		c.gate = gate.Schema
		return
	}
	o := gate.Decide(j.Callback)
	c.gate = o.Branch
	failed := j.Callback.ExitCode != 0 || j.Callback.TimedOut
	switch {
	case o.Branch == gate.Schema:
		c.verdict.Decision, c.verdict.Code = answer.Deny, reason.SchemaInvalid
		c.verdict.Message = cmp.Or(c.verdict.Message, fmt.Sprintf("The hook's result has a wrong shape (%s). %s", o.Violations[0], upshot(c.event.Name, j.Stops)))
	case j.AnswerFault != "" && o.Branch == gate.NotBlockMode:
		c.verdict = answer.Verdict{Decision: answer.NoDecision, Code: reason.HookFailedOpen, Message: c.verdict.Message}
	case j.AnswerFault != "" && !failed:
		c.gate = gate.Schema
		c.verdict.Decision, c.verdict.Code = answer.Deny, reason.HookAnswerInvalid
	case o.Branch == gate.Block || o.Branch == gate.TimeoutBlock:
		c.verdict.Decision, c.verdict.Code = answer.Deny, reason.HookCallbackFailed
	case o.Branch == gate.NotBlockMode && failed && (c.verdict.Decision == answer.NoDecision || c.verdict.Decision == answer.Allow):
		c.verdict = answer.Verdict{Decision: answer.NoDecision, Code: reason.HookFailedOpen, Message: c.verdict.Message}
	}
}

// decision is the audit event's word for a verdict on an event.
func decision(name string, v answer.Verdict, stops bool) reason.Decision {
	if v.Code == reason.Observed {
		return reason.None
	}
	switch v.Decision {
	case answer.Deny:
		if !stops && !holdsBack(name) {
			return reason.None
		}
		return reason.Blocked
	case answer.Ask:
		return reason.Asked
	case answer.Defer:
		return reason.Deferred
	case answer.NoDecision, answer.Allow:
		return reason.Allowed
	}
	return reason.Blocked
}

// holdsBack tells whether a deny stops something at an event. On those that only
// report what has happened, nothing can be stopped, and the blocking status would
// do harm: it ends the turn on PostToolBatch and forces it on at Stop.
func holdsBack(name string) bool {
	return name == event.PreToolUse || name == event.PermissionRequest || !event.IsKnown(name)
}

// upshot says what a failure of ours comes to at an event.
func upshot(name string, stops bool) string {
	if stops || holdsBack(name) {
		return "The call was stopped before anything was changed."
	}
	return "Nothing was held back by it: at this event nothing can be."
}

// encode writes the answer.
func encode(c *call) answer.Reply {
	r := reply(c)
	r.MayBeLost = !holdsBack(c.event.Name) && !stops(c.event.Name)
	return r
}

func reply(c *call) answer.Reply {
	v := c.verdict
	v.Message, v.Context = shown(v.Message), cleaned(v.Context)
	if v.Decision == answer.Deny || v.Decision == answer.Ask {
		v.Message = audit.Text(v.Message, answer.MaxReason-80) + " [hooktrail event " + c.id + "]"
	}
	name := c.event.Name
	j := &c.judgement
	switch {
	case j.Reply != nil && j.AnswerFault == "" && c.recorded && v.Code == j.Code && v.Decision == j.Decision:
		return *j.Reply
	case v.Decision == answer.Deny && j.Stops:
		return answer.Stop(v)
	case v.Decision == answer.Deny && !event.IsKnown(name):
		return answer.Encode("", v)
	default:
		return answer.Encode(name, v)
	}
}

// cleaned makes a text fit for the host and the log. Its line breaks and tabs
// stay: hosts show a reason as it is laid out, and a context may be code.
func cleaned(s string) string {
	return eachPart(audit.Redact(s), "\n", func(l string) string { return eachPart(l, "\t", audit.Printable) })
}

// shown makes a text fit for a terminal too: of what controls one, only line
// breaks stay.
func shown(s string) string { return eachPart(audit.Redact(s), "\n", audit.Printable) }

func eachPart(s, sep string, f func(string) string) string {
	parts := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), sep)
	for i, p := range parts {
		parts[i] = f(p)
	}
	return strings.Join(parts, sep)
}
