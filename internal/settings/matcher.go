package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"

	"hooktrail/internal/event"
)

// plainNames are the matchers that the host compares as a list of whole names;
// it tests any other as a JavaScript regular expression.
var plainNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_|, -]+$`) })

// names returns the names of a matcher that is a list of them.
func names(eventName, matcher string) ([]string, bool) {
	if !plainNames().MatchString(matcher) {
		return nil, false
	}
	sep := func(r rune) bool { return r == '|' || r == ',' }
	if !slices.Contains(namesMatcher, eventName) {
		if strings.ContainsAny(matcher, ", -") {
			return nil, false
		}
		sep = func(r rune) bool { return r == '|' }
	}
	var all []string
	for _, n := range strings.FieldsFunc(matcher, sep) {
		if n = strings.TrimSpace(n); n != "" {
			all = append(all, n)
		}
	}
	return all, true
}

func matchesAll(matcher string) bool {
	return matcher == "" || matcher == "*" || matcher == ".*" || matcher == "^.*$"
}

// overlap tells whether two matchers surely fit a common name.
func overlap(eventName, a, b string) bool {
	if a == b || matchesAll(a) || matchesAll(b) || slices.Contains(noMatcher, eventName) {
		return true
	}
	x, ok1 := names(eventName, a)
	y, ok2 := names(eventName, b)
	if !ok1 || !ok2 {
		return false
	}
	return slices.ContainsFunc(x, func(s string) bool { return slices.Contains(y, s) })
}

// A matcherFault is what a matcher does not do.
type matcherFault struct {
	severity            Severity
	code, message, hint string
}

// matcherFaults judges a matcher by what it is compared with on its event.
func matcherFaults(eventName, m string) []matcherFault {
	if matchesAll(m) {
		return nil
	}
	if slices.Contains(noMatcher, eventName) {
		return []matcherFault{{Note, "matcher-ignored", fmt.Sprintf("%s has nothing to match; the entry runs whatever its matcher says", eventName), "leave the matcher out"}}
	}
	if list, ok := names(eventName, m); ok {
		return deadNames(eventName, m, list)
	}
	re, err := regexp2.Compile(m, regexp2.ECMAScript)
	if bad := notJS().FindString(m); bad != "" && err == nil {
		err = fmt.Errorf("JavaScript has no %s", bad)
	}
	if err != nil {
		if jsOnly(m) {
			return nil
		}
		return []matcherFault{{
			Error, "matcher-regex", fmt.Sprintf("the matcher %q is no regular expression (%v), so the entry never runs", m, trimRegexError(err)),
			"escape the special characters, or name the tools: Bash, Write|Edit, mcp__server__.*",
		}}
	}
	re.MatchTimeout = 100 * time.Millisecond
	return deadRegex(eventName, m, re)
}

// jsOnly tells whether a pattern uses what JavaScript knows and the library
// does not: the host judges it better than we can.
func jsOnly(m string) bool { return strings.Contains(m, `\p{`) || strings.Contains(m, `\P{`) }

// notJS finds what Perl, Python and Go know and JavaScript refuses.
var notJS = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(\?[a-zA-Z]+\)|\(\?P[<=>]|\(\?[>#]|[*+?}]\+`)
})

func trimRegexError(err error) string {
	s := err.Error()
	if _, rest, ok := strings.Cut(s, "error parsing regexp: "); ok {
		s = rest
	}
	return s
}

func deadNames(eventName, m string, list []string) []matcherFault {
	if len(list) == 0 {
		return []matcherFault{{Warning, "matcher-dead", fmt.Sprintf("the matcher %q names nothing, so the entry never runs", m), "leave the matcher out to match everything"}}
	}
	var faults []matcherFault
	var gone []string
	dead := func(message, hint string) {
		faults = append(faults, matcherFault{Warning, "matcher-dead", message, hint})
	}
	for _, n := range list {
		if words, ok := matched[eventName]; ok {
			if k := nearestFold(n, words); k != "" {
				dead(fmt.Sprintf("the matcher %q matches nothing: names are compared whole and by case", n), "write "+k)
			} else if !slices.Contains(words, n) {
				dead(fmt.Sprintf("the matcher %q matches none of the words that the host sends on %s", n, eventName), "one of "+strings.Join(words, ", "))
			}
			continue
		}
		if !slices.Contains(toolEvents, eventName) {
			continue
		}
		parts := strings.SplitN(n, "__", 3)
		switch {
		case parts[0] == "mcp" && len(parts) < 3:
			dead(fmt.Sprintf("the matcher %q matches nothing: a matcher of plain names is compared with the whole name of a tool", n), "write "+strings.TrimRight(n, "_")+"__.* for all tools of the server")
		case slices.Contains(goneTools, n):
			gone = append(gone, n)
		case n == "Task" && !slices.Contains(list, "Agent"):
			faults = append(faults, matcherFault{Note, "matcher-renamed", "hooks are told of the tool Task by its newer name, Agent", "write Agent, or Task|Agent for older hosts"})
		case slices.Contains(tools, n):
		case nearestFold(n, tools) != "":
			dead(fmt.Sprintf("the matcher %q matches nothing: names of tools are compared by case", n), "write "+nearestFold(n, tools))
		case slices.Contains(event.Known(), n):
			dead(fmt.Sprintf("the matcher %q is the name of an event, not of a tool", n), "name tools: Bash, Write|Edit, mcp__server__.*")
		case foreignTools[n] != "":
			dead(fmt.Sprintf("the matcher %q is a tool of %s; Claude Code has none of that name", n, foreignTools[n]), "name tools of Claude Code: Bash, Write|Edit, mcp__server__.*")
		case slices.Contains(tools, strings.TrimSuffix(n, "Tool")):
			dead(fmt.Sprintf("the matcher %q matches nothing: no tool ends so", n), "write "+strings.TrimSuffix(n, "Tool"))
		case unlikely(n):
			dead(fmt.Sprintf("the matcher %q is not the name of a known tool; names are compared whole", n), "if a part of the name is meant, write "+n+".*")
		}
	}
	// Beside a living tool an old name does no harm and serves older hosts.
	if len(gone) == len(list) {
		for _, n := range gone {
			dead(fmt.Sprintf("the matcher %q matches nothing: the host %s has no such tool any more", n, NewestClient), goneHint)
		}
	}
	return faults
}

