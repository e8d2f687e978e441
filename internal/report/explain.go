package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// A Story is what is on record about one call.
type Story struct {
	ToolUseID string
	Events    []audit.Event
	// Ran tells whether the call ran; nil when nothing says so.
	Ran      *bool
	Findings []string
}

// Explain gathers the story of a call from the log at path, in the order of
// time. A PermissionRequest names no call; it belongs to the call whose input it
// has, in the same session.
func Explain(ctx context.Context, path, toolUse string) (*Story, error) {
	s := &Story{ToolUseID: toolUse}
	var requests []audit.Event
	err := Events(ctx, path, func(line []byte) bool {
		return Has(line, toolUse) || Has(line, `"hookEvent":"PermissionRequest"`)
	}, func(e audit.Event) error {
		switch {
		case e.ToolUseID == toolUse:
			s.Events = append(s.Events, e)
		case e.HookEvent == "PermissionRequest" && e.ToolUseID == "" && e.Input != nil && e.Input.HMAC != "":
			if requests = append(requests, e); len(requests) > 4096 {
				requests = requests[1:]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range requests {
		if slices.ContainsFunc(s.Events, func(e audit.Event) bool {
			return e.SessionID == r.SessionID && e.PromptID == r.PromptID && e.Input != nil && *e.Input == *r.Input && e.HookEvent == "PreToolUse"
		}) {
			s.Events = append(s.Events, r)
		}
	}
	slices.SortStableFunc(s.Events, func(a, b audit.Event) int { return a.Time.Compare(b.Time) })
	s.judge()
	return s, nil
}

// judge finds whether the call ran, and what contradicts itself.
func (s *Story) judge() {
	var stopped, allowed, denied, open []string
	for i := range s.Events {
		e := &s.Events[i]
		who := About(e)
		switch {
		case e.Kind == audit.Invocation && (e.HookEvent == "PostToolUse" || e.HookEvent == "PostToolUseFailure"):
			s.Ran = new(bool)
			*s.Ran = true
		case e.Kind == audit.Invocation && e.HookEvent != "PreToolUse" && e.HookEvent != "PermissionRequest":
		case e.Reason == reason.HookFailedOpen:
			open = append(open, who)
			if strings.Contains(e.Message, "took its deny for plain text") {
				s.Findings = append(s.Findings, "a deny was lost: the host took it for plain text ("+who+")")
			}
		case e.Decision == reason.Denied:
			denied = append(denied, who)
		case e.Decision == reason.Blocked && e.HookEvent != "PostToolUse" && e.HookEvent != "PostToolUseFailure":
			stopped = append(stopped, who)
		case e.Layer == reason.LayerGuard && e.Decision != reason.Asked, e.Reason == reason.HookAllowed, e.Reason == reason.HookAsked:
			allowed = append(allowed, who)
		}
	}
	if s.Ran == nil && len(stopped)+len(denied) > 0 {
		s.Ran = new(bool)
	}
	ran := s.Ran != nil && *s.Ran
	if ran && len(stopped) > 0 {
		s.Findings = append(s.Findings, "blocked, and yet it ran: "+strings.Join(stopped, "; "))
	}
	if ran && len(denied) > 0 {
		s.Findings = append(s.Findings, "denied, and yet it ran: "+strings.Join(denied, "; "))
	}
	if len(allowed) > 0 && len(denied) > 0 {
		s.Findings = append(s.Findings, fmt.Sprintf("let through by %s, then denied by %s", strings.Join(allowed, "; "), strings.Join(denied, "; ")))
	}
	if len(allowed) > 0 && len(stopped) > 0 {
		s.Findings = append(s.Findings, fmt.Sprintf("let through by %s, overridden by %s", strings.Join(allowed, "; "), strings.Join(stopped, "; ")))
	}
	if len(open) > 0 {
		s.Findings = append(s.Findings, "a hook failed, and the host went on: "+strings.Join(open, "; "))
	}
}

// About names who speaks in an event, in a few words.
func About(e *audit.Event) string {
	name := e.HookName
	if e.Kind == audit.Callback && e.Command != "" && (name == "" || strings.HasPrefix(name, e.HookEvent)) {
		name = e.Command
	}
	if e.Kind == audit.Permission {
		name = "permissions"
	}
	if r := []rune(name); len(r) > 60 {
		name = string(r[:60]) + "…"
	}
	if name == "" {
		name = string(e.Layer)
	}
	return fmt.Sprintf("%s (%s)", name, e.Reason)
}

// Sentence says in one sentence what became of the call.
func (s *Story) Sentence() string {
	switch {
	case len(s.Events) == 0:
		return "Nothing is on record about this call."
	case s.Ran == nil:
		return "Nothing on record says whether the call ran."
	case *s.Ran:
		return "The call ran."
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.Decision == reason.Denied || e.Decision == reason.Blocked {
			return "The call was stopped by " + About(e) + "."
		}
	}
	return "The call did not run."
}
