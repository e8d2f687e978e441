package report

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"regexp"
)

// An Info describes a report.
type Info struct {
	Name, Question string
	// Arg names the report's argument; "" if it takes none. A leading "?" says
	// that it may be left out.
	Arg string
	// By tells whether --by has an effect.
	By bool

	make func(arg string, by []string) collector
}

// Reports lists the reports in the order of the questions they answer.
func Reports() []Info {
	return []Info{
		{Name: "hook-failures", Question: "Which hooks fail and block, in how many sessions?", By: true, make: group1("Hooks that failed and blocked", reasonIs("hook_callback_failed"), []string{"hookName"}, "sessionId", "user")},
		{Name: "blocks-by-cause", Question: "What stopped calls, by cause?", By: true, make: group1("What stopped calls", (*Row).stopped, []string{"layer", "reason"})},
		{Name: "fail-open", Question: "Which hooks failed, and the tool ran?", By: true, make: group1("Hooks that failed open", reasonIs("hook_failed_open"), []string{"hookName", "exitCode", "timedOut"}, "toolUseId")},
		{Name: "timeouts", Question: "Which hooks run out of time, and how near do they come?", make: func(string, []string) collector {
			late := func(r *Row) bool { return r.TimedOut || r.Gate == "timeout_block" } // whether they blocked or failed open
			return many{&grouped{title: "Timeouts by the hour", keep: late, by: []string{"hour", "hookName", "gate"}}, &budgets{}}
		}},
		{Name: "exit-codes", Question: "How do hooks end? 2 is a decision; 1, 126, 127 and 128+n are breakage", By: true, make: group1("Exit codes", func(r *Row) bool { return r.HasExit }, []string{"hookName", "exitCode"})},
		{Name: "session", Question: "What happened in one session, in order?", Arg: "SESSION_ID", make: func(arg string, _ []string) collector {
			return &listed{title: "Session " + arg, keep: func(r *Row) bool { return r.SessionID == arg }, cols: []string{"time", "seq", "hookEvent", "tool", "command", "target", "layer", "decision", "reason", "gate"}}
		}},
		{Name: "call", Question: "What happened to one call? Without an id: which calls were stopped and yet ran?", Arg: "?TOOL_USE_ID", make: func(arg string, _ []string) collector {
			if arg == "" {
				return &contradictions{}
			}
			return &listed{title: "Call " + arg, keep: func(r *Row) bool { return r.ToolUseID == arg }, cols: []string{"time", "kind", "hookEvent", "hookName", "gate", "decision", "reason", "exitCode"}}
		}},
		{Name: "retries", Question: "Which commands were stopped three times and more, and then let through?", make: func(string, []string) collector { return &retries{} }},
		{Name: "block-rate", Question: "How often does each hook block, by hour and release?", make: func(string, []string) collector { return &rates{} }},
		{Name: "silent-hosts", Question: "Who has not been heard of?", make: func(string, []string) collector {
			return &spans{title: "Hosts, the longest silent first", by: []string{"host"}, keep: all, byLast: true}
		}},
		{Name: "drift", Question: "When did the configuration change, and what tried to switch hooktrail off?", make: func(string, []string) collector {
			return many{&spans{title: "Configurations", by: []string{"host", "configSha256"}, keep: func(r *Row) bool { return r.ConfigSHA256 != "" }},
				&listed{title: "Shape faults and attempts to disarm", keep: func(r *Row) bool { return r.Layer == "schema" || r.Reason == "settings_disarm" }, cols: []string{"time", "host", "user", "hookEvent", "reason", "message"}}}
		}},
		{Name: "health", Question: "Is the log itself well, and did every session come to its end?", make: func(string, []string) collector {
			return many{&listed{title: "Events of the log, and failed audits", keep: func(r *Row) bool { return r.Kind == "log" || r.Reason == "audit_unavailable" }, cols: []string{"time", "host", "action", "reason", "message"}}, &unfinished{}}
		}},
		{Name: "integrity", Question: "Are there gaps or doubles? (hooktrail verify checks the chain itself)", make: func(string, []string) collector { return &gaps{} }},
		{Name: "sensitive", Question: "What became of calls on sensitive targets?", By: true, make: group1("Sensitive targets", sensitive, []string{"tool", "decision", "reason"})},
		{Name: "bypass-and-first-seen", Question: "What ran with permissions bypassed, and which tools are new?", make: func(string, []string) collector {
			return many{&grouped{title: "Let through in bypassPermissions", by: []string{"user", "host", "tool"}, keep: func(r *Row) bool {
				return r.PermissionMode == "bypassPermissions" && r.HookEvent == "PreToolUse" && (r.Decision == "none" || r.Decision == "allowed")
			}}, &spans{title: "Tools, the newest first", by: []string{"host", "tool", "mcpServer"}, keep: func(r *Row) bool { return r.Tool != "" }, byFirst: true}}
		}},
	}
}

