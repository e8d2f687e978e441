package report

import (
	"fmt"
	"slices"
	"strings"
)

// A Story is what the log knows of one call.
type Story struct {
	ID    string
	Steps []Step // in the order of the log
}

// A Step is one event of the story.
type Step struct {
	Time, Kind, Action, HookEvent, Tool, Command, Target string
	Layer, Decision, Reason, Gate, HookName, OnFailure   string
	ExitCode, Message, Evidence, Session                 string
	TimedOut                                             bool
}

// A Finding is a contradiction in a story. Severe ones mean that a control did
// not hold.
type Finding struct {
	Severe bool
	Text   string
}

// NewStory begins the story of a call.
func NewStory(toolUseID string) *Story { return &Story{ID: toolUseID} }

// Add takes one row; rows of other calls are passed over.
func (s *Story) Add(r *Row) {
	if r.ToolUseID != s.ID || s.ID == "" || len(s.Steps) >= maxListed {
		return
	}
	c := strings.Clone
	s.Steps = append(s.Steps, Step{
		Time: c(r.Time), Kind: c(r.Kind), Action: c(r.Action), HookEvent: c(r.HookEvent), Tool: c(r.Tool), Command: c(r.Command),
		Target: c(r.Target), Layer: c(r.Layer), Decision: c(r.Decision), Reason: c(r.Reason), Gate: c(r.Gate), HookName: c(r.HookName),
		OnFailure: c(r.OnFailure), ExitCode: r.Get("exitCode"), Message: c(r.Message), Evidence: c(r.Evidence), Session: c(r.SessionID), TimedOut: r.TimedOut,
	})
}

// Title names the call.
func (s *Story) Title() string {
	st := s.call()
	if st.Tool == "" {
		return s.ID
	}
	what := st.Command
	if what == "" {
		what = st.Target
	}
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s (session %s)", s.ID, st.Tool, what, st.Session))
}

// call returns the first step that names the tool, or the zero value.
func (s *Story) call() Step {
	for _, st := range s.Steps {
		if st.Tool != "" {
			return st
		}
	}
	return Step{}
}

// Text is the step as a sentence.
func (st Step) Text() string {
	var parts []string
	switch st.Kind {
	case "invocation":
		parts = append(parts, st.HookEvent+", "+st.HookName)
	case "callback":
		parts = append(parts, "hook "+st.HookName+" on "+st.HookEvent)
	case "permission":
		parts = append(parts, "the host's permissions")
	case "checkpoint":
		parts = append(parts, "checkpoint "+st.Action+" for "+st.Target)
	default:
		parts = append(parts, st.Kind)
	}
	if st.ExitCode != "" && (st.ExitCode != "0" || st.Kind == "callback") {
		parts = append(parts, "exit "+st.ExitCode)
	}
	if st.TimedOut {
		parts = append(parts, "timed out")
	}
	if st.Gate != "" {
		parts = append(parts, "gate "+st.Gate)
	}
	if st.Decision != "none" {
		parts = append(parts, st.Decision)
	}
	if st.Reason != "observed" {
		parts = append(parts, st.Reason)
	}
	text := strings.Join(parts, "; ")
	if st.Message != "" && st.Decision != "allowed" {
		text += ": " + st.Message
	}
	return text
}

// after tells whether the step speaks of a tool that has run: a block then
// comes too late to stop it.
func (st Step) after() bool {
	return st.HookEvent == "PostToolUse" || st.HookEvent == "PostToolUseFailure"
}

func (st Step) stops() bool {
	return (st.Decision == "blocked" || st.Decision == "denied") && !st.after()
}

// Ran tells whether the host reported that the tool ran.
func (s *Story) Ran() bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool {
		return st.Kind == "invocation" && (st.HookEvent == "PostToolUse" || st.HookEvent == "PostToolUseFailure")
	})
}

func (s *Story) stopper() (Step, bool) {
	for _, st := range s.Steps {
		if st.stops() {
			return st, true
		}
	}
	return Step{}, false
}

// Conclusion says what decided the call.
func (s *Story) Conclusion() string {
	by, stopped := s.stopper()
	ran := s.Ran()
	switch {
	case stopped && ran:
		return fmt.Sprintf("It was stopped by %s (%s), and it ran.", layerName(by), by.Reason)
	case stopped:
		return fmt.Sprintf("It did not run: stopped by %s (%s).", layerName(by), by.Reason)
	case ran:
		return "It ran; nothing held it back."
	default:
		return "Nothing held it back; the log does not say whether it ran."
	}
}

