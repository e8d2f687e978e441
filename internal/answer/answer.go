// Package answer writes the answers that a hook gives to its host. (Reading the
// answers that other people's hooks give is in this package too.)
//
// What the host makes of an answer was measured on Claude Code 2.1.328; see
// docs/design.md. Two things surely stop a call there: exit status 2, and a
// valid deny in JSON. A deny of ours is both.
package answer

import (
	"hooktrail/internal/reason"
)

// A Decision is what the host is told. The zero value denies, so that a verdict
// somebody forgot to fill in blocks.
type Decision int

// The decisions, the strictest first.
const (
	Deny Decision = iota
	Ask
	Defer
	NoDecision
	Allow // only ever passed on from a wrapped hook; hooktrail itself never widens
)

// A Verdict is a decision with its reasons, as the flow carries it to the
// answer.
type Verdict struct {
	Decision Decision
	Code     reason.Code
	Message  string // for the model, the user and the event
	Context  string // additionalContext for the model; empty for none

	// UpdatedInput replaces the tool's input. It comes only from wrapped hooks.
	// Nil for none.
	UpdatedInput []byte

	// What wrapped hooks may say beside their decision: that the turn is to end
	// ("continue": false) and why, that it is to be interrupted, and a word for
	// the user only.
	Stop          bool
	Interrupt     bool // of a denied PermissionRequest
	StopReason    string
	SystemMessage string
}