func all(*Row) bool { return true }

func reasonIs(code string) func(*Row) bool { return func(r *Row) bool { return r.Reason == code } }

func group1(title string, keep func(*Row) bool, by []string, distinct ...string) func(string, []string) collector {
	return func(_ string, other []string) collector {
		g := &grouped{title: title, keep: keep, by: by, distinct: distinct}
		if len(other) > 0 {
			g.by = other
		}
		return g
	}
}

// patterns are compiled when they are first needed: the program starts for every
// hook call.
var patterns = sync.OnceValues(func() (target, command *regexp.Regexp) {
	return regexp.MustCompile(`(^|/)(\.env|\.ssh/|\.aws/|id_[a-z0-9]+$)`), regexp.MustCompile(`\.env|\.ssh/|AWS_SECRET`)
})

func sensitive(r *Row) bool {
	target, command := patterns()
	return r.Target != "" && target.MatchString(r.Target) || r.Command != "" && command.MatchString(r.Command)
}

// A Run is one report being made.
type Run struct{ c collector }

// New starts the named report, or the overview for "". The error says which
// names, arguments or fields there are.
func New(name, arg string, by []string) (*Run, error) {
	for _, f := range by {
		if !known(f) {
			return nil, fmt.Errorf("no field %q to group by", f)
		}
	}
	if name == "" {
		return &Run{overview()}, nil
	}
	reports := Reports()
	i := slices.IndexFunc(reports, func(r Info) bool { return r.Name == name })
	if i < 0 {
		var names []string
		for _, r := range reports {
			names = append(names, r.Name)
		}
		return nil, fmt.Errorf("no report %q; there are %s", name, strings.Join(names, ", "))
	}
	r := reports[i]
	switch {
	case r.Arg == "" && arg != "":
		return nil, fmt.Errorf("report %s takes no argument", name)
	case r.Arg != "" && r.Arg[0] != '?' && arg == "":
		return nil, fmt.Errorf("report %s needs %s", name, r.Arg)
	case !r.By && len(by) > 0:
		return nil, fmt.Errorf("report %s cannot be grouped otherwise", name)
	}
	return &Run{r.make(arg, by)}, nil
}

// Add takes one row; see Each.
func (r *Run) Add(row *Row) { r.c.add(row) }

// Sections returns the finished tables.
func (r *Run) Sections() []Section { return r.c.sections() }

// overview is the picture of a day.
func overview() collector {
	return many{
		&grouped{title: "Events", keep: all, by: []string{"kind"}},
		&grouped{title: "Decisions", keep: func(r *Row) bool { return r.Decision != "none" && r.Decision != "" }, by: []string{"layer", "decision"}, distinct: []string{"sessionId"}},
		&grouped{title: "What stopped calls", keep: (*Row).stopped, by: []string{"layer", "reason"}},
		&grouped{title: "Failed open: the tool ran", keep: reasonIs("hook_failed_open"), by: []string{"hookName", "exitCode", "timedOut"}},
		&grouped{title: "By the hour", keep: all, by: []string{"hour"}},
		&grouped{title: "The log itself", keep: func(r *Row) bool { return r.Kind == "log" }, by: []string{"action"}},
	}
}
