package observe

import (
	"strings"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// A denial is what the records say about one refused call.
type denial struct {
	text       string // what the model is told
	source     string // permissionDecision
	reasonType string
	reasonCode string
	kind       string // toolDenialKind, non_execution_kind
	deniedType string // decision_reason_type of a permission_denied line
	deniedLine bool   // there was such a line
	attended   bool   // a person sits at the client
}

// A finding is what a denial comes down to: a hook's block, or a reason of the
// permission layer with what it rests on. The zero finding is none.
type finding struct {
	hook     *blockText
	code     reason.Code
	evidence string
}

// judge tells what refused the call. It trusts the reason code most, then the
// kind of denial, and the text least: a text can be imitated.
func (d denial) judge(known func(event, tool string) []string) finding {
	asked := d.kind == "user-rejected"
	if d.reasonCode != "" && d.reasonCode != "unknown" {
		return d.byCode(asked, known)
	}
	if d.source == "hook" {
		if b, ok := parseBlock(d.text, known); ok {
			return finding{hook: &b, evidence: "text"}
		}
		return finding{code: reason.PermissionHook, evidence: "source=hook"}
	}
	if d.deniedLine {
		return d.byLine(asked)
	}
	if d.kind != "" {
		return d.byKind()
	}
	return byText(d.text, known)
}

func (d denial) byCode(asked bool, known func(event, tool string) []string) finding {
	f := finding{evidence: "reasonCode=" + d.reasonCode}
	head, _, _ := strings.Cut(d.reasonCode, ":")
	switch head {
	case "hook":
		if asked { // a hook asked, and the answer was no
			f.code = d.askedCode(reason.PermissionUnattendedHook)
			return f
		}
		b, ok := parseBlock(d.text, known)
		if d.reasonCode == "hook:PermissionRequest" {
			if ok && b.how != saidNo {
				b.hookEvent = "PermissionRequest"
				f.hook = &b
				return f
			}
			f.code = reason.PermissionHook
			return f
		}
		if !ok {
			b = blockText{hookEvent: strings.TrimPrefix(d.reasonCode, "hook:"), rest: d.text}
		}
		f.hook = &b
	case "rule", "subcommands", "subcommandResults":
		f.code = reason.PermissionRule
	case "mode":
		f.code = reason.PermissionMode
	case "classifier", "classifierTranscriptTooLong":
		f.code = reason.PermissionClassifier
	case "permissionPromptTool", "canUseToolInvalidResult", "canUseToolRequestFailed":
		f.code = reason.PermissionUser
	case "sandboxOverride", "workingDir", "restrictedMode", "outsideReadsBlocked", "outsideWritesBlocked", "noProjectDirectory":
		f.code = reason.PermissionMode
	default:
		f.code = d.byKind().code
	}
	if asked {
		f.code = d.askedCode(unattended(f.code))
	}
	return f
}

// askedCode is for calls that somebody was to be asked about; nobody is the
// code if there was nobody.
func (d denial) askedCode(nobody reason.Code) reason.Code {
	if d.attended {
		return reason.PermissionUser
	}
	return nobody
}

// unattended returns the code for an approval that nobody was there to give,
// when a refusal on the same ground would have had the code c.
func unattended(c reason.Code) reason.Code {
	switch c {
	case reason.PermissionRule:
		return reason.PermissionUnattendedRule
	case reason.PermissionHook:
		return reason.PermissionUnattendedHook
	case reason.PermissionUser: // asked through the host's own channel, and answered
		return c
	default:
		return reason.PermissionUnattended
	}
}

func (d denial) byLine(asked bool) finding {
	f := finding{evidence: "permission_denied=" + d.deniedType}
	switch d.deniedType {
	case "classifier":
		f.code = reason.PermissionClassifier
	case "mode":
		f.code = reason.PermissionMode
	case "rule", "subcommandResults":
		f.code = reason.PermissionRule
	case "hook":
		f.code = reason.PermissionHook
	default:
		f.code = reason.PermissionUnattended
	}
	if asked && (d.deniedType != "hook" || d.source == "config") {
		f.code = d.askedCode(unattended(f.code))
	}
	return f
}

func (d denial) byKind() finding {
	f := finding{evidence: "toolDenialKind=" + d.kind}
	switch {
	case d.kind == "user-rejected" && d.reasonCode != "" && !d.attended:
		f.code = reason.PermissionUnattended
	case d.kind == "user-rejected", d.kind == "interrupted", d.kind == "cancelled":
		f.code = reason.PermissionUser
	case strings.HasPrefix(d.kind, "automode"):
		f.code = reason.PermissionClassifier
	default:
		f.code = reason.PermissionRule
	}
	return f
}

// byText reads the sentences whose meaning is beyond doubt. Others, such as the
// reason of an unattended ask, could as well be the output of a tool.
func byText(text string, known func(event, tool string) []string) finding {
	f := finding{evidence: "text"}
	if b, ok := parseBlock(text, known); ok {
		f.hook = &b
		return f
	}
	switch {
	case strings.HasPrefix(text, "Permission to use ") && strings.Contains(text, " has been denied because Claude Code is running in don't ask mode"):
		f.code = reason.PermissionMode
	case strings.HasPrefix(text, "Permission to use ") && strings.HasSuffix(strings.TrimSpace(text), " has been denied."):
		f.code = reason.PermissionRule
	case strings.HasPrefix(text, "Auto mode is unavailable: "):
		f.code = reason.PermissionClassifier
	case strings.HasPrefix(text, "Claude requested permissions to use ") && strings.Contains(text, "but you haven't granted it yet."):
		f.code = reason.PermissionUnattended
	case strings.HasPrefix(text, "The user doesn't want to proceed with this tool use."):
		f.code = reason.PermissionUser
	case strings.HasPrefix(text, toolErrorMark) && strings.Contains(text, "is disabled for this session"):
		f.code = reason.PermissionRule
	case strings.HasPrefix(text, toolErrorMark):
		f.code = reason.Observed
	default:
		return finding{}
	}
	return f
}

// A call is what is known about a tool call.
type call struct {
	Tool    string `json:"tool,omitempty"`
	Command string `json:"command,omitempty"` // redacted
	Target  string `json:"target,omitempty"`  // redacted
}

func (c call) fill(e *audit.Event) {
	e.Tool, e.MCPServer = c.Tool, mcpServer(c.Tool)
	e.Command, e.Target = c.Command, c.Target
}

// about says in a callback's event which call it was about.
func (c call) about(e *audit.Event) { e.Command, e.Target = c.Command, c.Target }

// refused returns the event of a refused call, or nil when the records do not
// say that it was refused, or by whom.
func (l Lookup) refused(s stamp, toolUse string, c call, d denial, via string) *audit.Event {
	f := d.judge(l.Commands)
	if f.hook != nil {
		b := *f.hook
		r := hookRun{event: b.hookEvent, name: b.hookName, tool: c.Tool, toolUse: toolUse, evidence: via + ":" + f.evidence}
		if r.name == "" && r.event != "" && c.Tool != "" {
			r.name = r.event + ":" + c.Tool
		}
		if b.how == saidNo && (isOwn(b.command) || isOwnAnswer(b.rest)) {
			return nil
		}
		if r.event == "" {
			r.event = "PermissionRequest"
		}
		e := blockedBy(s, r, b, true)
		c.about(e)
		return e
	}
	if f.code == "" {
		return nil
	}
	e := s.newEvent(audit.Permission)
	e.ToolUseID = toolUse
	c.fill(e)
	e.Reason, e.Layer, e.Decision = f.code, f.code.Layer(), reason.Denied
	if f.code == reason.Observed {
		e.Decision = reason.None // no permission was asked: the call could not be made at all
	}
	e.Evidence = via + ":" + f.evidence
	e.Message = audit.Text(d.text, maxMessage)
	return e
}

// granted returns the event of a call that a person let run, or nil.
func granted(s stamp, toolUse string, c call, source, via string) *audit.Event {
	if !strings.HasPrefix(source, "user") {
		return nil
	}
	e := s.newEvent(audit.Permission)
	e.ToolUseID = toolUse
	c.fill(e)
	e.Layer, e.Decision, e.Reason = reason.LayerPermission, reason.Allowed, reason.PermissionAllowed
	e.Evidence = via + ":source=" + source
	e.Message = "A person allowed the call."
	return e
}
