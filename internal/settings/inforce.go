package settings

import (
	"slices"
	"time"

	"github.com/dlclark/regexp2"

	"hooktrail/internal/gate"
)

// Hooks are the entries that the host runs under the settings in force, for
// whoever meets a hook in the host's records and asks how it was configured.
type Hooks struct{ entries []Entry }

// InForce returns the hooks that run when the host merges the files. It reads
// them as Check does: what a void file or a switch turns off is not there.
func InForce(files []File, o Options) *Hooks {
	h := &Hooks{}
	o.watched = true
	for _, e := range Check(files, o).Entries {
		if e.Runs && e.Command != "" {
			h.entries = append(h.entries, e)
		}
	}
	return h
}

// OnFailure returns the onFailure of the hook that runs command when tool meets
// an event, as the host takes it: "continue" too where the key is left out or
// has no effect. An empty tool stands for any. ok is false when there is no such
// hook, when its type has no onFailure, and when entries that differ come into
// question.
func (h *Hooks) OnFailure(hookEvent, tool, command string) (onFailure string, ok bool) {
	for _, e := range h.entries {
		if e.Command != command || !e.concerns(hookEvent, tool) {
			continue
		}
		mode := e.Mode
		switch {
		case e.Type == "prompt" || e.Type == "agent":
			return "", false
		case e.Branch == gate.NotBlockMode:
			mode = gate.OnFailureContinue
		}
		if ok && mode != onFailure {
			return "", false
		}
		onFailure, ok = mode, true
	}
	return onFailure, ok
}

// Commands returns what runs when tool meets an event, each in one line.
func (h *Hooks) Commands(hookEvent, tool string) []string {
	var all []string
	for _, e := range h.entries {
		if e.concerns(hookEvent, tool) && !slices.Contains(all, e.Command) {
			all = append(all, e.Command)
		}
	}
	return all
}

// concerns tells whether an entry runs when tool meets an event. A matcher that
// is compared with something else than a tool's name is taken to fit.
func (e Entry) concerns(hookEvent, tool string) bool {
	if e.Event != hookEvent {
		return false
	}
	if tool == "" || matchesAll(e.Matcher) || !slices.Contains(toolEvents, hookEvent) {
		return true
	}
	if list, ok := names(hookEvent, e.Matcher); ok {
		return slices.Contains(list, tool)
	}
	re, err := regexp2.Compile(e.Matcher, regexp2.ECMAScript)
	if err != nil {
		return false
	}
	re.MatchTimeout = 100 * time.Millisecond
	fits, err := re.MatchString(tool)
	return err == nil && fits
}
