// Package doctor proves that an installation works, or says what is wrong with
// it and what to do. Each check is a small function; those of parts that this
// package must not know (the pipeline, the checkpoint provider) are handed in
// as probes.
//
// Nothing is changed, but for two events that are really given to the installed
// entry, a command line or a URL, and recorded as every event is. What a probe
// changes is its own affair.
package doctor

import (
	"context"
	"time"

	"hooktrail/internal/settings"
)

// A State says how a check came out.
type State string

// The states, from good to bad. The zero value is none of them and counts as
// Failed.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failed  State = "failed"
)

// A Check is one line of the report.
type Check struct {
	Name   string `json:"name"` // stable
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Do     string `json:"do,omitempty"` // what to do about it
}

// A Probe makes some checks. It must end when ctx does.
type Probe func(ctx context.Context) []Check

// Options say what is examined. The caller fills in what a hook would use.
type Options struct {
	Files  []settings.File // the layers that the host merges
	Places settings.Places
	Log    string // path of the audit log
	Client string // version of the host, empty when not found
	Home   string
	Env    []string // the environment that the host would give a hook
	Now    func() time.Time

	// Mark is the tool use id of the event that is fed, by which the probes find
	// it again.
	Mark string

	// Binaries are our program's paths that records of installations name.
	Binaries []string

	// Budget returns how long our hook may take under a configuration; see
	// settings.Options.
	Budget func(path string) (time.Duration, error)
	// Config judges a configuration file.
	Config func(path string) error
	// Verify returns what is wrong in the log, and what keeps that from being
	// proven; without either it is sound.
	Verify func(ctx context.Context, log string) (wrong, doubts []string)
	// Locked waits for the log's lock as a hook does, and returns why it cannot
	// be had.
	Locked func(ctx context.Context, log string) error
	// Probes are further checks, made after ours.
	Probes []Probe
}

// Run makes all checks.
func Run(ctx context.Context, o Options) []Check {
	r := settings.Check(o.Files, settings.Options{Client: o.Client, Home: o.Home, Budget: o.Budget})
	all := client(o)
	all = append(all, layers(o, r)...)
	ours, lines := entries(o, r)
	all = append(all, lines...)
	all = append(all, siblings(o, r)...)
	for _, e := range ours {
		all = append(all, e.configured(o)...)
	}
	all = append(all, logChecks(ctx, o)...)
	if len(ours) > 0 {
		all = append(all, ours[0].feed(ctx, o)...)
	}
	all = append(all, clock(ctx, o)...)
	for _, p := range o.Probes {
		all = append(all, p(ctx)...)
	}
	return all
}

// Worst returns the worst state among the checks.
func Worst(all []Check) State {
	worst := OK
	for _, c := range all {
		switch {
		case c.State != OK && c.State != Warning:
			return Failed
		case c.State == Warning:
			worst = Warning
		}
	}
	return worst
}
