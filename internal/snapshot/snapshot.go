// Package snapshot is the checkpoint provider that runs a command of the user's,
// such as a snapshot tool, once for each machine.
//
// The command gets one JSON object on standard input:
//
//	{"vm":"app01","kind":"name","site":"","tool":"mcp__x__stop","sessionId":"…","toolUseId":"…"}
//
// and prints one when the snapshot is there to go back to:
//
//	{"id":"snap-12","time":"2026-12-01T10:00:00Z"}
//
// id must not be empty; time may be left out. Exit status 0 with such an object
// is the proof; anything else, a late end included, is a failed checkpoint, and
// the call is denied. The command is run without a shell.
//
// A project's settings can put variables into the environment of a user's hook. So
// that none of them makes another program answer for the command, it is looked up,
// and run, with a PATH of the system's folders. HOME is what the system has for the
// user, and of the environment it gets only the user's name and language, and what the
// configuration names (exec.env).
package snapshot

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"hooktrail/internal/config"
	"hooktrail/internal/event"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/supervise"
)

// DefaultTimeout bounds one run of the command.
const DefaultTimeout = 60 * time.Second

// reserve is what is left of the guard's budget for the answer.
const reserve = 500 * time.Millisecond

// A Provider runs the command. Several goroutines may use it at once.
type Provider struct {
	command []string
	env     []string
	timeout time.Duration
	now     func() time.Time
}

// New returns the provider that c describes. getenv reads our environment. It and
// now must not be nil.
func New(c config.Exec, getenv func(string) string, now func() time.Time) (*Provider, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return nil, reason.Wrap(reason.ConfigInvalid, "exec.command names no program", nil)
	}
	env, err := environment(c.Env, getenv)
	if err != nil {
		return nil, err
	}
	command := append([]string{find(c.Command[0])}, c.Command[1:]...)
	return &Provider{command: command, env: env, timeout: c.Timeout.Or(DefaultTimeout), now: now}, nil
}

// Name implements guard.Provider.
func (p *Provider) Name() string { return "exec" }

// Protect implements guard.Provider. The machines are taken one after the other,
// and the first that fails ends it: all need a snapshot, so the rest would be
// made in vain.
func (p *Provider) Protect(ctx context.Context, r guard.Request) guard.Outcome {
	var done []guard.Checkpoint
	for _, vm := range r.VMs {
		if err := report(r, "requested", guard.Checkpoint{Provider: p.Name(), VM: vm.Ref, Site: vm.Site, Platform: "unknown"}, "The snapshot command is run for "+guard.Shown(vm.Ref)+"."); err != nil {
			return unrecorded(done, fmt.Sprintf("The snapshot of %s was not asked for, because its request could not be recorded: %v.", guard.Shown(vm.Ref), err))
		}
		cp, why := p.one(ctx, r, vm)
		action, message := "confirmed", "The snapshot of "+guard.Shown(vm.Ref)+" is there."
		if why != "" {
			action, message = "failed", why
		}
		cp.State = action
		if err := report(r, action, cp, message); err != nil && why == "" {
			return unrecorded(append(done, cp), fmt.Sprintf("The snapshot %s of %s is there, and that could not be recorded: %v.", cp.ID, guard.Shown(vm.Ref), err))
		}
		if why != "" {
			return guard.Outcome{
				Code:        reason.GuardCheckpointFailed,
				Message:     fmt.Sprintf("There is no snapshot of %s to go back to: %s. Nothing was changed. Mend the snapshot command, then try again.", guard.Shown(vm.Ref), why),
				Checkpoints: append(done, cp),
			}
		}
		done = append(done, cp)
	}
	return guard.Outcome{
		Code:        reason.GuardCheckpointConfirmed,
		Message:     fmt.Sprintf("Snapshots were made before the change: %s.", describe(done)),
		Context:     fmt.Sprintf("Before this change hooktrail had a snapshot made of each machine: %s. If the change goes wrong, restore it from there.", describe(done)),
		Checkpoints: done,
	}
}

// report passes a step on.
func report(r guard.Request, action string, cp guard.Checkpoint, message string) error {
	if r.Report == nil {
		return nil
	}
	cp.State = action
	return r.Report(action, cp, message)
}

// unrecorded denies for want of a record, not of a snapshot.
func unrecorded(cps []guard.Checkpoint, what string) guard.Outcome {
	return guard.Outcome{
		Code:        reason.AuditUnavailable,
		Message:     what + " Nothing was changed. Mend the audit log, then try again.",
		Checkpoints: cps,
	}
}

type request struct {
	VM        string     `json:"vm"`
	Kind      guard.Kind `json:"kind"`
	Site      string     `json:"site"`
	Tool      string     `json:"tool"`
	SessionID string     `json:"sessionId"`
	ToolUseID string     `json:"toolUseId"`
}

func (p *Provider) one(ctx context.Context, r guard.Request, vm guard.VM) (guard.Checkpoint, string) {
	start := p.now()
	cp := guard.Checkpoint{Provider: p.Name(), VM: vm.Ref, Site: vm.Site, Platform: "unknown"}
	kind := vm.Kind
	if kind == "" {
		kind = guard.Name
	}
	if !filepath.IsAbs(p.command[0]) {
		return cp, fmt.Sprintf("the command %s could not be started: it is not in %s; write its full path", p.command[0], systemPath())
	}
	in, err := json.Marshal(request{vm.Ref, kind, vm.Site, r.Tool, r.SessionID, r.ToolUseID})
	if err != nil {
		return cp, err.Error()
	}
	deadline := start.Add(p.timeout)
	if d, ok := ctx.Deadline(); ok && d.Add(-reserve).Before(deadline) {
		deadline = d.Add(-reserve)
	}
	res := supervise.Run(ctx, supervise.Spec{Command: p.command, Env: p.env, Stdin: append(in, '\n'), Deadline: deadline, Now: p.now})
	cp.Waited = res.Duration
	switch {
	case res.Cancelled:
		return cp, fmt.Sprintf("the command %s was not done when the host gave up", p.command[0])
	case !res.Started:
		return cp, fmt.Sprintf("the command %s could not be started: %s", p.command[0], res.StartError)
	case res.TimedOut:
		return cp, fmt.Sprintf("the command %s did not end within %v", p.command[0], deadline.Sub(start).Round(time.Millisecond))
	case res.ExitCode != 0:
		return cp, fmt.Sprintf("the command %s ended with status %d: %s", p.command[0], res.ExitCode, firstLine(res.Stderr.Head))
	}
	why := proof(res.Stdout.Head, &cp)
	return cp, why
}

// proof reads what the command printed.
func proof(out []byte, cp *guard.Checkpoint) string {
	v, err := event.Decode(out, 8)
	if err != nil {
		return "the command's output is not one JSON object: " + err.Error()
	}
	m, _ := v.(map[string]any)
	id, _ := m["id"].(string)
	if strings.TrimSpace(id) == "" {
		return `the command's output has no "id"`
	}
	cp.ID = id
	if text, ok := m["time"].(string); ok && text != "" {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return `the command's "time" is not of the form 2026-12-01T10:00:00Z`
		}
		cp.Time = t
	}
	return ""
}

func describe(cps []guard.Checkpoint) string {
	parts := make([]string, len(cps))
	for i, c := range cps {
		parts[i] = guard.Shown(c.VM) + ": " + c.ID
		if !c.Time.IsZero() {
			parts[i] += " of " + c.Time.UTC().Format(time.RFC3339)
		}
	}
	return strings.Join(parts, "; ")
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "")
	}
	if line == "" {
		return "it said nothing"
	}
	return line
}
