package schema

import "hooktrail/internal/event"

// Event judges a decoded event: against the schema of its own name when the
// host's event is known, else against the generic one. Unknown fields and
// unknown events are admitted, since hosts add both; a known name in another
// spelling, or another host's name for a question before a tool call, is not.
func Event(e *event.Event) []Violation {
	if e.Name == "" {
		bad := Validate("events/generic", e.Value)
		if f := event.HostFault(e.Value); f != "" && len(bad) > 0 {
			bad = append([]Violation{{Message: f}}, bad...)
		}
		return bad[:min(len(bad), MaxViolations)]
	}
	if f := event.NameFault(e.Name); f != "" {
		return []Violation{{Path: "/hook_event_name", Message: f}}
	}
	if event.IsKnown(e.Name) {
		return Validate("events/"+e.Name, e.Value)
	}
	return Validate("events/generic", e.Value)
}
