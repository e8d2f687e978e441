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
	for _, st := range s.Steps {
		if st.Tool != "" {
			what := st.Command
			if what == "" {
				what = st.Target
			}
			return strings.TrimSpace(fmt.Sprintf("%s: %s %s (session %s)", s.ID, st.Tool, what, st.Session))
		}
	}
	return s.ID
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

func (st Step) stops() bool { return st.Decision == "blocked" || st.Decision == "denied" }

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

// Findings are the contradictions, the severe ones first.
func (s *Story) Findings() []Finding {
	var severe, notes []Finding
	by, stopped := s.stopper()
	if stopped && s.Ran() {
		severe = append(severe, Finding{true, fmt.Sprintf("the call was stopped by %s (%s) and executed all the same", layerName(by), by.Reason)})
	}
	var guardAllowed, permissionDenied bool
	var said []string
	for _, st := range s.Steps {
		guardAllowed = guardAllowed || st.Layer == "guard" && st.Decision == "allowed"
		permissionDenied = permissionDenied || st.Layer == "permission" && st.Decision == "denied"
		if st.Reason == "hook_failed_open" {
			notes = append(notes, Finding{false, fmt.Sprintf("the hook %s failed and was set to continue: its word was missing", st.HookName)})
		}
		if st.Layer == "hook" && st.Decision == "allowed" && st.Reason == "hook_allowed" {
			said = append(said, st.HookName)
		}
	}
	if guardAllowed && permissionDenied {
		notes = append(notes, Finding{false, "the guard let it through, and the host's permissions denied it"})
	}
	if stopped && len(said) > 0 {
		notes = append(notes, Finding{false, fmt.Sprintf("the hook %s allowed it and was overridden by %s", strings.Join(said, ", "), layerName(by))})
	}
	return append(severe, notes...)
}

// A StoryJSON is the story for machines.
type StoryJSON struct {
	ToolUseID  string        `json:"toolUseId"`
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
	out := StoryJSON{ToolUseID: s.ID, Ran: s.Ran(), Conclusion: s.Conclusion(), Steps: []StepJSON{}, Findings: []FindingJSON{}}
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
