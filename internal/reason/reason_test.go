package reason

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCodesNeverChange spells every code and its layer out. A failing line here
// means that somebody's alert has just gone silent: add, never change.
func TestCodesNeverChange(t *testing.T) {
	want := map[Code]Layer{
		"schema_invalid":               "schema",
		"hook_answer_invalid":          "schema",
		"hook_callback_failed":         "failure",
		"hook_failed_open":             "failure",
		"hook_ok":                      "hook",
		"hook_denied":                  "hook",
		"hook_denied_plain":            "hook",
		"hook_asked":                   "hook",
		"hook_allowed":                 "hook",
		"guard_unguarded":              "guard",
		"guard_read_only":              "guard",
		"guard_checkpoint_confirmed":   "guard",
		"guard_checkpoint_failed":      "guard",
		"guard_checkpoint_unconfirmed": "guard",
		"guard_lookup_failed":          "guard",
		"guard_vm_unknown":             "guard",
		"guard_vm_unprotected":         "guard",
		"guard_vm_ambiguous":           "guard",
		"guard_vm_missing":             "guard",
		"guard_tool_unlisted":          "guard",
		"guard_rule_denied":            "guard",
		"guard_unattended":             "guard",
		"config_invalid":               "guard",
		"settings_disarm":              "guard",
		"permission_rule":              "permission",
		"permission_mode":              "permission",
		"permission_classifier":        "permission",
		"permission_user":              "permission",
		"permission_hook":              "permission",
		"permission_unattended":        "permission",
		"permission_unattended_rule":   "permission",
		"permission_unattended_hook":   "permission",
		"permission_allowed":           "permission",
		"audit_unavailable":            "audit",
		"observed":                     "none",
	}
	require.Equal(t, want, Codes())
}

func TestAnUnknownCodeIsAFaultOfTheAudit(t *testing.T) {
	require.Equal(t, LayerAudit, Code("no_such_code").Layer())
}

func TestErrorMatchesItsCodeAndItsCause(t *testing.T) {
	err := Wrap(AuditUnavailable, "open audit log", fs.ErrPermission)
	require.ErrorIs(t, err, AuditUnavailable)
	require.ErrorIs(t, err, fs.ErrPermission)
	require.EqualError(t, err, "open audit log: permission denied")
	var e *Error
	require.True(t, errors.As(err, &e))
	require.EqualError(t, Wrap(ConfigInvalid, "no rules", nil), "no rules")
}
