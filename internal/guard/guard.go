// Package guard judges tool calls by a catalogue: what only reads goes on, what
// changes a machine goes on once there is a confirmed way back, and what nobody
// has listed is asked about.
//
// The guard itself is pure but for the one question to a Provider. It refuses to
// guess: an argument that does not name a machine beyond doubt is asked about,
// and a provider that cannot tell is a denial.
package guard

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/match"

	"hooktrail/internal/answer"
	"hooktrail/internal/config"
	"hooktrail/internal/reason"
)

// DefaultBudget is the time a guard may take. It stays under the 180 s that
// install gives the hook at the host.
const DefaultBudget = 150 * time.Second

// A Guard judges calls. Several goroutines may use it at once.
type Guard struct {
	scope      []string
	rules      []rule
	unlisted   string
	unattended string
	budget     time.Duration
	provider   Provider
}

// A Call is what the guard judges.
type Call struct {
	Tool           string
	ToolUseID      string
	SessionID      string
	PermissionMode string
	Input          []byte // the tool input, one JSON object encoded from the judged value; see Reads

	// Report passes a checkpoint's steps on; see Request.
	Report func(action string, c Checkpoint, message string) error
}

// A Verdict is the guard's word on a call.
type Verdict struct {
	answer.Verdict

	// Target names the machines that the call is about; empty if none is known.
	Target      string
	Checkpoints []Checkpoint
}

// New compiles the catalogue. Its errors have code reason.ConfigInvalid.
// provider may be nil: mutating calls are then denied, since there is nobody to
// make a way back.
func New(c config.Config, provider Provider) (*Guard, error) {
	g := &Guard{
		scope:      c.Guard.Scope,
		unlisted:   c.Guard.Unlisted,
		unattended: c.Guard.Unattended,
		budget:     c.Guard.Budget.Or(DefaultBudget),
		provider:   provider,
	}
	all := append(older(c), c.Guard.Rules...)
	for i, r := range all {
		compiled, err := compile(r)
		if err != nil {
			return nil, reason.Wrap(reason.ConfigInvalid, fmt.Sprintf("guard rule %d (%s)", i+1, strings.Join(r.Tools, ", ")), err)
		}
		g.rules = append(g.rules, compiled)
	}
	if c.Guard.Scope == nil && len(all) > 0 {
		g.scope = []string{"*"}
	}
	return g, nil
}

// older turns the older spelling of a catalogue into rules.
func older(c config.Config) []config.Rule {
	var rules []config.Rule
	// The changing ones first: a tool in both lists is a changing one.
	for _, name := range slices.Sorted(maps.Keys(c.MutatingTools)) {
		r := config.Rule{Tools: []string{name}, Class: classMutating}
		if arg := c.MutatingTools[name].VMArg; arg != "" {
			r.VM = config.VMs{{Path: arg}}
		}
		rules = append(rules, r)
	}
	if len(c.ReadOnlyTools) > 0 {
		rules = append(rules, config.Rule{Tools: c.ReadOnlyTools, Class: classReadOnly})
	}
	return rules
}

// Budget is the time that Judge may take.
func (g *Guard) Budget() time.Duration { return g.budget }

// Reads tells whether the verdict on a tool's calls depends on their input, so
// that megabytes need not be encoded for nothing.
func (g *Guard) Reads(tool string) bool {
	if !anyMatch(g.scope, tool) {
		return false
	}
	for i := range g.rules {
		r := &g.rules[i]
		if anyMatch(r.tools, tool) && (r.when != nil || r.class == classMutating) {
			return true
		}
	}
	return false
}

// Judge returns the verdict on a call before ctx ends, as far as the provider
// keeps its promise.
func (g *Guard) Judge(ctx context.Context, c Call) Verdict {
	v := g.judge(ctx, c)
	if v.Decision == answer.Ask && g.unattended != "ask" && nobodyIsAsked(c.PermissionMode) {
		v.Decision = answer.Deny
		v.Code = reason.GuardUnattended
		v.Message = fmt.Sprintf("%s Nobody can be asked in permission mode %s, so the call was stopped.", v.Message, c.PermissionMode)
	}
	return v
}

// nobodyIsAsked tells whether the host answers a question itself in this mode.
func nobodyIsAsked(mode string) bool { return mode == "dontAsk" || mode == "auto" }

