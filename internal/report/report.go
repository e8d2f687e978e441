package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hooktrail/internal/audit"
)

// Options configure a report.
type Options struct {
	Files []string  // oldest first; see audit.Files
	Name  string    // one of Names; empty means the overview
	Arg   string    // the session of "session", the call of "call"
	By    string    // a field of By to split by; empty for none
	Since time.Time // events before it do not count; zero takes all
	Now   time.Time
}

// A Result is a report.
type Result struct {
	Name    string
	Tables  []Table
	Scanned scanned
}

// Names lists the reports, each with its question.
func Names() [][2]string {
	return [][2]string{
		{"overview", "what happened, in numbers (the default)"},
		{"hook-failures", "which hooks fail and block, in how many sessions"},
		{"blocks-by-cause", "what stopped calls, by layer and reason"},
		{"fail-open", "which hooks failed while the call ran"},
		{"timeouts", "timeouts by hour, and durations against the deadline"},
		{"exit-codes", "exit codes by hook: 2 is a decision, others are breakage"},
		{"session", "the sessions; with an id, one session in order"},
		{"call", "calls that were stopped and yet ran; with an id, one call in order"},
		{"retries", "calls stopped three times and more, then let through"},
		{"block-rate", "blocks by hour, release and hook"},
		{"silent-hosts", "who has not been heard of for longest"},
		{"drift", "when the configuration changed, who tried to disarm us"},
		{"health", "the log's own events, and sessions without an end"},
		{"integrity", "gaps, doubles and broken links, by host"},
		{"sensitive", "secrets and keys among the targets, by decision"},
		{"bypass-and-first-seen", "calls in bypassPermissions, and tools seen for the first time"},
	}
}

// An aggregate takes in rows and makes tables.
type aggregate interface {
	add(r *row, line []byte)
	tables() []Table
}

// counters is an aggregate of counters.
type counters []*counter

func (cs counters) add(r *row, _ []byte) {
	for _, c := range cs {
		c.add(r)
	}
}

func (cs counters) tables() []Table {
	var out []Table
	for _, c := range cs {
		out = append(out, c.table())
	}
	return out
}

// Run makes a report.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Name == "" {
		o.Name = "overview"
	}
	if o.By != "" && !slices.Contains(By(), o.By) {
		return nil, fmt.Errorf("cannot split by %q; there is %s", o.By, strings.Join(By(), ", "))
	}
	a := aggregateOf(o)
	if a == nil {
		return nil, fmt.Errorf("no report %q", o.Name)
	}
	if o.By != "" {
		cs, ok := a.(counters)
		if !ok {
			return nil, fmt.Errorf("report %q cannot be split", o.Name)
		}
		for _, c := range cs {
			if !slices.Contains(c.dims, o.By) {
				c.dims = append([]string{o.By}, c.dims...)
				if more := c.more; more != nil {
					c.more = func(dims []string) []any { return more(dims[1:]) }
				}
			}
		}
	}
	since := ""
	if !o.Since.IsZero() {
		since = o.Since.UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	sc, err := readRows(ctx, o.Files, func(r *row, line []byte) {
		if string(r.time) >= since {
			a.add(r, line)
		}
	})
	if err != nil {
		return nil, err
	}
	return &Result{Name: o.Name, Tables: a.tables(), Scanned: sc}, nil
}

func is(b []byte, words ...string) bool {
	for _, w := range words {
		if string(b) == w {
			return true
		}
	}
	return false
}

