package settings

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hooktrail/internal/event"
	"hooktrail/internal/regular"
)

// The times that hold when a configuration says nothing.
const (
	defaultBudget = 150 * time.Second
	afterBudget   = 10 * time.Second // between the guard's budget and the whole invocation's deadline
)

// ConfigBudget returns how long hooktrail hook may take under the configuration
// file at path: its deadline, or the guard's budget and ten seconds. With an
// empty path it returns zero, since nothing is known. It reads the two settings
// that matter and judges nothing else.
func ConfigBudget(path string) (time.Duration, error) {
	if path == "" {
		return 0, nil
	}
	b, err := ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %s", path, reading(err))
	}
	root, err := Parse(b)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	budget, err := configTime(root.Get("guard").Get("budget"), defaultBudget)
	if err != nil {
		return 0, fmt.Errorf("%s: guard.budget: %w", path, err)
	}
	deadline, err := configTime(root.Get("hook").Get("deadline"), budget+afterBudget)
	if err != nil {
		return 0, fmt.Errorf("%s: hook.deadline: %w", path, err)
	}
	return deadline, nil
}

func configTime(n *Node, absent time.Duration) (time.Duration, error) {
	if n == nil {
		return absent, nil
	}
	d, err := time.ParseDuration(n.Text)
	if err != nil || !n.IsString() || d < 0 {
		return 0, fmt.Errorf("%s is not a duration such as 150s", show(n))
	}
	if d == 0 {
		return absent, nil
	}
	return d, nil
}

// ReadFile reads a settings file of at most MaxBytes.
func ReadFile(name string) ([]byte, error) {
	return regular.Read(name, MaxBytes)
}

// budget warns when an entry's own time reaches the host's: the host cancels
// first, and a deny that comes too late is discarded.
func (c *checker) budget(e *entry, at *Node, path string) {
	host := hostTimeout(e.Event, e.Type)
	what := "the host's own timeout on " + e.Event
	if t := e.node.Get("timeout"); t != nil && t.Kind == '0' {
		s, err := strconv.ParseFloat(t.Text, 64)
		if err != nil || s <= 0 || s > 2147483 {
			return
		}
		host, what, at, path = time.Duration(s*float64(time.Second)), "the entry's timeout", t, pointer(e.Path, "timeout")
	}
	e.Timeout = host.Seconds()
	look := c.o.Budget
	if e.Event != event.PreToolUse {
		look = nil // elsewhere the guard does not wait for anything
	}
	own, whose, err := ownBudget(e.words, look)
	if err != nil {
		c.add(Warning, at.Pos, path, "budget-unknown", fmt.Sprintf("the configuration of this hook cannot be used: %v", err), "hooktrail blocks every call until it is mended")
		return
	}
	if own == 0 {
		return
	}
	e.Budget = own.Seconds()
	if own >= host {
		c.add(Warning, at.Pos, path, "budget", fmt.Sprintf("%s is %v and %s is %v: the host cancels the hook before it can answer", whose, own, what, host),
			fmt.Sprintf("give the entry a timeout above %g, or the hook less", own.Seconds()))
	}
}

// ownBudget returns how long a command allows itself, zero when it does not say.
func ownBudget(words []string, budget func(string) (time.Duration, error)) (own time.Duration, whose string, err error) {
	if len(words) == 0 {
		return 0, "", nil
	}
	base := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	switch {
	case base == "hooktrail" && len(words) > 1 && words[1] == "run":
		if v, ok := flagValue(beforeDashes(words[2:]), "timeout"); ok {
			d, _ := duration(v)
			return d, "hooktrail run's timeout", nil
		}
	case base == "hooktrail" && len(words) > 1 && words[1] == "hook" && budget != nil:
		file, _ := flagValue(words[2:], "config")
		d, err := budget(file)
		return d, "the guard's budget", err
	case (base == "timeout" || base == "gtimeout") && len(words) > 1:
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") {
				d, _ := duration(w)
				return d, "the command's timeout", nil
			}
		}
	case base == "curl":
		for _, f := range []string{"max-time", "m"} {
			if v, ok := flagValue(words[1:], f); ok {
				d, _ := duration(v)
				return d, "curl's time limit", nil
			}
		}
	default:
		if v, ok := flagValue(words[1:], "timeout"); ok {
			if d, unit := duration(v); unit || d < 1000*time.Second {
				return d, "the command's own timeout", nil
			}
		}
	}
	return 0, "", nil
}

func beforeDashes(words []string) []string {
	for i, w := range words {
		if w == "--" {
			return words[:i]
		}
	}
	return words
}

// flagValue finds -name VALUE, --name VALUE and --name=VALUE.
func flagValue(words []string, name string) (string, bool) {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") {
			continue
		}
		k, v, eq := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case k != name:
		case eq:
			return v, true
		case i+1 < len(words):
			return words[i+1], true
		}
	}
	return "", false
}

// duration reads 30s, 2m, 1h and a plain number of seconds; unit tells whether
// there was one.
func duration(s string) (d time.Duration, unit bool) {
	if d, err := time.ParseDuration(s); err == nil && s != "0" {
		return d, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= 2147483) { // NaN fails both
		return 0, false
	}
	return time.Duration(f * float64(time.Second)), false
}
