package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	hookset "hooktrail/internal/settings"
)

const installAbout = `
Put hooktrail into a settings file of the host: the guard before tool calls, and
an observer on the other events. Only these entries are added; every other byte
of the file stays. What was there is kept, and uninstall gives it back.

The entries name this program and its configuration by absolute path and run
without a shell, so that a project's settings cannot lead them elsewhere.`

// installFlags are what install and uninstall have in common.
type installFlags struct {
	scope, file string
	dryRun      bool
}

func (f *installFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.scope, "scope", "user", "which settings: `user`, project or local")
	fs.StringVar(&f.file, "file", "", "another settings `file` than that of the scope")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print the difference and write nothing")
}

// path returns the settings file that is meant.
func (f *installFlags) path(s *Stdio) (string, error) {
	if f.file != "" {
		return filepath.Abs(f.file)
	}
	p := places(s, "")
	switch f.scope {
	case "user":
		if p.ConfigDir == "" {
			return "", errors.New("HOME is not set, so the user's settings have no place; use --file")
		}
		return filepath.Abs(filepath.Join(p.ConfigDir, "settings.json"))
	case "project":
		return filepath.Abs(filepath.Join(".claude", "settings.json"))
	case "local":
		return filepath.Abs(filepath.Join(".claude", "settings.local.json"))
	}
	return "", fmt.Errorf("--scope is user, project or local, not %q", f.scope)
}

// store is where records of installations and backups lie.
func store(s *Stdio) (hookset.Store, error) {
	log := defaultLog(s.Getenv)
	if log == "" {
		return hookset.Store{}, errors.New("HOME is not set, so the backup has no place")
	}
	return hookset.Store{Dir: filepath.Join(filepath.Dir(log), "installed"), Now: s.Now}, nil
}

func runInstall(_ context.Context, s *Stdio, args []string) int {
	var f installFlags
	var o hookset.InstallOptions
	fs := newFlags(s, "install", "[FLAGS]", installAbout)
	f.register(fs)
	events := fs.String("events", "all", "`all`, guard, or a list such as PreToolUse,PostToolUse")
	guard := fs.String("guard", "", "the guard's configuration `file` (default: config.json in the user's configuration folder; made when absent)")
	fs.StringVar(&o.URL, "http", "", "post hooks to the `URL` of hooktrail serve instead of starting a program")
	fs.StringVar(&o.TokenEnv, "token-env", "", "with --http: the `variable` that holds the bearer token")
	fs.BoolVar(&o.Wrap, "wrap", false, "also put the command hooks of others that stand before calls under hooktrail run")
	fs.IntVar(&o.Timeout, "timeout", 0, "`seconds` that the host gives the guard (default: 180, or 20 above its own deadline)")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if fs.NArg() > 0 {
		return s.fail("install", "takes no argument, but got %q", fs.Arg(0))
	}
	list, bad := hookset.Events(*events)
	if bad != "" {
		return s.fail("install", "%q is no event that hooktrail can stand on", bad)
	}
	o.Events = list
	made, err := f.prepare(s, &o, *guard)
	if err != nil {
		return s.fail("install", "%s", printable(err.Error()))
	}
	return f.install(s, o, made)
}

// prepare finds the program and the configuration, and sets the host's timeout
// above our own deadline. It returns the configuration that is still to be made.
func (f *installFlags) prepare(s *Stdio, o *hookset.InstallOptions, guard string) (made string, err error) {
	if o.Binary, err = os.Executable(); err != nil {
		return "", err
	}
	if o.Config, err = configPath(s, guard); err != nil {
		return "", err
	}
	deadline, err := hookset.ConfigBudget(o.Config)
	switch {
	case errors.Is(err, os.ErrNotExist) || guard == "" && !exists(o.Config):
		made = o.Config
		deadline = 0
	case err != nil:
		return "", err
	}
	least := int(deadline.Seconds()) + 1
	switch {
	case o.Timeout == 0:
		o.Timeout = max(180, least+19)
	case o.Timeout < least:
		return "", fmt.Errorf("--timeout %d is not above the guard's own deadline of %v: the host would cancel it before it can answer", o.Timeout, deadline)
	}
	if guard != "" && made != "" {
		return "", fmt.Errorf("%s: no such file", o.Config)
	}
	if o.URL != "" && !strings.HasPrefix(o.URL, "http://") && !strings.HasPrefix(o.URL, "https://") {
		return "", fmt.Errorf("%q is no http or https URL", o.URL)
	}
	return made, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func configPath(s *Stdio, guard string) (string, error) {
	if guard != "" {
		return filepath.Abs(guard)
	}
	if c := cmp.Or(s.Getenv("HOOKTRAIL_CONFIG"), s.Getenv("ZERTO_REWIND_CONFIG")); c != "" {
		return filepath.Abs(c)
	}
	if dir := s.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "hooktrail", "config.json"), nil
	}
	if s.Getenv("HOME") == "" {
		return "", errors.New("HOME is not set; name a configuration with --guard")
	}
	return filepath.Join(s.Getenv("HOME"), ".config", "hooktrail", "config.json"), nil
}

