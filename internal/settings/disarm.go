package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hooktrail/internal/event"
)

// A Reload is a change of settings that the host is about to take over, as its
// ConfigChange event tells it. The file on disk already holds the new text.
type Reload struct {
	Source string // user_settings, project_settings, local_settings, policy_settings, skills
	File   string // the changed file; empty when the host does not name it
	Places Places // where to look when it does not

	// Records are what Install wrote down. Without a record of the file, the
	// removal of entries that somebody wrote by hand is not noticed.
	Records []Record

	// Getenv is this process's environment. What a settings file's env puts
	// into it is in force already, so it is not news.
	Getenv func(string) string
}

// Disarms says in words how a change would switch our own hooks off or reach
// into them, or "" when it does not.
//
// Nobody tells us what the settings were before. But the hook that asks is
// running, so until now nothing had disabled it, and what was in env is in our
// own environment: whatever is found now is news. That entries have gone can
// only be told from the record of the installation. Managed settings are not
// judged: their owner is above us.
func Disarms(r Reload) string {
	if r.Source == "policy_settings" || r.Source == "skills" {
		return ""
	}
	for _, file := range r.files() {
		if how := r.file(file); how != "" {
			return how
		}
	}
	return ""
}

func (r Reload) files() []string {
	if r.File != "" {
		return []string{r.File}
	}
	var all []string
	if r.Source == "user_settings" && r.Places.ConfigDir != "" {
		all = append(all, filepath.Join(r.Places.ConfigDir, "settings.json"))
	}
	if r.Source == "project_settings" && r.Places.Project != "" {
		all = append(all, filepath.Join(r.Places.Project, ".claude", "settings.json"))
	}
	if r.Source == "local_settings" && r.Places.Project != "" {
		all = append(all, filepath.Join(r.Places.Project, ".claude", "settings.local.json"))
	}
	return all
}

func (r Reload) file(name string) string {
	record, installed := r.record(name)
	b, err := ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if installed {
			return name + " is gone, and hooktrail's entries with it"
		}
		return ""
	case err != nil:
		return fmt.Sprintf("%s cannot be read (%s), so nothing in it would apply", name, reading(err))
	}
	report := Check([]File{{Name: name, Bytes: b}}, Options{watched: true})
	if len(report.Void) > 0 {
		return fmt.Sprintf("the host cannot load %s (%s), so its hooks and permission rules would be gone", name, firstError(report))
	}
	root, err := Parse(b)
	if err != nil {
		return fmt.Sprintf("%s is not JSON", name)
	}
	if root.Get("disableAllHooks").IsTrue() {
		return "disableAllHooks in " + name + " turns all hooks off"
	}
	if name := r.injected(root.Get("env")); name != "" {
		return "env sets " + name + ", which reaches into hooks"
	}
	if installed {
		return gone(record, root, report)
	}
	return ""
}

func (r Reload) record(name string) (Record, bool) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	for _, rec := range r.Records {
		if filepath.Clean(rec.File) == filepath.Clean(name) {
			return rec, true
		}
	}
	return Record{}, false
}

func firstError(r Report) string {
	for _, f := range r.Findings {
		if f.Severity == Error {
			return f.Message
		}
	}
	return "it is of a wrong shape"
}

// injected returns the first variable in env that reaches into a hook and is
// not in force already.
func (r Reload) injected(env *Node) string {
	found := ""
	env.last(func(m Member) {
		if found != "" || !reaches(m.Name) {
			return
		}
		if r.Getenv == nil || r.Getenv(m.Name) != m.Value.Text {
			found = m.Name
		}
	})
	return found
}

// gone says which recorded entry is no longer in force.
func gone(record Record, root *Node, report Report) string {
	for _, want := range record.Events {
		if want != event.PreToolUse && want != event.PermissionRequest && want != event.ConfigChange {
			continue // a missing observer takes no guard away
		}
		ok := false
		for _, g := range root.Get("hooks").Get(want).items() {
			if oursGroup(g, record.Binary) && wholeMatch(g) && untouched(record, g) {
				ok = true
			}
		}
		for _, e := range report.Entries {
			if ok && e.Event == want && isGuard(want) && isProgram(first(e.Command), []string{record.Binary}) && !e.Blocks {
				return fmt.Sprintf("hooktrail's entry on %s would let failures through: %s", want, e.Why)
			}
		}
		if !ok {
			return fmt.Sprintf("hooktrail's entry on %s has been removed or changed", want)
		}
	}
	if record.URL != "" && !urlAllowed(root.Get("allowedHttpHookUrls"), record.URL) {
		return "allowedHttpHookUrls shuts out " + record.URL
	}
	return ""
}

func first(command string) string {
	w := splitShell(command)
	if len(w) == 0 {
		return ""
	}
	return w[0]
}

func wholeMatch(g *Node) bool {
	m := g.Get("matcher")
	return m == nil || m.IsString() && matchesAll(m.Text)
}

// untouched tells whether the entries of a group still run what was installed.
func untouched(record Record, g *Node) bool {
	for _, e := range g.Get("hooks").items() {
		if record.URL != "" {
			if text(e, "url") != record.URL {
				return false
			}
			continue
		}
		words, exec := argv(e)
		if !exec || len(words) != 4 || words[0] != record.Binary || words[1] != "hook" || words[2] != "--config" || words[3] != record.Config {
			return false
		}
		if e.Get("if") != nil || e.Get("async").IsTrue() || e.Get("asyncRewake").IsTrue() || e.Get("once").IsTrue() {
			return false
		}
	}
	return true
}

func urlAllowed(list *Node, url string) bool {
	if !list.IsList() {
		return true
	}
	return slices.ContainsFunc(list.Items, func(n *Node) bool {
		prefix, star := strings.CutSuffix(n.Text, "*")
		return n.Text == url || star && strings.HasPrefix(url, prefix)
	})
}