func aggregateOf(o Options) aggregate {
	switch o.Name {
	case "overview":
		return counters{
			{title: "Stopped, by cause", dims: []string{"layer", "reason"}, want: (*row).stopped, uniq: []string{"calls", "sessions"}},
			{title: "Failed open", dims: []string{"hook", "exitCode", "timedOut"}, want: func(r *row) bool { return is(r.reason, "hook_failed_open") }, uniq: []string{"calls"}},
			{title: "Events", dims: []string{"kind", "hookEvent"}, want: func(*row) bool { return true }, uniq: []string{"sessions"}},
			{title: "Hosts", dims: []string{"host"}, want: func(*row) bool { return true }, uniq: []string{"sessions", "users"}, last: true},
		}
	case "hook-failures":
		return counters{{title: "Hooks that failed and blocked", dims: []string{"hook"}, want: func(r *row) bool { return is(r.reason, "hook_callback_failed") }, uniq: []string{"sessions", "users"}}}
	case "blocks-by-cause":
		return counters{{title: "What stopped calls", dims: []string{"layer", "reason"}, want: func(r *row) bool { return is(r.decision, "blocked", "denied") }}}
	case "fail-open":
		return counters{{
			title: "Hooks that failed while the host went on", dims: []string{"hook", "exitCode", "timedOut"},
			want: func(r *row) bool { return is(r.gate, "not_block_mode") && is(r.reason, "hook_failed_open") }, uniq: []string{"calls"},
		}}
	case "timeouts":
		return &timeouts{count: &counter{
			title: "Timeouts", dims: []string{"hour", "hook", "gate"}, sort: "dims",
			want: func(r *row) bool { return is(r.gate, "timeout_block") || r.timedOut },
		}}
	case "exit-codes":
		return counters{{
			title: "Exit codes", dims: []string{"hook", "exitCode"}, want: func(r *row) bool { return r.hasExit }, sort: "dims",
			extra: []string{"meaning"}, more: func(d []string) []any { return []any{meaning(d[1])} },
		}}
	case "sensitive":
		return counters{{title: "Sensitive targets", dims: []string{"tool", "decision", "reason"}, want: (*row).sensitive}}
	case "bypass-and-first-seen":
		return counters{
			{title: "Calls in bypassPermissions", dims: []string{"user", "host", "tool"}, want: func(r *row) bool {
				return is(r.mode, "bypassPermissions") && is(r.hookEvent, "PreToolUse") && is(r.decision, "none", "allowed")
			}},
			{title: "Tools, by when they were first seen", dims: []string{"host", "tool", "mcpServer"}, want: func(r *row) bool { return len(r.tool) > 0 }, times: true, sort: "first"},
		}
	case "silent-hosts":
		return counters{{title: "Hosts, by when they were last heard of", dims: []string{"host"}, want: func(*row) bool { return true }, last: true, sort: "last", uniq: []string{"sessions"}}}
	case "drift":
		return &drift{counter{
			title: "Configurations", dims: []string{"host", "configSha256"}, sort: "dims", times: true,
			want: func(r *row) bool { return len(r.config) > 0 },
		}, list{title: "Attempts to disarm, and what did not pass the schema", columns: []string{"time", "host", "user", "hookEvent", "reason", "message"}}}
	case "block-rate":
		return &rates{}
	case "retries":
		return &retries{}
	case "session":
		if o.Arg == "" {
			return counters{{title: "Sessions", dims: []string{"session", "host", "user"}, want: func(r *row) bool { return len(r.session) > 0 }, times: true, sort: "first"}}
		}
		return &picked{list: list{title: "Session " + o.Arg, columns: []string{"time", "seq", "hookEvent", "tool", "layer", "decision", "reason", "gate", "toolUseId"}},
			want: func(r *row) bool { return string(r.session) == o.Arg }}
	case "call":
		if o.Arg == "" {
			return &contradictions{}
		}
		return &picked{list: list{title: "Call " + o.Arg, columns: []string{"time", "kind", "hookEvent", "hook", "gate", "decision", "reason", "exitCode"}},
			want: func(r *row) bool { return string(r.toolUse) == o.Arg }}
	case "health":
		return &health{now: o.Now, log: list{title: "The log itself", columns: []string{"time", "host", "action", "reason", "message"}}}
	case "integrity":
		return &integrity{}
	}
	return nil
}

// meaning says what an exit code stands for.
func meaning(code string) string {
	switch code {
	case "0":
		return "worked"
	case "2":
		return "a decision: no"
	case "126":
		return "could not be run"
	case "127":
		return "not found"
	case "":
		return ""
	}
	var n int
	if _, err := fmt.Sscan(code, &n); err == nil && n > 128 && n < 160 {
		return fmt.Sprintf("killed by signal %d", n-128)
	}
	return "failed"
}

// Files returns the files of the log at path, or the named ones.
func Files(path string, named []string) ([]string, error) {
	if len(named) > 0 {
		return named, nil
	}
	return audit.Files(path)
}
