package observe

import (
	"fmt"
	"strings"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// A Lookup knows the hooks settings in force. Its zero value knows nothing.
type Lookup struct {
	// OnFailure returns the onFailure of the hook with this command line. Nil,
	// or false, means that it is not known.
	OnFailure func(hookEvent, tool, command string) (onFailure string, ok bool)
	// Commands returns the command lines configured for an event. Nil means
	// that they are not known.
	Commands func(hookEvent, tool string) []string
}

func (l Lookup) onFailure(event, tool, command string) string {
	if l.OnFailure == nil || command == "" {
		return ""
	}
	s, _ := l.OnFailure(event, tool, command)
	return s
}

// A hookRun is what the records say about one run of a hook.
type hookRun struct {
	event, name, tool string
	toolUse           string
	command           string
	exitCode          *int64
	durationMs        *int64
	deadlineMs        *int64
	evidence          string
}

func (r hookRun) newEvent(s stamp) *audit.Event {
	e := s.newEvent(audit.Callback)
	// The command line is what tells one hook from another; the host's name is
	// only the event and the tool again.
	name := r.command
	if name == "" {
		name = r.name
	}
	e.HookEvent, e.HookName, e.ToolUseID = r.event, audit.Text(name, 400), r.toolUse
	if r.tool == "" {
		r.tool = toolOfHook(r.name)
	}
	e.Tool, e.MCPServer = r.tool, mcpServer(r.tool)
	e.ExitCode, e.DurationMs, e.DeadlineMs = r.exitCode, r.durationMs, r.deadlineMs
	e.Evidence = r.evidence
	return e
}

// isHTTP tells whether the hook is an http hook: its exit code is a status.
func (r hookRun) isHTTP() bool {
	return strings.HasPrefix(r.command, "http://") || strings.HasPrefix(r.command, "https://") ||
		r.exitCode != nil && *r.exitCode > 255
}

// dropStatus takes an HTTP status out of the exit code and returns it as words.
func (r *hookRun) dropStatus() string {
	if !r.isHTTP() || r.exitCode == nil {
		return ""
	}
	status := *r.exitCode
	r.exitCode = nil
	if status == 0 {
		return "no answer: "
	}
	return fmt.Sprintf("HTTP %d: ", status)
}

// failedOpen records a hook that failed while the host went on.
func failedOpen(s stamp, r hookRun, timedOut bool, onFailure, words string) *audit.Event {
	what := "failed"
	if timedOut {
		what = "timed out"
	}
	words = r.dropStatus() + strings.TrimSpace(words)
	e := r.newEvent(s)
	e.Layer, e.Decision, e.Reason = reason.LayerFailure, reason.Allowed, reason.HookFailedOpen
	e.Gate, e.OnFailure, e.TimedOut = gateNotBlockMode, onFailure, ptr(timedOut)
	msg := fmt.Sprintf("A %s hook %s, and the host went on.", r.event, what)
	if onFailure == "block" { // no branch of the gate goes on over a failure in block mode
		e.Gate = ""
		msg = fmt.Sprintf("A %s hook %s. Its onFailure is block, and yet the host went on.", r.event, what)
	}
	if words != "" {
		msg += " " + words
	}
	e.Message = audit.Text(msg, maxMessage)
	return e
}

// blockedBy records a hook that stopped something. stops is false where the
// host stops nothing, such as after a tool has run.
func blockedBy(s stamp, r hookRun, b blockText, stops bool) *audit.Event {
	if r.command == "" {
		r.command = b.command
	}
	e := r.newEvent(s)
	e.Message = audit.Text(b.rest, maxMessage)
	e.Decision = reason.Blocked
	switch b.how {
	case saidNo:
		e.Layer, e.Reason = reason.LayerHook, reason.HookDenied
		if b.plain {
			e.Reason = reason.HookDeniedPlain
		}
		if !stops { // no branch: the records do not say how it ended, nor its onFailure
			e.Decision = reason.None
		}
	case failed:
		e.Layer, e.Reason, e.Gate = reason.LayerFailure, reason.HookCallbackFailed, gateBlock
		e.OnFailure, e.TimedOut = "block", ptr(false)
	case timedOut:
		e.Layer, e.Reason, e.Gate = reason.LayerFailure, reason.HookCallbackFailed, gateTimeoutBlock
		e.OnFailure, e.TimedOut = "block", ptr(true)
	case unheard:
		e.Layer, e.Reason, e.Gate = reason.LayerFailure, reason.HookCallbackFailed, gateTimeoutBlock
		e.TimedOut = ptr(true)
	}
	return e
}

// stopsCall tells whether a block of this event keeps something from happening.
func stopsCall(event string) bool {
	switch event {
	case "PostToolUse", "PostToolUseFailure", "Notification", "SessionStart", "SessionEnd", "SubagentStart", "Setup":
		return false
	}
	return true
}

// An attachment is the host's record of one hook's run.
type attachment struct {
	Type       string `json:"type"`
	HookName   string `json:"hookName"`
	ToolUseID  string `json:"toolUseID"`
	HookEvent  string `json:"hookEvent"`
	Content    any    `json:"content"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	ExitCode   *int64 `json:"exitCode"`
	Command    string `json:"command"`
	DurationMs *int64 `json:"durationMs"`
	TimedOut   bool   `json:"timedOut"`
	TimeoutMs  *int64 `json:"timeoutMs"`
	ToolName   string `json:"toolName"`
	Decision   string `json:"decision"`
	Message    string `json:"message"`

	BlockingError struct {
		BlockingError string `json:"blockingError"`
		Command       string `json:"command"`
	} `json:"blockingError"`
}

// callback returns the event of an attachment, or nil when it records nothing of
// its own. via names the kind of record for Evidence.
func (l Lookup) callback(s stamp, a attachment, via string) *audit.Event {
	r := hookRun{
		event: a.HookEvent, name: a.HookName, tool: a.ToolName, toolUse: a.ToolUseID, command: a.Command,
		exitCode: a.ExitCode, durationMs: a.DurationMs, deadlineMs: a.TimeoutMs,
		evidence: via + ":" + a.Type,
	}
	if toolOfHook(a.HookName) == "" {
		r.toolUse = "" // on events without a call this is an id of the host's own
	}
	mode := l.onFailure(a.HookEvent, toolOfHook(a.HookName), a.Command)
	switch a.Type {
	case "hook_non_blocking_error":
		if a.Command == "" && a.ExitCode != nil && *a.ExitCode == 0 {
			r.exitCode = nil // an http hook that could not be reached
		}
		words := strings.TrimPrefix(a.Stderr, "Failed with non-blocking status code: ")
		if strings.Contains(words, failedMark) || strings.Contains(words, timedOutMark) {
			mode, r.exitCode = "block", nil // the host puts a 2 there, whatever it was
		}
		if heard, lost := readAnswer(a.Stdout); lost == saidDeny || heard == saidDeny {
			words = "It tried to deny the call, and the host did not take its answer: " + words
		}
		return failedOpen(s, r, false, mode, words)
	case "hook_cancelled":
		if a.TimedOut {
			return failedOpen(s, r, true, mode, "")
		}
		return l.observed(s, r, "A hook was cancelled.")
	case "hook_success", "async_hook_response":
		return l.worked(s, r, a, mode)
	case "hook_blocking_error":
		r.command = a.BlockingError.Command
		b, ok := parseCommand(a.BlockingError.BlockingError, []string{r.command})
		if !ok {
			b = blockText{rest: a.BlockingError.BlockingError}
		}
		if b.how == saidNo && isOwn(r.command) {
			return nil
		}
		return blockedBy(s, r, b, stopsCall(a.HookEvent))
	case "hook_stopped_continuation":
		if r.toolUse != "" {
			return nil // the run itself, or the call's result, tells it
		}
		b, ok := parseCommand(a.Message, l.commands(a.HookEvent, ""))
		if !ok {
			b = blockText{rest: a.Message}
		}
		if b.how == saidNo && isOwn(b.command) {
			return nil
		}
		return blockedBy(s, r, b, true)
	case "hook_permission_decision":
		if a.Decision != "allow" {
			return nil // the call's result tells it
		}
		e := r.newEvent(s)
		e.HookEvent, e.ToolUseID = "PermissionRequest", a.ToolUseID
		e.Layer, e.Decision, e.Reason = reason.LayerHook, reason.Allowed, reason.HookAllowed
		e.Message = "A PermissionRequest hook allowed the call."
		return e
	}
	return nil
}

func (l Lookup) commands(event, tool string) []string {
	if l.Commands == nil {
		return nil
	}
	return l.Commands(event, tool)
}

func (l Lookup) observed(s stamp, r hookRun, message string) *audit.Event {
	r.dropStatus()
	e := r.newEvent(s)
	e.Layer, e.Decision, e.Reason, e.Message = reason.LayerNone, reason.None, reason.Observed, message
	return e
}

// worked records a hook that the host counts as successful. It is also where a
// deny is found that the host took for plain text.
func (l Lookup) worked(s stamp, r hookRun, a attachment, mode string) *audit.Event {
	async := a.Type == "async_hook_response"
	heard, lost := readAnswer(a.Stdout)
	switch {
	case async && a.ExitCode != nil && *a.ExitCode != 0:
		return failedOpen(s, r, false, mode, "It runs beside the call and holds nothing up. "+a.Stderr)
	case async && (heard == saidDeny || lost == saidDeny):
		return failedOpen(s, r, false, mode, "It denied, but it runs beside the call and holds nothing up.")
	case lost == saidDeny || lost == saidAsk || lost == saidStop:
		word := map[said]string{saidDeny: "deny", saidAsk: "ask", saidStop: "stop"}[lost]
		return failedOpen(s, r, false, mode, "The host took its "+word+" for plain text, because its output is not one JSON object.")
	case lost == saidBroken:
		return failedOpen(s, r, false, mode, "The host took its answer for plain text, because it is not one JSON object.")
	case isOwn(a.Command):
		return nil
	case a.ExitCode != nil && *a.ExitCode == 2:
		return nil // exit 2 beats an allow; the call's result tells it
	case heard == saidDeny && a.HookEvent == "PreToolUse":
		return nil // likewise
	}
	r.dropStatus()
	e := r.newEvent(s)
	e.Layer, e.Decision, e.Reason = reason.LayerHook, reason.Allowed, reason.HookOK
	e.OnFailure, e.TimedOut = mode, ptr(false)
	switch exit := r.exitCode; { // an answer counts whatever the exit code; the gate's branch of the code alone is none then
	case exit != nil && *exit != 0:
	case mode == "block":
		e.Gate = gateAllow
	case mode == "continue":
		e.Gate = gateNotBlockMode
	}
	switch heard {
	case saidAllow:
		e.Reason = reason.HookAllowed
	case saidAsk:
		e.Decision, e.Reason = reason.Asked, reason.HookAsked
	case saidDefer:
		e.Decision, e.Reason = reason.Deferred, reason.HookAsked
	case saidDeny:
		e.Reason, e.Message = reason.HookDenied, "A hook answered with a deny."
	case saidStop:
		e.Decision, e.Reason = reason.Blocked, reason.HookDenied
		if a.HookEvent == "PreToolUse" {
			e.Message = "A hook answered continue: false. The host lets the call run first and then ends the turn."
		}
	case saidNothing, saidBroken:
	}
	return e
}
