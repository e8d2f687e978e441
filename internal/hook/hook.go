// Package hook is the program's one path from an event to an answer:
//
//	stdin → event → schema → guard → gate → audit → answer
//
// Nothing is answered before its event is on disk, or the configured action for
// a failed audit was taken. The package decides nothing itself and prints
// nothing: a Judge decides (the guard, or a supervised hook of somebody else),
// the gate says what the judge's own failure means, and the reply says what the
// caller must write and how it must end.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/schema"
)

// A Recorder stores events. Record returns nil only once the events would
// survive the end of the process.
type Recorder interface {
	Record(ctx context.Context, events ...*audit.Event) error
	// Digest is the keyed hash of data, in hex; "" if there is no key.
	Digest(data []byte) string
}

// A Judge decides on an admitted event before ctx ends.
type Judge interface {
	Judge(ctx context.Context, e *event.Event, report Report) Judgement
}

// A Report records a step of a checkpoint; see guard.Request.
type Report func(action string, c guard.Checkpoint, message string) error

// A Judgement is what a judge found. Its zero value denies: the callback has no
// name, so the gate takes it for a shape fault.
type Judgement struct {
	answer.Verdict

	// Callback is how the judge itself fared: the guard's run is a callback like
	// anybody's hook.
	Callback gate.Result

	// AnswerFault says why the answer of a supervised hook cannot be used; empty
	// if it can.
	AnswerFault string

	// Reply, if it is set, is the answer in the words of a supervised hook. It
	// goes out only if neither the gate nor the audit has changed the verdict.
	Reply *answer.Reply

	Target      string
	Checkpoints []guard.Checkpoint

	// Stops says that the blocking status holds something back at this event,
	// although it takes no permission decision.
	Stops bool

	// Took is how long the callback ran. Zero means as long as the invocation.
	Took time.Duration

	// Others are the judgements of further hooks under the same entry. Each gets
	// an event of its own; the answer is this one's.
	Others []Judgement
}

// An Observer reads the host's records at an event. commit is called once what
// it returned is on disk.
type Observer interface {
	Observe(ctx context.Context, e *event.Event) (events []*audit.Event, commit func() error)
}

// Options configure a Hook. The zero value of every field but Log and Judge
// works.
type Options struct {
	Log   Recorder // must store the event before anything is answered
	Judge Judge

	// HookName is the judge's name in events that come about before it was
	// asked. Empty means "hooktrail".
	HookName string
	// OnFailure is the mode in such events. Empty means block.
	OnFailure string

	Observer Observer // nil observes nothing

	Limits event.Limits

	// JudgeTimeout bounds the judge; zero means guard.DefaultBudget.
	JudgeTimeout time.Duration
	// AuditTimeout bounds the recording; zero means 5 s.
	AuditTimeout time.Duration

	understandTimeout time.Duration

	// Continue lets a call run that could not be recorded. The default blocks.
	Continue bool

	ConfigSHA256 string

	// Now returns the current time with its monotonic reading. It must not be
	// nil.
	Now func() time.Time
}

// A Hook answers events. Several goroutines may use it at once.
type Hook struct{ o Options }

// New returns a Hook.
func New(o Options) *Hook {
	if o.HookName == "" {
		o.HookName = "hooktrail"
	}
	if o.OnFailure == "" {
		o.OnFailure = gate.OnFailureBlock
	}
	if o.JudgeTimeout <= 0 {
		o.JudgeTimeout = guard.DefaultBudget
	}
	if o.understandTimeout <= 0 {
		o.understandTimeout = understandTimeout
	}
	if o.AuditTimeout <= 0 {
		o.AuditTimeout = 5 * time.Second
	}
	return &Hook{o: o}
}

// Run reads one event from in, decides on it, records the decision, and returns
// the answer.
//
// It has no error result on purpose: every failure, a panic included, is an
// answer, so no caller can forget to fail closed. When ctx ends early, as by a
// signal of a host that gives up, the judge is cut short and the event is still
// recorded.
func (h *Hook) Run(ctx context.Context, in io.Reader) (reply answer.Reply) {
	c := &call{id: uuid.Must(uuid.NewV7()).String(), start: h.o.Now()}
	defer func() {
		if p := recover(); p != nil {
			reply = h.broken(ctx, c, p)
		}
	}()

	raw, err := event.Read(in, h.o.Limits) // stdin
	h.understand(ctx, c, raw, err)         // event, schema
	if c.admitted {
		h.judge(ctx, c) // guard
	}
	settle(c)                                // gate
	if err := h.record(ctx, c); err != nil { // audit
		h.unrecorded(c, err)
	}
	return encode(c) // answer
}

// A call is one invocation on its way through the flow.
type call struct {
	id        string
	start     time.Time
	event     event.Event
	admitted  bool
	spent     time.Duration // before the judge was asked, of its time
	faults    []audit.SchemaError
	judgement Judgement
	gate      gate.Branch
	verdict   answer.Verdict
	recorded  bool
}

// understandTimeout bounds the reading of an event's bytes and their look by the
// schema. A sound event of 64 MB takes two or three seconds; one that somebody has
// made to take longer is refused before the host loses its patience.
const understandTimeout = 15 * time.Second

