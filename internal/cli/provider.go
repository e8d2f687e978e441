package cli

import (
	"fmt"

	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/snapshot"
)

// newProvider returns the checkpoint provider that the settings name, or nil.
func newProvider(s *Stdio, set *settings) (guard.Provider, error) {
	which := set.Guard.Provider
	if which == "" {
		switch {
		case set.Zerto != nil && set.Exec != nil:
			return nil, reason.Wrap(reason.ConfigInvalid, "both zerto and exec are configured; guard.provider must name one", nil)
		case set.Zerto != nil:
			which = "zerto"
		case set.Exec != nil:
			which = "exec"
		}
	}
	switch {
	case which == "" || which == "none":
		return nil, nil
	case which == "exec" && set.Exec != nil:
		return snapshot.New(*set.Exec, s.Now)
	default:
		return nil, reason.Wrap(reason.ConfigInvalid, fmt.Sprintf("guard.provider is %s, but there is no section %s", which, which), nil)
	}
}
