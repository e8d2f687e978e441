package settings

import (
	"fmt"
	"slices"
	"strings"

	"hooktrail/internal/event"
)

// guarding looks at what makes an entry before a call no guard, although the
// host loads and runs it.
func (c *checker) guarding(e *entry) {
	n := e.node
	if at := n.Get("if"); isGuard(e.Event) && at.IsString() {
		c.add(Note, at.Pos, pointer(e.Path, "if"), "if-is-filter", `"if" is a filter and not a guard: a call that it does not recognise, such as bash -c "…", runs without this hook`,
			"leave it out and let the hook look at every call, if it has to hold calls back")
	}
	if e.Type != "command" {
		return
	}
	at, path := n.Get("command"), pointer(e.Path, "command")
	for _, k := range []string{"async", "asyncRewake"} {
		if v := n.Get(k); isGuard(e.Event) && v.IsTrue() {
			c.add(Warning, v.Pos, pointer(e.Path, k), "async-guard", "an async hook never blocks anything: the call does not wait for it, and its exit status 2 is ignored",
				"leave "+k+" out, if the hook has to hold calls back")
		}
	}
	if !effects[e.Event].holds {
		return
	}
	if how := swallowed(e); how != "" {
		e.swallowed = how
		c.add(Warning, at.Pos, path, "status-lost", fmt.Sprintf("the hook's status is lost by %.40q, so it never blocks by exit status, nor when it fails", how), "let the status of the hook itself be the last one")
	}
	if asksHelp(e.words) {
		c.add(Warning, at.Pos, path, "prints-help", "the command only prints its help and ends with exit status 0, so it never blocks", "take the help flag out")
	}
}

// asksHelp tells whether a command line of ours only prints help.
func asksHelp(words []string) bool {
	if len(words) < 2 || !isHooktrail(words[0]) {
		return false
	}
	return words[1] == "help" || slices.ContainsFunc(beforeDashes(words[1:]), func(w string) bool {
		return w == "-h" || w == "-help" || w == "--help"
	})
}

// failsOpen notes hooks before a call that let it run when they fail.
func (c *checker) failsOpen(e *entry) {
	switch {
	case !isGuard(e.Event) || e.dropped != "" || c.dead(e) != "" || Older(c.o.Client, SinceOnFailure):
	case e.Type != "command" && e.Type != "http" && e.Type != "mcp_tool":
	case e.node.Get("onFailure") != nil || e.node.Get("async").IsTrue() || e.node.Get("asyncRewake").IsTrue():
	case strings.Contains(e.Command, "hooktrail run"): // it turns failures into blocks by itself
	default:
		comes := "the call runs when it fails"
		if e.Event != event.PreToolUse {
			comes = "the request is as if it were not there when it fails"
		}
		c.add(Note, e.pos, e.Path, "fails-open", "this hook has no onFailure, so "+comes, `add "onFailure": "block" if it is a guard`)
	}
}
