package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"hooktrail/internal/audit"
	"hooktrail/internal/config"
	hookset "hooktrail/internal/settings"
	"hooktrail/internal/settings/doctor"
)

const doctorAbout = `
Prove that hooktrail stands before tool calls and works: give events to the
installed command line or URL, look at the log, the configuration, the host's
version and the settings around it. Each line says what to do.

Exit status: 0 all well (warnings included, unless --strict), 1 something failed.`

func runDoctor(ctx context.Context, s *Stdio, args []string) int {
	fs := newFlags(s, "doctor", "[FLAGS]", doctorAbout)
	asJSON := fs.Bool("json", false, "print a JSON array of {name, state, detail, do}")
	strict := fs.Bool("strict", false, "exit 1 on warnings, too")
	project := fs.String("project", "", "the project's directory (default: the current one)")
	file := fs.String("file", "", "only this settings `file`, instead of the layers that the host merges")
	log := fs.String("log", "", "audit log `file` (default: that of the installed configuration)")
	client := fs.String("client", "", "version of the host (default: the installed one)")
	tag := fs.String("tag", "", "also ask the checkpoint provider for a checkpoint of this `VM`, and wait for it")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if fs.NArg() > 0 {
		return s.fail("doctor", "takes no argument, but got %q", fs.Arg(0))
	}
	dir, err := filepath.Abs(*project)
	if err != nil {
		return s.fail("doctor", "%v", err)
	}
	o := doctor.Options{
		Places: places(s, dir), Client: *client, Home: s.Getenv("HOME"), Env: s.Environ(), Now: s.Now,
		Budget: hookset.ConfigBudget, Config: loads, Verify: verifies, Locked: locked,
		Mark: fmt.Sprintf("doctor-%d", s.Now().UnixNano()),
	}
	o.Files = hookset.Layers(o.Places)
	if *file != "" {
		o.Files = []hookset.File{hookset.Load(*file, "")}
	}
	if o.Client == "" {
		o.Client = hookset.Client(ctx, s.Getenv("PATH"))
	}
	o.Binaries = installedBinaries(s)
	set := installedSettings(s, o.Files, *log)
	o.Log = set.Log
	o.Probes = doctorProbes(s, set, o.Mark)
	if *tag != "" {
		o.Probes = append(o.Probes, func(ctx context.Context) []doctor.Check { return tagProbe(ctx, s, set, *tag) })
	}
	all := doctor.Run(ctx, o)
	if *asJSON {
		if err := writeIndented(s.Out, all); err != nil {
			return s.fail("doctor", "%v", err)
		}
	} else {
		for _, c := range all {
			s.printf("%-8s %s: %s\n", c.State, c.Name, printable(c.Detail))
			if c.Do != "" && c.State != doctor.OK {
				s.printf("         do: %s\n", printable(c.Do))
			}
		}
	}
	worst := doctor.Worst(all)
	if worst == doctor.Failed || *strict && worst == doctor.Warning {
		return exitFindings
	}
	return exitOK
}

// installedBinaries are the paths of our program that installations recorded; it
// need not be called hooktrail.
func installedBinaries(s *Stdio) []string {
	var all []string
	for _, dir := range stateDirs(s) {
		for _, r := range (hookset.Store{Dir: dir}).All() {
			all = append(all, r.Binary)
		}
	}
	return all
}

// installedSettings are those that the installed hook works under.
func installedSettings(s *Stdio, files []hookset.File, log string) *settings {
	c := common{log: log}
	binaries := installedBinaries(s)
	for _, e := range hookset.Check(files, hookset.Options{}).Entries {
		own, ok := hookset.Ours(files, e, binaries...)
		if !ok || e.Event != "PreToolUse" {
			continue
		}
		for flag, to := range map[string]*string{"--config": &c.config, "--log": &c.log} {
			if i := slices.Index(own.Words, flag); i >= 0 && i+1 < len(own.Words) && *to == "" {
				*to = own.Words[i+1]
			}
		}
	}
	set, _ := c.load(s) // what is wrong with it is said by its own check
	return &set
}

// loads judges a configuration file as the hook does.
func loads(path string) error {
	_, err := config.Load(path)
	return err
}

func verifies(ctx context.Context, log string) (wrong, doubts []string) {
	r, err := audit.Verify(ctx, log)
	if err != nil {
		return []string{err.Error()}, nil
	}
	for _, f := range r.Findings {
		wrong = append(wrong, f.String())
	}
	for _, n := range r.Notes {
		if n.Code == audit.NoteHead {
			doubts = append(doubts, n.String())
		}
	}
	return wrong, doubts
}

// locked waits for the log's lock as long as a hook would.
func locked(ctx context.Context, log string) error {
	ctx, cancel := context.WithTimeout(ctx, audit.DefaultLockTimeout)
	defer cancel()
	return audit.Locked(ctx, log)
}

// doctorProbes are the checks of parts that package doctor does not know. A new
// one is a line here.
func doctorProbes(s *Stdio, set *settings, mark string) []doctor.Probe {
	return []doctor.Probe{
		func(context.Context) []doctor.Check { return guardProbe(s, set) },
		func(ctx context.Context) []doctor.Check { return zertoProbe(ctx, s, set) },
		func(ctx context.Context) []doctor.Check { return natsProbe(ctx, s, set, mark) },
	}
}

// guardProbe tells whether the catalogue compiles, and whether it guards
// anything.
func guardProbe(s *Stdio, set *settings) []doctor.Check {
	if set.Path == "" {
		return nil
	}
	if _, err := newGuard(s, set); err != nil {
		return []doctor.Check{{Name: "guard", State: doctor.Failed, Detail: err.Error(), Do: "every call is blocked until it is mended"}}
	}
	n := len(set.Guard.Rules) + len(set.ReadOnlyTools) + len(set.MutatingTools)
	if n == 0 {
		return []doctor.Check{{Name: "guard", State: doctor.Warning, Detail: "the configuration has no rules: calls are recorded, none is guarded", Do: "write guard.rules, or take a catalogue from hooks/catalogues"}}
	}
	return []doctor.Check{{Name: "guard", State: doctor.OK, Detail: fmt.Sprintf("%d rules", n)}}
}
