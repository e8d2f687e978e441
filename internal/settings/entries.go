package settings

import (
	"path/filepath"
	"slices"
	"strings"

	"hooktrail/internal/event"
)

// group and hook are what we write into a settings file.
type group struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []hook `json:"hooks"`
}

type hook struct {
	Type           string            `json:"type"`
	Command        string            `json:"command,omitempty"`
	Args           []string          `json:"args,omitempty"`
	URL            string            `json:"url,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`
	AllowedEnvVars []string          `json:"allowedEnvVars,omitempty"`
	Timeout        int               `json:"timeout"`
	OnFailure      string            `json:"onFailure,omitempty"`
}

// mark is the header by which entries of ours over HTTP are known again.
const mark = "X-Hooktrail-Entry"

// notObserved are the events that an observer must not stand on: the hook of
// WorktreeCreate has to make the tree, one on MessageDisplay runs for every
// batch of lines and may change them, and FileChanged needs a matcher with a
// file's name.
var notObserved = []string{"WorktreeCreate", "MessageDisplay", "FileChanged"}

// observeTimeout is what the host gives our hook where nothing is held back.
const observeTimeout = 30

// Events returns the events that a word stands for: "all" (also empty), "guard"
// for the two on which a call can be held back and the one that protects our
// own entries, or the names in a list separated by commas. ok is false when a
// name is no event or must not be observed.
func Events(word string) (list []string, bad string) {
	switch word {
	case "", "all":
		for _, e := range event.Known() {
			if !slices.Contains(notObserved, e) {
				list = append(list, e)
			}
		}
		return list, ""
	case "guard":
		return []string{event.PreToolUse, event.PermissionRequest, event.ConfigChange}, ""
	}
	for _, e := range strings.Split(word, ",") {
		e = strings.TrimSpace(e)
		if !slices.Contains(event.Known(), e) || slices.Contains(notObserved, e) {
			return nil, e
		}
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list, ""
}

// ours returns our group for an event.
func (o InstallOptions) ours(eventName string) group {
	h := hook{Type: "command", Command: o.Binary, Args: []string{"hook", "--config", o.Config}, Timeout: observeTimeout}
	if o.URL != "" {
		h = hook{Type: "http", URL: o.URL, Headers: map[string]string{mark: "1"}, Timeout: observeTimeout}
		if o.TokenEnv != "" {
			h.Headers["Authorization"] = "Bearer $" + o.TokenEnv
			h.AllowedEnvVars = []string{o.TokenEnv}
		}
	}
	if eventName == event.PreToolUse {
		h.Timeout = o.Timeout
	}
	if isGuard(eventName) {
		h.OnFailure = "block"
	}
	return group{Hooks: []hook{h}}
}

// isOurs tells whether an entry is one that Install writes. Binaries are our
// program's paths where it was installed under another name.
func isOurs(n *Node, binaries ...string) bool {
	if h := n.Get("headers").Get(mark); h != nil {
		return n.Get("type").IsString() && n.Get("type").Text == "http"
	}
	words, _ := argv(n)
	words = program(words)
	return len(words) > 1 && isProgram(words[0], binaries) && words[1] == "hook"
}

// isProgram tells whether a command is our program, by its name or by where it
// was installed.
func isProgram(command string, binaries []string) bool {
	return isHooktrail(command) || command != "" && slices.Contains(binaries, command)
}

func isHooktrail(command string) bool {
	return strings.TrimSuffix(filepath.Base(filepath.ToSlash(command)), ".exe") == "hooktrail"
}

// oursGroup tells whether all entries of a matcher group are ours.
func oursGroup(n *Node, binaries ...string) bool {
	h := n.Get("hooks")
	return h.IsList() && len(h.Items) > 0 && !slices.ContainsFunc(h.Items, func(i *Node) bool { return !isOurs(i, binaries...) })
}
