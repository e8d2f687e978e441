// Package reason holds the stable words of an audit event: the reason codes,
// the layer that each belongs to, and the decisions. They are an interface to
// the outside (answers, events, alerts): they are only ever added, never
// renamed and never reused. The package imports nothing of ours.
package reason

import "fmt"

// A Code names, for machines, why a decision was taken. Each code belongs to
// exactly one layer. A Code is also an error, so that
// errors.Is(err, reason.GuardLookupFailed) can be asked.
type Code string

// Error makes a Code usable as the target of errors.Is.
func (c Code) Error() string { return string(c) }

// The codes, in the order of the flow.
const (
	SchemaInvalid     Code = "schema_invalid"
	HookAnswerInvalid Code = "hook_answer_invalid"

	HookCallbackFailed Code = "hook_callback_failed"
	HookFailedOpen     Code = "hook_failed_open"

	HookOK      Code = "hook_ok"
	HookDenied  Code = "hook_denied"
	HookAsked   Code = "hook_asked"
	HookAllowed Code = "hook_allowed"

	// HookDeniedPlain is for the records of the host alone: it writes "no" in
	// plain words, after exit 2 or by a prompt hook, unlike a deny in JSON.
	HookDeniedPlain Code = "hook_denied_plain"

	GuardUnguarded             Code = "guard_unguarded"
	GuardReadOnly              Code = "guard_read_only"
	GuardCheckpointConfirmed   Code = "guard_checkpoint_confirmed"
	GuardCheckpointFailed      Code = "guard_checkpoint_failed"
	GuardCheckpointUnconfirmed Code = "guard_checkpoint_unconfirmed"
	GuardLookupFailed          Code = "guard_lookup_failed"
	GuardVMUnknown             Code = "guard_vm_unknown"
	GuardVMUnprotected         Code = "guard_vm_unprotected"
	GuardVMAmbiguous           Code = "guard_vm_ambiguous"
	GuardVMMissing             Code = "guard_vm_missing"
	GuardToolUnlisted          Code = "guard_tool_unlisted"
	GuardRuleDenied            Code = "guard_rule_denied"
	GuardUnattended            Code = "guard_unattended"
	ConfigInvalid              Code = "config_invalid"
	SettingsDisarm             Code = "settings_disarm"

	PermissionRule       Code = "permission_rule"
	PermissionMode       Code = "permission_mode"
	PermissionClassifier Code = "permission_classifier"
	PermissionUser       Code = "permission_user"
	PermissionHook       Code = "permission_hook"
	PermissionUnattended Code = "permission_unattended"

	PermissionUnattendedRule Code = "permission_unattended_rule"
	PermissionUnattendedHook Code = "permission_unattended_hook"

	PermissionAllowed Code = "permission_allowed"

	AuditUnavailable Code = "audit_unavailable"

	Observed Code = "observed"
)

// A Layer says who decided.
type Layer string

// The layers. LayerNone goes with events that ask for no decision.
const (
	LayerSchema     Layer = "schema"
	LayerFailure    Layer = "failure"
	LayerGuard      Layer = "guard"
	LayerHook       Layer = "hook"
	LayerPermission Layer = "permission"
	LayerAudit      Layer = "audit"
	LayerNone       Layer = "none"
)

// A Decision is what became of a call, as far as the deciding layer goes.
type Decision string

// The decisions. Denied is the permission layer's word; Blocked is that of all
// others. Allowed means "not held back by this layer". None goes with events
// that ask for no decision.
const (
	Allowed  Decision = "allowed"
	Blocked  Decision = "blocked"
	Asked    Decision = "asked"
	Deferred Decision = "deferred"
	Denied   Decision = "denied"
	None     Decision = "none"
)

var layers = map[Code]Layer{
	SchemaInvalid:     LayerSchema,
	HookAnswerInvalid: LayerSchema,

	HookCallbackFailed: LayerFailure,
	HookFailedOpen:     LayerFailure,

	HookOK:          LayerHook,
	HookDenied:      LayerHook,
	HookDeniedPlain: LayerHook,
	HookAsked:       LayerHook,
	HookAllowed:     LayerHook,

	GuardUnguarded:             LayerGuard,
	GuardReadOnly:              LayerGuard,
	GuardCheckpointConfirmed:   LayerGuard,
	GuardCheckpointFailed:      LayerGuard,
	GuardCheckpointUnconfirmed: LayerGuard,
	GuardLookupFailed:          LayerGuard,
	GuardVMUnknown:             LayerGuard,
	GuardVMUnprotected:         LayerGuard,
	GuardVMAmbiguous:           LayerGuard,
	GuardVMMissing:             LayerGuard,
	GuardToolUnlisted:          LayerGuard,
	GuardRuleDenied:            LayerGuard,
	GuardUnattended:            LayerGuard,
	ConfigInvalid:              LayerGuard,
	SettingsDisarm:             LayerGuard,

	PermissionRule:       LayerPermission,
	PermissionMode:       LayerPermission,
	PermissionClassifier: LayerPermission,
	PermissionUser:       LayerPermission,
	PermissionHook:       LayerPermission,
	PermissionUnattended: LayerPermission,

	PermissionUnattendedRule: LayerPermission,
	PermissionUnattendedHook: LayerPermission,

	PermissionAllowed: LayerPermission,

	AuditUnavailable: LayerAudit,

	Observed: LayerNone,
}

// Layer returns the one layer of c, or LayerAudit for a word that is no code:
// an event with an unknown reason is a fault of the audit itself.
func (c Code) Layer() Layer {
	if l, ok := layers[c]; ok {
		return l
	}
	return LayerAudit
}

// Codes returns every code with its layer. The caller may change the map.
func Codes() map[Code]Layer {
	m := make(map[Code]Layer, len(layers))
	for c, l := range layers {
		m[c] = l
	}
	return m
}

// An Error is an error with a code.
type Error struct {
	Code Code   // for machines
	Op   string // what was being done, such as "open audit log"
	Err  error  // the cause; may be nil
}

// Wrap returns err with a code and the operation that failed.
func Wrap(code Code, op string, err error) error {
	return &Error{Code: code, Op: op, Err: err}
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Op
	}
	return fmt.Sprintf("%s: %v", e.Op, e.Err)
}

// Unwrap lets errors.Is match both the code and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Err}
}
