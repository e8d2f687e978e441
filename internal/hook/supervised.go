package hook

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/reason"
	"hooktrail/internal/supervise"
)

// Supervised is the judge of "hooktrail run": it asks other people's hooks.
type Supervised struct {
	// Hooks are asked at the same time. The strictest answer counts.
	Hooks []Wrapped

	// Deadline is when all of them must have ended.
	Deadline time.Time

	// Interrupt is closed when the host gives up. The hooks are then ended in
	// haste, so that the event can still be written. Nil means never.
	Interrupt <-chan struct{}

	// Fault, if it is set, denies every call: the command line or the
	// configuration cannot be used, and no hook is asked.
	Fault error

	// MayAsk lets an ask stand in modes in which nobody is asked. The default
	// makes it a deny there.
	MayAsk bool

	Env []string         // of the hooks; nil means our own
	Now func() time.Time // must not be nil
}

// A Wrapped is one hook of somebody else's.
type Wrapped struct {
	Name      string
	Command   []string
	OnFailure string // gate.OnFailureBlock or gate.OnFailureContinue; anything else is a shape fault
	// Deadline is the hook's own; zero means that of all.
	Deadline time.Time
}

// Judge implements Judge. Its result is that of the strictest hook; those of the
// others are in Others.
func (s *Supervised) Judge(ctx context.Context, e *event.Event, _ Report) Judgement {
	if s.Fault != nil || len(s.Hooks) == 0 {
		return s.unusable(e)
	}
	// The deadline is ours to keep, whatever becomes of ctx: the child must not
	// outlive us, and its end is awaited.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if s.Interrupt != nil {
		go func() {
			select {
			case <-s.Interrupt:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	all := make([]Judgement, len(s.Hooks))
	var wg sync.WaitGroup
	for i, w := range s.Hooks {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					all[i] = broke(w, e, p)
				}
			}()
			all[i] = s.ask(ctx, w, e)
		})
	}
	wg.Wait()
	return strictest(e.Name, all)
}

// unusable is the judgement when no hook can be asked.
func (s *Supervised) unusable(e *event.Event) Judgement {
	why := "no hook is named"
	if s.Fault != nil {
		why = s.Fault.Error()
	}
	return Judgement{
		Callback: gate.Result{HookName: "hooktrail run", OnFailure: gate.OnFailureBlock},
		Stops:    stops(e.Name),
		Verdict: answer.Verdict{Decision: answer.Deny, Code: reason.ConfigInvalid,
			Message: "hooktrail run cannot ask the hook: " + why + ". " + upshot(e.Name, stops(e.Name)) + " Mend the hook's entry."},
	}
}

// broke is the judgement when asking a hook has panicked: a failure of block
// mode, whatever the hook's own mode is, since the fault is ours.
func broke(w Wrapped, e *event.Event, p any) Judgement {
	return Judgement{
		Callback: gate.Result{HookName: w.Name, OnFailure: effective(e.Name, gate.OnFailureBlock), ExitCode: 2},
		Stops:    stops(e.Name),
		Verdict: answer.Verdict{Decision: answer.Deny, Code: reason.HookCallbackFailed,
			Message: fmt.Sprintf("hooktrail run failed: %v. %s", p, upshot(e.Name, stops(e.Name)))},
	}
}

// ask runs one hook and reads what it said.
func (s *Supervised) ask(ctx context.Context, w Wrapped, e *event.Event) Judgement {
	j := Judgement{
		Callback: gate.Result{HookName: w.Name, OnFailure: effective(e.Name, w.OnFailure)},
		Stops:    stops(e.Name),
	}
	if w.Name == "" || (w.OnFailure != gate.OnFailureBlock && w.OnFailure != gate.OnFailureContinue) {
		j.Message = fmt.Sprintf("The hook's entry cannot be used: onFailure is %q and must be block or continue, and the hook must have a name. %s Mend the entry.", w.OnFailure, upshot(e.Name, j.Stops))
		return j // the gate takes it for the shape fault that it is
	}
	deadline := s.Deadline
	if !w.Deadline.IsZero() && w.Deadline.Before(deadline) {
		deadline = w.Deadline
	}
	start := s.Now()
	r := supervise.Run(ctx, supervise.Spec{Command: w.Command, Stdin: e.Raw, Env: s.Env, Deadline: deadline, MaxOutput: room(len(e.Raw)), Now: s.Now})
	// Far more than is shown, so that a secret cut in half here is not among it.
	r.Stderr.Head = r.Stderr.Head[:min(len(r.Stderr.Head), maxStderr)]
	j.Took = max(r.Duration, time.Millisecond)
	j.Callback.ExitCode, j.Callback.TimedOut = r.ExitCode, r.TimedOut

	failed := r.ExitCode != 0 || r.TimedOut
	said := answer.Parse(answer.Child{
		Event: e.Name, ExitCode: r.ExitCode, Failed: failed,
		Stdout: r.Stdout.Head, Tail: r.Stdout.Tail, Dropped: r.Stdout.Dropped, Brace: r.Stdout.Brace,
		Stderr: r.Stderr.Head, Clean: cleaned,
	})
	if failed && loops(e.Name) {
		// There a refusal forces the agent on, or ends its turn, and comes again
		// and again: only a hook that works may do that.
		said = answer.Said{Verdict: answer.Verdict{Decision: answer.NoDecision, Code: reason.HookOK}}
	}
	j.Verdict, j.AnswerFault = said.Verdict, said.Fault
	j.Message = account(w, r, said, deadline.Sub(start))
	s.unattended(e, &j)
	j.Reply = ownWords(e.Name, said, failed)
	if j.Reply != nil && said.Text != "" && e.Name != "WorktreeCreate" {
		j.Context = strings.TrimSpace(said.Text)
	}
	return j
}

