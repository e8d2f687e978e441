package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hooktrail/internal/settings"
)

func client(o Options) []Check {
	const name = "client"
	switch {
	case o.Client == "":
		return []Check{{name, Warning, "no claude program was found, so its version is not known", "put it on PATH"}}
	case settings.Older(o.Client, settings.SinceOnFailure):
		return []Check{{name, Warning, "client " + o.Client + " ignores onFailure: when hooktrail cannot even start, the call runs", "update to " + settings.SinceOnFailure + " or later"}}
	}
	return []Check{{name, OK, "client " + o.Client + " reads onFailure", ""}}
}

// layers looks at the settings files as a whole.
func layers(o Options, r settings.Report) []Check {
	var all []Check
	for _, f := range r.Findings {
		c := Check{Name: "settings", State: Warning, Detail: f.String(), Do: f.Hint}
		switch {
		case f.Severity == settings.Error:
			c.State = Failed
		case f.Code == "hooks-disabled" || f.Code == "managed-hooks-only":
			c.State = Failed
		case f.Code == "env-injected", f.Code == "same-hook-twice", f.Code == "duplicate-key", f.Code == "bom":
		default:
			continue // the entries say it, or it is of no weight here
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		all = append(all, Check{"settings", OK, fmt.Sprintf("%d settings files are sound", len(o.Files)), ""})
	}
	return all
}

// An ours is an entry of ours on PreToolUse.
type ours struct {
	settings.Entry
	own settings.Own
}

// entries finds our own entries and judges them.
func entries(o Options, r settings.Report) ([]ours, []Check) {
	const name = "entry"
	var found []ours
	var lines []Check
	events := map[string]bool{}
	for _, e := range r.Entries {
		own, ok := settings.Ours(o.Files, e, o.Binaries...)
		if !ok {
			continue
		}
		events[e.Event] = events[e.Event] || e.Runs
		if e.Event != "PreToolUse" {
			continue
		}
		found = append(found, ours{e, own})
		where := fmt.Sprintf("%s:%d", e.File, e.Line)
		switch {
		case !e.Runs:
			lines = append(lines, Check{name, Failed, where + ": the guard does not run: " + e.Why, "hooktrail install, or mend the file"})
		case !e.Blocks && e.Mode == "block" && settings.Older(o.Client, settings.SinceOnFailure):
			lines = append(lines, Check{name, Warning, where + ": " + e.Why, "update the client"})
		case !e.Blocks && e.Mode == "block":
			lines = append(lines, Check{name, Failed, where + ": " + e.Why, "update the client, or take async out"})
		case !e.Blocks:
			lines = append(lines, Check{name, Failed, where + ": " + e.Why, `hooktrail install writes "onFailure": "block"`})
		case e.Matcher != "" && e.Matcher != "*" && e.Matcher != ".*":
			lines = append(lines, Check{name, Warning, where + ": the guard sees only tools that fit " + e.Matcher, "leave the matcher out; the configuration says what is guarded"})
		case own.Condition != "":
			lines = append(lines, Check{name, Warning, where + ": the guard sees only calls that fit " + own.Condition, `leave "if" out`})
		default:
			lines = append(lines, Check{name, OK, where + ": a failure of the guard blocks the call", ""})
		}
	}
	if len(found) == 0 {
		return nil, []Check{{name, Failed, "hooktrail stands before no tool call", "hooktrail install"}}
	}
	if len(found) > 1 {
		lines = append(lines, Check{name, Warning, fmt.Sprintf("the guard stands there %d times and judges every call as often", len(found)), "keep it in one file"})
	}
	if !events["ConfigChange"] {
		lines = append(lines, Check{"protection", Warning, "nothing watches over changes of the settings: a session can switch hooktrail off", "hooktrail install registers ConfigChange"})
	}
	for _, e := range []string{"PostToolBatch", "SessionEnd"} {
		if !events[e] {
			lines = append(lines, Check{"observation", Warning, "hooktrail is not registered on " + e + ", so what became of calls is not recorded", "hooktrail install"})
			break
		}
	}
	return found, lines
}

func siblings(o Options, r settings.Report) []Check {
	var open []string
	for _, e := range r.Entries {
		if _, own := settings.Ours(o.Files, e, o.Binaries...); own || strings.Contains(e.Command, "hooktrail") {
			continue
		}
		if e.Event == "PreToolUse" && e.Runs && !e.Blocks && (e.Type == "command" || e.Type == "http") {
			open = append(open, e.Command)
		}
	}
	if len(open) == 0 {
		return []Check{{"siblings", OK, "no other hook before tool calls fails open", ""}}
	}
	return []Check{{"siblings", Warning, fmt.Sprintf("%d other hooks before tool calls fail open, the first: %s", len(open), open[0]), "hooktrail install --wrap, or give them onFailure"}}
}

// configured looks at the command line of an entry and at what it names.
func (e ours) configured(o Options) []Check {
	if e.own.URL != "" {
		return nil
	}
	var all []Check
	program := e.own.Words[0]
	info, err := os.Stat(program)
	switch {
	case !filepath.IsAbs(program):
		all = append(all, Check{"program", Failed, program + " is found by PATH, which a project's settings can change", "hooktrail install writes the absolute path"})
	case err != nil || info.IsDir():
		all = append(all, Check{"program", Failed, program + " does not exist", "install the program again, then hooktrail install"})
	case info.Mode()&0o111 == 0:
		all = append(all, Check{"program", Failed, program + " is not executable", "chmod +x " + program})
	case info.Mode()&0o022 != 0:
		all = append(all, Check{"program", Warning, program + " can be written by others than its owner", "chmod go-w " + program})
	default:
		all = append(all, Check{"program", OK, program, ""})
	}
	i := slices.Index(e.own.Words, "--config")
	if i < 0 || i+1 >= len(e.own.Words) {
		return append(all, Check{"config", Failed, "the entry names no configuration, so a project's env can choose one", "hooktrail install writes --config"})
	}
	config := e.own.Words[i+1]
	if !filepath.IsAbs(config) {
		all = append(all, Check{"config", Failed, config + " is a relative path, found from wherever the session is", "hooktrail install"})
	}
	if err := o.Config(config); err != nil {
		return append(all, Check{"config", Failed, err.Error(), "every call is blocked until it is mended; hooktrail schema config shows the shape"})
	}
	all = append(all, Check{"config", OK, config, ""})
	budget, err := o.Budget(config)
	switch {
	case err != nil:
		all = append(all, Check{"budget", Failed, err.Error(), "mend the configuration"})
	case e.Timeout > 0 && budget.Seconds() >= e.Timeout:
		all = append(all, Check{"budget", Failed, fmt.Sprintf("the guard may take %v, but the host cancels it after %gs and lets the call run on older clients", budget, e.Timeout), "raise the entry's timeout or lower guard.budget"})
	default:
		all = append(all, Check{"budget", OK, fmt.Sprintf("the guard takes %v at most, the host waits %gs", budget, e.Timeout), ""})
	}
	return all
}
