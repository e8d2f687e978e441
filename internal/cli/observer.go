package cli

import (
	"path/filepath"
	"sync"
	"time"

	"hooktrail/internal/hook"
	"hooktrail/internal/observe"
	hookset "hooktrail/internal/settings"
)

// stateDir is where the places in the transcripts are kept, beside the log.
func (s *settings) stateDir() string { return filepath.Join(filepath.Dir(s.Log), "observe") }

// newObserver returns what reads the host's records at each event, or nil when
// there is no log to keep their place beside.
func newObserver(s *Stdio, set *settings) hook.Observer {
	if set.Log == "" {
		return nil
	}
	return observe.New(observe.Options{
		StateDir:     set.stateDir(),
		LogPath:      set.Log,
		NoTranscript: set.Observe.Transcript != nil && !*set.Observe.Transcript,
		Budget:       time.Duration(set.Observe.Budget),
		MaxBytes:     set.Observe.MaxBytes,
		Lookup:       lookup(s),
		Now:          s.Now,
	})
}

// inForceFor is how long settings once read are taken to stand. A hook's process
// ends before; a server lives on while they change.
const inForceFor = 5 * time.Second

// lookup answers from the host's settings for this user and, when the host says
// which, this project. They are read when a record first names a hook: most
// calls never do.
func lookup(s *Stdio) observe.Lookup {
	var (
		mu    sync.Mutex
		hooks *hookset.Hooks
		read  time.Time
	)
	inForce := func() *hookset.Hooks {
		mu.Lock()
		defer mu.Unlock()
		if now := s.Now(); hooks == nil || now.Sub(read) > inForceFor || now.Before(read) {
			project := s.Getenv("CLAUDE_PROJECT_DIR")
			files := hookset.Layers(places(s, project))
			hooks, read = hookset.InForce(files, hookset.Options{Home: s.Getenv("HOME"), Project: project}), now
		}
		return hooks
	}
	return observe.Lookup{
		OnFailure: func(hookEvent, tool, command string) (string, bool) {
			return inForce().OnFailure(hookEvent, tool, command)
		},
		Commands: func(hookEvent, tool string) []string { return inForce().Commands(hookEvent, tool) },
	}
}