// room is how much of a hook's output is kept for an event of n bytes: enough
// for one that gives the event back, as many do, within bounds.
func room(n int) int { return min(max(maxAnswer, n+n/8), 16<<20) }

// unattended turns an ask into a deny where nobody is asked.
func (s *Supervised) unattended(e *event.Event, j *Judgement) {
	if j.Decision != answer.Ask || s.MayAsk || (e.PermissionMode != "dontAsk" && e.PermissionMode != "auto") {
		return
	}
	j.Decision = answer.Deny
	j.Message += fmt.Sprintf(" (The hook asks for a person, and in the mode %q nobody is asked.)", e.PermissionMode)
}

// ownWords is the answer at events without a permission decision of the host's
// usual form: there the hook's own answer goes on, written afresh.
func ownWords(name string, said answer.Said, failed bool) *answer.Reply {
	switch {
	case name == event.PreToolUse || said.Fault != "":
		return nil
	case said.Decision == answer.Deny && said.Object == nil && name != event.PermissionRequest:
		v := said.Verdict // of the hook's own status 2
		v.Message = shown(v.Message)
		r := answer.Stop(v)
		return &r
	case said.Object != nil && (!failed || said.Decision == answer.Deny):
		return &answer.Reply{Stdout: said.Object}
	case said.Text != "" && !failed:
		if out := answer.Context(name, said.Text); out != nil {
			return &answer.Reply{Stdout: out}
		}
	}
	return nil
}

// maxAnswer bounds what is kept of each output of a hook, in bytes. Hosts do not
// cut an answer, so a denial with megabytes of reason must still be one.
const maxAnswer = 8 << 20

// maxSaid bounds what a message takes over of a hook's standard error, in
// characters, and maxStderr what is looked at for that, in bytes.
const (
	maxSaid   = 1500
	maxStderr = 64 << 10
)

// account says what became of a hook.
func account(w Wrapped, r supervise.Result, said answer.Said, limit time.Duration) string {
	name := w.Name
	failed := r.ExitCode != 0 || r.TimedOut
	words := said.Message
	if words == "" || said.Decision == answer.NoDecision {
		words = strings.TrimSpace(strings.ToValidUTF8(string(r.Stderr.Head), "\uFFFD"))
	}
	words = audit.Text(words, maxSaid)
	var what string
	switch {
	case said.Fault != "" && !failed:
		what = fmt.Sprintf("The hook %q gave an unusable answer: %s. A hook prints one JSON object and nothing else, or no JSON.", name, said.Fault)
	case !failed:
		return words
	case said.Decision == answer.Deny && w.OnFailure == gate.OnFailureContinue:
		return words // its refusal counts, not its failure
	case !r.Started && !r.TimedOut:
		what, words = fmt.Sprintf("The hook %q could not be started (%d): %s.", name, r.ExitCode, r.StartError), ""
	case !r.Started && !r.Cancelled:
		what = fmt.Sprintf("The hook %q was not started: its time was over before.", name)
	case r.Cancelled:
		what = fmt.Sprintf("The hook %q was ended before it had decided, because the host gave up.", name)
	case r.TimedOut:
		what = fmt.Sprintf("The hook %q did not end within %v.", name, rounded(limit))
	case r.Signal != "":
		what = fmt.Sprintf("The hook %q died of a signal (%s, %d).", name, r.Signal, r.ExitCode)
	case r.ExitCode == 2:
		what = fmt.Sprintf("The hook %q blocked this (exit status 2).", name)
	default:
		what = fmt.Sprintf("The hook %q failed (exit status %d).", name, r.ExitCode)
	}
	if words != "" {
		what += " It said: " + words
	}
	return what
}

// rounded is a time limit as it was set: what the reading of the event took is
// gone from it.
func rounded(d time.Duration) time.Duration {
	if d > 500*time.Millisecond {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// loops tells whether a refusal at an event makes the agent go on, or ends its
// turn.
func loops(name string) bool {
	switch name {
	case "Stop", "SubagentStop", "TaskCompleted", "TeammateIdle", "PostToolBatch":
		return true
	}
	return false
}

// stops tells whether the blocking status holds something back at an event that
// takes no permission decision.
func stops(name string) bool {
	switch name {
	case "UserPromptSubmit", "UserPromptExpansion", "PreModelSwitch", event.ConfigChange,
		"Elicitation", "ElicitationResult", "TaskCreated", "PreCompact":
		return true
	}
	return false
}

// effective is the mode that a hook has at an event: where nothing can be held
// back, block mode means nothing, and where a block would loop, it does harm.
func effective(name, mode string) string {
	if mode == gate.OnFailureBlock && !holdsBack(name) && !stops(name) {
		return gate.OnFailureContinue
	}
	return mode
}
