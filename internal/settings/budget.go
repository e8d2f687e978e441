package settings

import (
	"fmt"
	"os"
	"time"
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

// ReadFile reads a settings file, at most MaxBytes and one of it, and only a
// regular one: a pipe in its place would hold us up for ever.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("read %s: is a folder", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: not a regular file", name)
	case info.Size() > MaxBytes:
		return nil, fmt.Errorf("read %s: more than %d MiB", name, MaxBytes>>20)
	}
	return os.ReadFile(name) //nolint:gosec // the file that was asked for
}