func (f *installFlags) install(s *Stdio, o hookset.InstallOptions, made string) int {
	file, err := f.path(s)
	if err != nil {
		return s.fail("install", "%v", err)
	}
	st, err := store(s)
	if err != nil {
		return s.fail("install", "%v", err)
	}
	c, err := st.Plan(file, o)
	if err != nil {
		return s.fail("install", "%s: %s", printable(file), printable(err.Error()))
	}
	if why := hookset.Idle(hookset.File{Name: c.File, Bytes: c.After}, o.Binary); why != "" {
		_, _ = fmt.Fprintf(s.Err, "hooktrail install: warning: nothing in this file guards until it is mended: %s; see hooktrail check %s\n", printable(why), printable(c.File))
	}
	if f.dryRun {
		return difference(s, c)
	}
	if made != "" {
		if err := makeConfig(made); err != nil {
			return s.fail("install", "%s", printable(err.Error()))
		}
		s.printf("made the configuration %s, which guards nothing yet\n", printable(made))
	}
	if !c.Changed() && st.Recorded(c) {
		s.printf("%s: installed already, nothing to do\n", printable(c.File))
		return exitOK
	}
	if err := st.Apply(c, o); err != nil {
		return s.fail("install", "%s", printable(err.Error()))
	}
	s.printf("%s: installed on %s; what was there is kept in %s\n", printable(c.File), count(len(o.Events), "event"), printable(st.Backup(c.File)))
	s.printf("next: hooktrail doctor\n")
	return exitOK
}

// makeConfig makes a configuration that guards nothing, so that --config can
// name it: with the flag, no variable of the environment counts.
func makeConfig(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user's own configuration
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("{}\n")
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func difference(s *Stdio, c hookset.Change) int {
	if !c.Changed() {
		s.printf("%s: nothing to do\n", printable(c.File))
		return exitOK
	}
	name := printable(c.File)
	s.printf("%s", printableLines(string(diff.Diff(name, c.Before, name, c.After))))
	return exitOK
}

// printableLines is printable for text of several lines.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(printable(strings.ReplaceAll(l, "\t", "    ")), "\\r", "")
	}
	return strings.Join(lines, "\n")
}

const uninstallAbout = `
Take hooktrail's entries out of a settings file. When nobody else changed the
file since, it gets back its first bytes; else everything else in it stays.`

func runUninstall(_ context.Context, s *Stdio, args []string) int {
	var f installFlags
	fs := newFlags(s, "uninstall", "[FLAGS]", uninstallAbout)
	f.register(fs)
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if fs.NArg() > 0 {
		return s.fail("uninstall", "takes no argument, but got %q", fs.Arg(0))
	}
	file, err := f.path(s)
	if err != nil {
		return s.fail("uninstall", "%v", err)
	}
	st, err := store(s)
	if err != nil {
		return s.fail("uninstall", "%v", err)
	}
	c, err := st.PlanRemoval(file)
	switch {
	case err != nil:
		return s.fail("uninstall", "%s: %s", printable(file), printable(err.Error()))
	case f.dryRun:
		return difference(s, c)
	case !c.Existed || !c.Changed():
		s.printf("%s: hooktrail is not in it, nothing to do\n", printable(c.File))
		return exitOK
	}
	if err := st.Remove(c); err != nil {
		return s.fail("uninstall", "%s", printable(err.Error()))
	}
	s.printf("%s: hooktrail is out\n", printable(c.File))
	return exitOK
}