// unlikely tells whether a name is a shortened or mistyped tool.
func unlikely(n string) bool {
	if near := nearest(n, tools); near != "" && near != n {
		return true
	}
	return len(n) < 4 && slices.ContainsFunc(tools, func(t string) bool { return strings.HasPrefix(t, n) })
}

// goneTools are those that the newest host no longer has.
var goneTools = []string{"MultiEdit", "Glob", "Grep", "BashOutput"}

const goneHint = "name tools that the host has: Bash, Read, Write|Edit|NotebookEdit, Agent"

// foreignTools are tools of other hosts, by their names.
var foreignTools = map[string]string{
	"Shell": "Cursor", "run_shell_command": "Gemini CLI", "write_file": "Gemini CLI", "replace": "Gemini CLI", "read_file": "Gemini CLI",
	"apply_patch": "Codex", "local_shell": "Codex", "exec_command": "Codex", "execute_bash": "Kiro", "fs_write": "Kiro", "fs_read": "Kiro",
	"run_terminal_cmd": "Cursor", "edit_file": "Cursor",
}

func nearestFold(n string, all []string) string {
	for _, k := range all {
		if n != k && strings.EqualFold(n, k) {
			return k
		}
	}
	return ""
}

// notInNames tells whether no name of a tool has a character.
func notInNames(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

var ruleSyntax = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z]\w*)\(([^?].*)\)$`) })

func deadRegex(eventName, m string, re *regexp2.Regexp) []matcherFault {
	if !slices.Contains(toolEvents, eventName) {
		return nil
	}
	dead := func(message, hint string) []matcherFault {
		return []matcherFault{{Warning, "matcher-dead", message, hint}}
	}
	if p := ruleSyntax().FindStringSubmatch(m); p != nil && !strings.ContainsAny(p[2], "|") {
		return dead(fmt.Sprintf("the matcher %q matches nothing: it is a permission rule, and a matcher is compared with the tool's name alone", m),
			fmt.Sprintf("write matcher %q and beside the command \"if\": %q; the filter does not see through bash -c", p[1], m))
	}
	if _, err := re.MatchString("x"); err != nil {
		return []matcherFault{{Warning, "matcher-slow", fmt.Sprintf("the matcher %q takes too long to be tested", m), "write it without nested repetition"}}
	}
	gone := ""
	for _, t := range append(slices.Clone(tools), "mcp__server__tool") {
		ok, err := re.MatchString(t)
		switch {
		case ok && slices.Contains(goneTools, t):
			gone = t
		case ok || err != nil:
			return nil
		}
	}
	if gone != "" {
		return dead(fmt.Sprintf("the matcher %q matches nothing: the host %s has no tool %s any more", m, NewestClient, gone), goneHint)
	}
	if i := strings.IndexFunc(m, notInNames); i >= 0 && !strings.ContainsAny(m, `.*+?^$[](){}|\/ ~`) {
		return dead(fmt.Sprintf("the matcher %q matches no tool: it is taken as it stands, and no tool's name has a %q", m, m[i:i+1]), "name tools: Bash, Write|Edit, mcp__server__.*")
	}
	if strings.Contains(m, "mcp") {
		return nil // names of servers and tools are not known here
	}
	if folded, err := regexp2.Compile(m, regexp2.ECMAScript|regexp2.IgnoreCase); err == nil {
		folded.MatchTimeout = 100 * time.Millisecond
		for _, t := range tools {
			if ok, err := folded.MatchString(t); ok && err == nil {
				return dead(fmt.Sprintf("the matcher %q matches nothing: names of tools are compared by case", m), "the tool is "+t)
			}
		}
	}
	switch {
	case strings.ContainsAny(m, "/ ~") || strings.HasPrefix(m, "*."):
		return dead(fmt.Sprintf("the matcher %q matches no tool: it is compared with the tool's name, not with a path or a command", m), `name the tool, and use "if" or the hook itself for the rest`)
	case strings.HasPrefix(m, "^") || strings.HasSuffix(m, "$"):
		return dead(fmt.Sprintf("the matcher %q matches none of the known tools", m), "name tools: Bash, Write|Edit, mcp__server__.*")
	}
	return nil
}
