package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hooktrail/internal/gate"
)

// An Entry says what one hook entry is and what its failure comes to.
type Entry struct {
	File    string  `json:"file"`
	Layer   string  `json:"layer,omitempty"`
	Path    string  `json:"path"` // JSON Pointer
	Line    int     `json:"line"`
	Event   string  `json:"event"`
	Matcher string  `json:"matcher"` // empty means everything
	Type    string  `json:"type"`
	Command string  `json:"command"`          // what it runs, in one line
	Mode    string  `json:"mode"`             // block or continue, as the host takes it
	Timeout float64 `json:"timeoutS"`         // the host's, in seconds
	Budget  float64 `json:"budgetS,omitzero"` // the hook's own, in seconds, when it says one

	// Runs tells whether the host runs the hook at all.
	Runs bool `json:"runs"`
	// Branch is the branch of hook_failure_gate that a failure takes, and
	// TimeoutBranch that of a timeout. An entry that the host does not load has
	// the branch schema.
	Branch        gate.Branch `json:"branch"`
	TimeoutBranch gate.Branch `json:"timeoutBranch"`
	// Blocks tells whether a failure really holds something back.
	Blocks bool `json:"blocks"`
	// Why says all this in words.
	Why string `json:"why"`

	written string // onFailure as it stands in the file, when the host can read it
}

// foretell fills in what a failure of each entry comes to.
func (c *checker) foretell() {
	for _, e := range c.entries {
		c.foretellEntry(e)
		if e.Timeout == 0 && e.dropped == "" {
			e.Timeout = hostTimeout(e.Event, e.Type).Seconds()
		}
	}
}

func (c *checker) foretellEntry(e *entry) {
	e.Mode = gate.OnFailureContinue
	e.Branch, e.TimeoutBranch = gate.Schema, gate.Schema
	switch {
	case c.void != "" && c.halts:
		e.Why = c.off
		return
	case c.void != "":
		e.Why = "the host throws the whole file away: " + c.void
		return
	case e.dropped != "":
		e.Why = "the host does not load it: " + e.dropped
		return
	}
	e.Branch, e.TimeoutBranch = gate.NotBlockMode, gate.NotBlockMode
	if c.off != "" {
		e.Why = "it does not run: " + c.off
		return
	}
	if why := c.dead(e); why != "" {
		e.Why = "it never runs: " + why
		return
	}
	e.Runs = true
	e.Mode = mode(e)
	why := c.ineffective(e)
	if e.Mode == gate.OnFailureBlock && why == "" {
		e.Branch, e.TimeoutBranch = gate.Block, gate.TimeoutBlock
		eff, known := effects[e.Event]
		e.Blocks = eff.holds
		e.Why = eff.words
		if !known {
			e.Why = "it counts as a block, but nothing is held back on " + e.Event
		}
	} else if why == "" {
		why = `onFailure is not "block"`
	}
	if why != "" {
		e.Why = "a failure is let through: " + why
	}
	c.supervised(e)
	if e.swallowed != "" {
		e.Branch, e.Blocks = gate.NotBlockMode, false
		e.Why += fmt.Sprintf("; but the shell loses the command's own status by %.40q, so its failures are let through", e.swallowed)
	}
}

// mode returns the mode as the host takes it.
func mode(e *entry) string {
	f := e.node.Get("onFailure")
	if e.Type == "mcp_tool" && f != nil && f.Text != gate.OnFailureContinue {
		return gate.OnFailureBlock
	}
	if e.written == gate.OnFailureBlock && (e.Type == "command" || e.Type == "http") {
		return gate.OnFailureBlock
	}
	return gate.OnFailureContinue
}

// ineffective says why onFailure "block" on an entry does nothing, or "".
func (c *checker) ineffective(e *entry) string {
	f := e.node.Get("onFailure")
	if f == nil || f.Text == gate.OnFailureContinue {
		return ""
	}
	switch {
	case e.Type == "prompt" || e.Type == "agent":
		return "hooks of type " + e.Type + " have no onFailure"
	case Older(c.o.Client, SinceOnFailure):
		return fmt.Sprintf("host %s ignores onFailure, which came with %s", c.o.Client, SinceOnFailure)
	case e.Type == "command" && (e.node.Get("async").IsTrue() || e.node.Get("asyncRewake").IsTrue()):
		return "an async hook never blocks anything, and onFailure is ignored on hooks that run in the background"
	case slices.Contains(ignoresOnFailure, e.Event):
		return "onFailure is ignored on " + e.Event
	}
	return ""
}

// without are the findings about an onFailure that does nothing.
func (c *checker) without(e *entry) {
	f := e.node.Get("onFailure")
	if e.dropped != "" || f == nil || f.Text != gate.OnFailureBlock {
		return
	}
	path := pointer(e.Path, "onFailure")
	if why := c.ineffective(e); why != "" {
		if e.Type != "prompt" && e.Type != "agent" { // that is said where the key is found
			code := "key-without-effect"
			if strings.HasPrefix(why, "host ") {
				code = "client-too-old"
			}
			c.add(Warning, f.Pos, path, code, "onFailure has no effect here: "+why, "")
		}
		return
	}
	if eff, ok := effects[e.Event]; !ok {
		c.add(Note, f.Pos, path, "key-without-effect", fmt.Sprintf("a block on %s holds nothing back", e.Event), "")
	} else if e.Event == "PostToolBatch" {
		c.add(Warning, f.Pos, path, "ends-turn", "a failure of this hook ends the turn: "+eff.words, `leave onFailure out, unless that is wanted`)
	}
}

// supervised notes hooks that fail closed by themselves.
func (c *checker) supervised(e *entry) {
	if len(e.words) < 2 || strings.TrimSuffix(filepath.Base(e.words[0]), ".exe") != "hooktrail" {
		return
	}
	switch e.words[1] {
	case "hook":
		if e.Event == "PreToolUse" && !e.Blocks && !e.node.Get("async").IsTrue() && !e.node.Get("asyncRewake").IsTrue() {
			e.Why += `; hooktrail itself answers its own failures with exit status 2, but the host lets the call run when it cannot start it`
		}
	case "run":
		v, ok := flagValue(beforeDashes(e.words[2:]), "on-failure")
		if ok && v != gate.OnFailureBlock {
			return
		}
		eff := effects[e.Event]
		if e.Event == "PreToolUse" && eff.holds {
			e.Branch, e.TimeoutBranch, e.Blocks = gate.Block, gate.TimeoutBlock, true
			if e.Mode != gate.OnFailureBlock {
				e.Why = "hooktrail run turns a failure of its command into exit status 2 on any client; only when hooktrail itself cannot start does the call run"
			}
		}
	}
}

// dead says why an entry's matcher never fits, or "".
func (c *checker) dead(e *entry) string {
	faults := matcherFaults(e.Event, e.Matcher)
	list, plain := names(e.Event, e.Matcher)
	dead := 0
	why := ""
	for _, f := range faults {
		if f.code == "matcher-dead" || f.code == "matcher-regex" {
			dead++
			why = f.message
		}
	}
	if dead > 0 && (!plain || dead >= len(list)) {
		return why
	}
	return ""
}