func layerName(st Step) string {
	switch st.Layer {
	case "permission":
		return "the host's permissions"
	case "hook", "failure":
		return "the hook " + st.HookName
	case "audit":
		return "the audit log"
	default:
		return "the " + st.Layer
	}
}

// who names a step's speaker with its reason.
func (st Step) who() string { return fmt.Sprintf("%s (%s)", layerName(st), st.Reason) }

// lostDeny tells whether a hook denied and the host took it for plain text: the
// words are those of package observe.
func (st Step) lostDeny() bool {
	return st.Reason == "hook_failed_open" && (strings.Contains(st.Message, "took its deny for plain text") || strings.Contains(st.Message, "tried to deny the call"))
}

// Findings are the contradictions, the severe ones first.
func (s *Story) Findings() []Finding {
	var severe, notes []Finding
	var let, denied, blocked []string
	for _, st := range s.Steps {
		switch {
		case st.stops() && st.Layer == "permission":
			denied = append(denied, st.who())
		case st.stops():
			blocked = append(blocked, st.who())
		case st.lostDeny():
			severe = append(severe, Finding{true, fmt.Sprintf("a deny was lost: the host did not take the answer of %s", layerName(st))})
		case st.Reason == "hook_failed_open":
			notes = append(notes, Finding{false, fmt.Sprintf("the hook %s failed and the host went on: its word was missing", st.HookName)})
		case st.Decision == "allowed" && (st.Layer == "guard" || st.Reason == "hook_allowed") && !st.after():
			let = append(let, st.who())
		}
	}
	if by, ok := s.stopper(); ok && s.Ran() {
		first := Finding{true, fmt.Sprintf("the call was stopped by %s (%s) and executed all the same", layerName(by), by.Reason)}
		severe = append([]Finding{first}, severe...)
	}
	if len(let) > 0 && len(denied) > 0 {
		notes = append(notes, Finding{false, fmt.Sprintf("let through by %s, then denied by %s", strings.Join(let, "; "), strings.Join(denied, "; "))})
	}
	if len(let) > 0 && len(blocked) > 0 {
		notes = append(notes, Finding{false, fmt.Sprintf("let through by %s, overridden by %s", strings.Join(let, "; "), strings.Join(blocked, "; "))})
	}
	return append(severe, notes...)
}

// A StoryJSON is the story for machines.
type StoryJSON struct {
	ToolUseID  string        `json:"toolUseId"`
	SessionID  string        `json:"sessionId,omitempty"`
	Tool       string        `json:"tool,omitempty"`
	Command    string        `json:"command,omitempty"`
	Target     string        `json:"target,omitempty"`
	Ran        bool          `json:"ran"`
	Conclusion string        `json:"conclusion"`
	Steps      []StepJSON    `json:"steps"`
	Findings   []FindingJSON `json:"findings"`
}

// A StepJSON is a step for machines.
type StepJSON struct {
	Time      string `json:"time"`
	Kind      string `json:"kind"`
	Action    string `json:"action,omitempty"`
	HookEvent string `json:"hookEvent,omitempty"`
	HookName  string `json:"hookName,omitempty"`
	OnFailure string `json:"onFailure,omitempty"`
	ExitCode  string `json:"exitCode,omitempty"`
	TimedOut  bool   `json:"timedOut,omitempty"`
	Gate      string `json:"gate,omitempty"`
	Layer     string `json:"layer"`
	Decision  string `json:"decision"`
	Reason    string `json:"reason"`
	Message   string `json:"message,omitempty"`
	Evidence  string `json:"evidence,omitempty"`
}

// A FindingJSON is a finding for machines.
type FindingJSON struct {
	Severity string `json:"severity"`
	Text     string `json:"text"`
}

// JSON returns the story for machines.
func (s *Story) JSON() StoryJSON {
	call := s.call()
	out := StoryJSON{
		ToolUseID: s.ID, SessionID: call.Session, Tool: call.Tool, Command: call.Command, Target: call.Target,
		Ran: s.Ran(), Conclusion: s.Conclusion(), Steps: []StepJSON{}, Findings: []FindingJSON{},
	}
	if len(s.Steps) == 0 {
		out.Conclusion = "The log knows nothing of this call."
	}
	for _, st := range s.Steps {
		out.Steps = append(out.Steps, StepJSON{st.Time, st.Kind, st.Action, st.HookEvent, st.HookName, st.OnFailure, st.ExitCode, st.TimedOut, st.Gate, st.Layer, st.Decision, st.Reason, st.Message, st.Evidence})
	}
	for _, f := range s.Findings() {
		out.Findings = append(out.Findings, FindingJSON{map[bool]string{true: "error", false: "note"}[f.Severe], f.Text})
	}
	return out
}
