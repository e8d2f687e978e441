package bench

import (
	"context"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// fill records n events in large batches.
func fill(path string, n int) error {
	never := int64(0)
	log, err := audit.New(audit.Options{Path: path, RotateBytes: &never, Now: time.Now})
	if err != nil {
		return err
	}
	const batch = 10_000
	for n > 0 {
		events := make([]*audit.Event, min(batch, n))
		for i := range events {
			events[i] = &audit.Event{Kind: audit.Invocation, SessionID: "s", HookEvent: "PreToolUse", Tool: "Read", Target: "/home/dev/project/main.go",
				Decision: reason.Allowed, Reason: reason.GuardReadOnly, Message: "The call only reads.", HookName: "hooktrail", OnFailure: "block", Gate: "allow"}
		}
		if err := log.Record(context.Background(), events...); err != nil {
			return err
		}
		n -= len(events)
	}
	return nil
}
