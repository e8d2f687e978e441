package cli

import (
	"fmt"
	"path/filepath"

	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/snapshot"
	"hooktrail/internal/zerto"
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
	case which == "zerto" && set.Zerto != nil:
		return newZerto(s, set)
	case which == "exec" && set.Exec != nil:
		return snapshot.New(*set.Exec, s.Getenv, s.Now)
	default:
		return nil, reason.Wrap(reason.ConfigInvalid, fmt.Sprintf("guard.provider is %s, but there is no section %s", which, which), nil)
	}
}

// stateFile is where the zerto provider remembers its checkpoints.
func (s *settings) stateFile() string {
	switch {
	case s.Zerto != nil && s.Zerto.StateFile != "":
		return s.Zerto.StateFile
	case s.Log == "":
		return ""
	}
	return filepath.Join(filepath.Dir(s.Log), "checkpoints.json")
}

func newZerto(s *Stdio, set *settings) (*zerto.Provider, error) {
	return zerto.New(zerto.Options{
		Config: *set.Zerto, StateFile: set.stateFile(), Getenv: s.Getenv, Now: s.Now, UserAgent: "hooktrail/" + Version,
	})
}
