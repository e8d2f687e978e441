package cli

import (
	"path/filepath"
	"time"

	"hooktrail/internal/hook"
	"hooktrail/internal/observe"
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
		Now:          s.Now,
	})
}