// understand parses the event and asks the schema.
func (h *Hook) understand(ctx context.Context, c *call, raw []byte, err error) {
	start := h.o.Now()
	d := *c // the understanding may outlive this function
	_, ok := Within(ctx, h.o.understandTimeout, func() bool {
		if h.parse(&d, raw, err) { // event
			h.admit(&d) // schema
		}
		return true
	})
	if !ok {
		c.event = event.Event{Raw: raw}
		h.refuse(c, schema.Violation{Message: fmt.Sprintf("it was not understood within %v", h.o.understandTimeout)})
		return
	}
	*c = d
	c.spent = h.o.Now().Sub(start)
}

// parse takes the typed view, or notes why there is none.
func (h *Hook) parse(c *call, raw []byte, err error) bool {
	if err == nil {
		c.event, err = event.Parse(raw, h.o.Limits)
	} else {
		c.event = event.Event{Raw: raw}
	}
	if err != nil {
		h.refuse(c, fault(err))
		return false
	}
	return true
}

// admit asks the schema.
func (h *Hook) admit(c *call) {
	if bad := schema.Event(&c.event); len(bad) > 0 {
		h.refuse(c, bad...)
		return
	}
	c.admitted = true
}

// refuse makes the verdict on an event with a shape fault.
func (h *Hook) refuse(c *call, bad ...schema.Violation) {
	for _, v := range bad {
		c.faults = append(c.faults, audit.SchemaError{Path: v.Path, Message: v.Message})
	}
	c.judgement = Judgement{
		Callback: gate.Result{HookName: h.o.HookName, OnFailure: h.o.OnFailure},
		Verdict: answer.Verdict{Decision: answer.Deny, Code: reason.SchemaInvalid, Message: fmt.Sprintf(
			"hooktrail could not read the hook event, so it cannot tell what the call would do: %s. %s Check that this host and its version are supported.", told(bad[0]), upshot(c.event.Name, false))},
	}
}

// told is a violation as the model is told of it. Its path holds names of the
// input, which anybody may have written.
func told(v schema.Violation) string {
	if v.Path != "" {
		v.Path = guard.Shown(v.Path)
	}
	return v.String()
}

// judge asks the judge, and does not wait for one that is late: the clock
// decides, not the judge's return.
func (h *Hook) judge(ctx context.Context, c *call) {
	ctx, cancel := context.WithTimeout(ctx, h.o.JudgeTimeout-c.spent)
	defer cancel()
	done := make(chan Judgement, 1)
	e := c.event // the judge may outlive this function
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- h.failed(e.Name, 2, false, fmt.Sprintf("hooktrail failed on this call: %v.", p)) // 2 is how a Go program ends on a panic
			}
		}()
		done <- h.o.Judge.Judge(ctx, &e, h.report(&e))
	}()
	select {
	case c.judgement = <-done:
	case <-ctx.Done():
		grace, what := judgeGrace, fmt.Sprintf("hooktrail did not come to a decision within %v.", h.o.JudgeTimeout)
		if errors.Is(ctx.Err(), context.Canceled) {
			grace, what = givenUpGrace, "hooktrail was ended before it had decided, because the host gave up."
		}
		select {
		case c.judgement = <-done: // both were ready
		case <-time.After(grace):
			c.judgement = h.failed(e.Name, 0, true, what)
		}
	}
}

// judgeGrace is for a judge that ends because its time is over, givenUpGrace for
// one that ends because the host's patience is: a host that sent TERM sends KILL
// 1.5 s later, and the event must be written before.
const (
	judgeGrace   = 2 * time.Second
	givenUpGrace = 800 * time.Millisecond
)

// failed is the judgement when we have failed. A change of settings that could
// not be judged is not let through either: it may be what switches us off.
func (h *Hook) failed(name string, code int64, late bool, what string) Judgement {
	return Judgement{
		Stops:    name == event.ConfigChange,
		Callback: gate.Result{HookName: h.o.HookName, OnFailure: h.o.OnFailure, ExitCode: code, TimedOut: late},
		Verdict:  answer.Verdict{Decision: answer.Deny, Code: reason.HookCallbackFailed, Message: what + " " + upshot(name, name == event.ConfigChange)},
	}
}

// broken answers when the flow itself has panicked. The panic is recorded if
// that is still possible.
func (h *Hook) broken(ctx context.Context, c *call, p any) answer.Reply {
	c.judgement = h.failed(c.event.Name, 2, false, fmt.Sprintf("hooktrail failed: %v.", p))
	c.admitted = true
	settle(c)
	if !c.recorded {
		func() {
			defer func() { _ = recover() }() // the answer below blocks in any case
			_ = h.record(ctx, c)
		}()
	}
	return encode(c)
}

func fault(err error) schema.Violation {
	if f, ok := err.(*event.Fault); ok { //nolint:errorlint // Parse returns the fault itself
		return schema.Violation{Path: f.Path, Message: f.Message}
	}
	return schema.Violation{Message: err.Error()}
}
