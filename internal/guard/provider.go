package guard

import (
	"context"
	"time"

	"hooktrail/internal/reason"
)

// A Provider makes the way back before a change: a snapshot, a tagged point in
// a journal. The guard asks it only for mutating calls on named machines.
//
// A Provider must not report a checkpoint as Confirmed unless it has seen it
// where a restore would find it; an accepted request is no proof. It must
// return before ctx ends. Several goroutines and several processes may call
// providers of one installation at once.
type Provider interface {
	// Name is the provider's name in events, such as "zerto".
	Name() string

	// Protect sees to it that every machine of the request has a confirmed
	// checkpoint that lies before the change. Only an Outcome with code
	// reason.GuardCheckpointConfirmed lets the call through.
	Protect(ctx context.Context, r Request) Outcome
}

// A Request names what is about to change.
type Request struct {
	Tool      string
	ToolUseID string
	SessionID string
	Input     []byte // the tool input as it was sent, one JSON object
	VMs       []VM   // never empty

	// Report is called for each step that is worth an event of kind
	// "checkpoint": requested, confirmed, failed, late. It may be nil, may be
	// called from several goroutines, and returns once the event is on disk. A
	// provider must not report "requested" after the fact only: it is the trace
	// that a killed process leaves.
	Report func(action string, c Checkpoint, message string) error
}

// A Kind says what sort of name a VM goes by.
type Kind string

// The kinds of VM references. The empty kind means Name.
const (
	Name     Kind = "name"     // the name that the provider shows
	ID       Kind = "id"       // the provider's full identifier
	Moref    Kind = "moref"    // vSphere's managed object reference, such as vm-38
	Instance Kind = "instance" // a cloud's instance id
	UUID     Kind = "uuid"
)

// A VM is a machine as the call's arguments name it.
type VM struct {
	Ref  string
	Kind Kind
	Site string // a hint of the site or vCenter; may be empty
}

// A Checkpoint is one point to go back to, or the attempt to make one.
type Checkpoint struct {
	Provider string
	VM       string
	VPG      string // the group that the point covers; empty if the provider has none
	Site     string
	Platform string // vsphere, azure, aws, hyperv, unknown
	Tag      string
	ID       string
	Time     time.Time     // when the journal took it, by the provider's clock
	State    string        // requested, confirmed, failed, late
	Cadence  time.Duration // expected time between automatic checkpoints; zero if not known
	Waited   time.Duration
}

// An Outcome is what became of a Request. The zero value stands for nothing and
// denies.
type Outcome struct {
	// Code is one of the guard_… codes, or AuditUnavailable when a step could not
	// be recorded. The guard turns it into the verdict: GuardCheckpointConfirmed
	// lets the call through, GuardVMUnknown, GuardVMUnprotected, GuardVMAmbiguous
	// and GuardVMMissing ask, everything else denies.
	Code reason.Code

	// Message says in one or two sentences what happened, what is safe and what
	// to do next. It is shown to the model and to people.
	Message string

	// Context is for the model when the call goes through: VM, group, site, tag,
	// checkpoint id and time of each confirmed checkpoint, which are not
	// confirmed, and how to go back.
	Context string

	// Checkpoints of the call, the confirmed ones first.
	Checkpoints []Checkpoint

	// RetryAfter is how long to wait before trying again makes sense; zero if
	// trying again does not help.
	RetryAfter time.Duration
}
