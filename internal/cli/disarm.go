package cli

import (
	"os"

	"hooktrail/internal/event"
	hookset "hooktrail/internal/settings"
)

// disarms returns what the flow asks on ConfigChange: how the new settings
// would switch our own hooks off, or "".
func disarms(s *Stdio) func(*event.Event) string {
	return func(e *event.Event) string {
		m, _ := e.Value.(map[string]any)
		source, _ := m["source"].(string)
		file, _ := m["file_path"].(string)
		r := hookset.Reload{Source: source, File: file, Getenv: s.Getenv}
		project := s.Getenv("CLAUDE_PROJECT_DIR")
		if project == "" {
			project = e.CWD
		}
		r.Places = places(s, project)
		// The records lie under HOME, which a project's env does not move;
		// XDG_STATE_HOME it does.
		for _, home := range stateDirs(s) {
			r.Records = append(r.Records, hookset.Store{Dir: home}.All()...)
		}
		return hookset.Disarms(r)
	}
}

// stateDirs are where records may lie: where they are written now, and where
// they are written without XDG_STATE_HOME.
func stateDirs(s *Stdio) []string {
	var all []string
	if st, err := store(s); err == nil {
		all = append(all, st.Dir)
	}
	without := *s
	without.Getenv = func(name string) string {
		if name == "XDG_STATE_HOME" {
			return ""
		}
		return s.Getenv(name)
	}
	if st, err := store(&without); err == nil && (len(all) == 0 || all[0] != st.Dir) {
		if _, err := os.Stat(st.Dir); err == nil {
			all = append(all, st.Dir)
		}
	}
	return all
}
