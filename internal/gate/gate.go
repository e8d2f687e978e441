// Package gate is hook_failure_gate: it says what the failure of a hook
// callback means, in five branches that are never merged.
//
// The order is fixed: a shape fault comes before everything, the mode before
// the timeout, and the timeout before the exit status. The branch says whether
// the callback failed; what a working hook decided is not the gate's business.
// The package is pure: the same result gives the same branch.
package gate

import (
	"encoding/json" //nolint:depguard // only its Number type, as package event decodes it
	"math/big"

	"hooktrail/internal/event"
	"hooktrail/internal/reason"
	"hooktrail/internal/schema"
)

// A Branch is what the gate says. The zero value is no branch; it blocks like
// Schema.
type Branch string

// The branches.
const (
	Schema       Branch = "schema"
	NotBlockMode Branch = "not_block_mode"
	TimeoutBlock Branch = "timeout_block"
	Allow        Branch = "allow"
	Block        Branch = "block"
)

// The modes of a hook entry. Any other word is a shape fault.
const (
	OnFailureBlock    = "block"
	OnFailureContinue = "continue"
)

// A Result is what is known of a callback after it has ended.
type Result struct {
	HookName  string // not empty
	OnFailure string // OnFailureBlock or OnFailureContinue
	ExitCode  int64  // as it was: 2, 1, 126, 127, 128+signal
	TimedOut  bool
}

// An Outcome is a branch and what it stands for in an audit event.
type Outcome struct {
	Branch   Branch
	Decision reason.Decision
	Reason   reason.Code
	Result   Result // zero where the shape is at fault

	// Violations say why the branch is Schema.
	Violations []schema.Violation
}

// Decide classifies a result. A result without a name or with an unknown mode
// is of branch Schema.
func Decide(r Result) Outcome {
	switch {
	case r.HookName == "":
		return fault(schema.Violation{Path: "/hookName", Message: "the hook has no name"})
	case r.OnFailure != OnFailureBlock && r.OnFailure != OnFailureContinue:
		return fault(schema.Violation{Path: "/onFailure", Message: `value must be "block" or "continue"`})
	case r.OnFailure != OnFailureBlock && r.ExitCode == 0 && !r.TimedOut:
		return Outcome{Branch: NotBlockMode, Decision: reason.Allowed, Reason: reason.HookOK, Result: r}
	case r.OnFailure != OnFailureBlock:
		return Outcome{Branch: NotBlockMode, Decision: reason.Allowed, Reason: reason.HookFailedOpen, Result: r}
	case r.TimedOut:
		return Outcome{Branch: TimeoutBlock, Decision: reason.Blocked, Reason: reason.HookCallbackFailed, Result: r}
	case r.ExitCode == 0:
		return Outcome{Branch: Allow, Decision: reason.Allowed, Reason: reason.HookOK, Result: r}
	default:
		return Outcome{Branch: Block, Decision: reason.Blocked, Reason: reason.HookCallbackFailed, Result: r}
	}
}

// Classify reads one callback result and classifies it.
func Classify(doc []byte) Outcome {
	v, err := event.Decode(doc, 8)
	if err != nil {
		return fault(schema.Violation{Message: err.Error()})
	}
	if bad := schema.Validate("callback-result", v); len(bad) > 0 {
		return fault(bad...)
	}
	m, _ := v.(map[string]any)
	var r Result
	r.HookName, _ = m["hookName"].(string)
	r.OnFailure, _ = m["onFailure"].(string)
	r.TimedOut, _ = m["timedOut"].(bool)
	n, _ := m["exitCode"].(json.Number)
	code, ok := integer(string(n))
	if !ok {
		return fault(schema.Violation{Path: "/exitCode", Message: "the exit code does not fit 64 bits"})
	}
	r.ExitCode = code
	return Decide(r)
}

// integer reads what JSON Schema calls an integer: 2, 2.0 and 2e0 are one.
func integer(s string) (int64, bool) {
	q, ok := new(big.Rat).SetString(s)
	if !ok || !q.IsInt() || !q.Num().IsInt64() {
		return 0, false
	}
	return q.Num().Int64(), true
}

func fault(v ...schema.Violation) Outcome {
	return Outcome{Branch: Schema, Decision: reason.Blocked, Reason: reason.SchemaInvalid, Violations: v}
}