func (g *Guard) judge(ctx context.Context, c Call) Verdict {
	if !anyMatch(g.scope, c.Tool) {
		return say(answer.NoDecision, reason.GuardUnguarded, "The tool is outside the guard's scope.")
	}
	r, two := g.rule(c)
	forbidden := r != nil && r.class == classDeny || r == nil && g.unlisted == "deny"
	if two != "" && !forbidden {
		return twoCalls(c.Tool, two)
	}
	if r == nil {
		return g.unlistedVerdict(c.Tool)
	}
	switch r.class {
	case classReadOnly:
		return say(answer.NoDecision, reason.GuardReadOnly, "The call only reads.")
	case classCreates:
		return say(answer.NoDecision, reason.GuardUnguarded, "The call makes a new machine; there is nothing to go back to yet.")
	case classDeny:
		return say(answer.Deny, reason.GuardRuleDenied, cmp.Or(r.message, fmt.Sprintf("A rule of the guard forbids %s. Nothing was changed.", Shown(c.Tool))))
	default:
		return g.mutating(ctx, r, c)
	}
}

// rule returns the first rule that fits, or nil. two says why a reader that does
// not mind case could find another one.
func (g *Guard) rule(c Call) (r *rule, two string) {
	for i := range g.rules {
		r := &g.rules[i]
		if !anyMatch(r.tools, c.Tool) {
			continue
		}
		if r.when != nil && two == "" {
			two = twin(c.Input, r.when.path)
		}
		if r.when.holds(c.Input) {
			return r, two
		}
	}
	return nil, two
}

// twoCalls asks about a call that is another one to a reader that does not mind
// case.
func twoCalls(tool, why string) Verdict {
	return say(answer.Ask, reason.GuardVMAmbiguous, fmt.Sprintf("It is not certain what %s would do: %s. Nothing was changed. Name each argument once.", Shown(tool), why))
}

func (g *Guard) unlistedVerdict(tool string) Verdict {
	switch g.unlisted {
	case "allow":
		return say(answer.NoDecision, reason.GuardToolUnlisted, "The tool is in no rule; the configuration lets such calls through.")
	case "deny":
		return say(answer.Deny, reason.GuardToolUnlisted, fmt.Sprintf("No rule of the guard knows %s, and the configuration denies such calls. Nothing was changed. Add a rule to let it through.", Shown(tool)))
	default:
		return say(answer.Ask, reason.GuardToolUnlisted, fmt.Sprintf("No rule of the guard knows %s, so it is not known whether it changes a machine.", Shown(tool)))
	}
}

func (g *Guard) mutating(ctx context.Context, r *rule, c Call) Verdict {
	vms, why := r.machines(c.Input)
	if why != "" {
		return say(answer.Ask, reason.GuardVMMissing, fmt.Sprintf("%s changes a machine, but %s. There is no checkpoint to go back to.", Shown(c.Tool), why))
	}
	if two := r.twin(c.Input); two != "" {
		return twoCalls(c.Tool, two)
	}
	if g.provider == nil {
		return say(answer.Deny, reason.GuardCheckpointFailed, fmt.Sprintf("%s changes a machine, and no checkpoint provider is configured. Nothing was changed. Configure zerto or exec.", Shown(c.Tool)))
	}
	ctx, cancel := context.WithTimeout(ctx, g.budget)
	defer cancel()
	o := g.provider.Protect(ctx, Request{
		Tool: c.Tool, ToolUseID: c.ToolUseID, SessionID: c.SessionID, Input: c.Input, VMs: vms, Report: c.Report,
	})
	v := say(decisionFor(o.Code), o.Code, o.Message)
	v.Context = o.Context
	v.Checkpoints = o.Checkpoints
	v.Target = names(vms)
	if v.Code.Layer() != reason.LayerGuard && v.Code != reason.AuditUnavailable {
		v.Decision, v.Code = answer.Deny, reason.GuardCheckpointFailed
	}
	if v.Decision == answer.NoDecision && ctx.Err() != nil {
		// The proof came after the budget: the host may have gone on without us.
		v.Decision, v.Code, v.Context = answer.Deny, reason.GuardCheckpointUnconfirmed, ""
		v.Message = "The checkpoint was confirmed too late for this call. Nothing was changed. Try again."
	}
	return v
}

// decisionFor is the table of what a provider's outcome means. Only one code
// lets the call through; a code that nobody thought of denies.
func decisionFor(c reason.Code) answer.Decision {
	switch c {
	case reason.GuardCheckpointConfirmed:
		return answer.NoDecision
	case reason.GuardVMUnknown, reason.GuardVMUnprotected, reason.GuardVMAmbiguous, reason.GuardVMMissing:
		return answer.Ask
	default:
		return answer.Deny
	}
}

func say(d answer.Decision, c reason.Code, message string) Verdict {
	return Verdict{Verdict: answer.Verdict{Decision: d, Code: c, Message: message}}
}

func names(vms []VM) string {
	refs := make([]string, len(vms))
	for i, v := range vms {
		refs[i] = v.Ref
	}
	return strings.Join(refs, ", ")
}

func anyMatch(globs []string, name string) bool {
	for _, g := range globs {
		if match.Match(name, g) {
			return true
		}
	}
	return false
}
