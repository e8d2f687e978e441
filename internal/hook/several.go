package hook

import (
	"slices"
	"strings"

	"hooktrail/internal/answer"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
)

// rank orders decisions, the strictest first. An allow comes before no decision,
// as it does on the host when several hooks answer.
var rank = map[answer.Decision]int{answer.Deny: 0, answer.Ask: 1, answer.Defer: 2, answer.Allow: 3, answer.NoDecision: 4}

// strictest makes one judgement of several: the strictest, with the others
// beside it and what they add to it. Of equals, the first counts.
func strictest(name string, all []Judgement) Judgement {
	oneRewrite(all)
	best := 0
	for i := range all {
		if rank[after(all[i])] < rank[after(all[best])] {
			best = i
		}
	}
	j := all[best]
	if len(all) == 1 {
		return j
	}
	j.Others = slices.Delete(slices.Clone(all), best, best+1)
	if after(j) == answer.Deny {
		for _, a := range all {
			j.Interrupt = j.Interrupt || a.Interrupt // it makes a denial stricter
		}
		return j
	}
	var context, notes []string
	for _, a := range all {
		if after(a) != a.Decision {
			continue // it failed open, and counts for nothing
		}
		context = appendText(context, a.Context)
		notes = appendText(notes, a.SystemMessage)
		if j.UpdatedInput == nil {
			j.UpdatedInput = a.UpdatedInput
		}
		if j.Reply == nil {
			j.Reply = a.Reply
		}
	}
	j.Context, j.SystemMessage = strings.Join(context, "\n"), strings.Join(notes, "\n")
	if name != event.PreToolUse && name != event.PermissionRequest && len(context) > 1 {
		j.Reply = &answer.Reply{Stdout: answer.Context(name, j.Context)}
	}
	return j
}

// after is the decision that is left when the gate has spoken.
func after(j Judgement) answer.Decision {
	c := &call{admitted: true, judgement: j}
	settle(c)
	return c.verdict.Decision
}

// oneRewrite takes away all rewrites of the input but the first: only one can
// be carried out, and its hook has not seen the other's. The later hook's answer
// is then unusable.
func oneRewrite(all []Judgement) {
	var first []byte
	for i := range all {
		switch u := all[i].UpdatedInput; {
		case u == nil:
		case first == nil:
			first = u
		case string(first) != string(u):
			all[i].UpdatedInput = nil
			if all[i].Callback.OnFailure == gate.OnFailureContinue && (all[i].Decision == answer.Ask || all[i].Decision == answer.Defer) {
				continue // a fault would fail open, and lose the question
			}
			all[i].AnswerFault = "another hook of the same entry has rewritten the input differently"
			all[i].Message = "Two hooks have rewritten the input of this call differently, and only one rewrite can be carried out."
		}
	}
}

func appendText(all []string, s string) []string {
	if s == "" {
		return all
	}
	return append(all, s)
}
