package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/reason"
)

// Options configure an Observer. The zero value of every field but StateDir and
// Now works.
type Options struct {
	// StateDir is where the places in the transcripts are kept. It is made when
	// it is missing.
	StateDir string
	// LogPath is the audit log. Its end shows which calls have run, so that their
	// output is not taken for the host's words. Empty means not to look.
	LogPath string
	// NoTranscript leaves the transcripts alone.
	NoTranscript bool
	// Budget bounds one observation; zero means 200 ms. SessionEnd gets four
	// times as long.
	Budget time.Duration
	// MaxBytes bounds what is read of a transcript in one observation; zero means
	// 8 MiB.
	MaxBytes int64
	// Lookup knows the settings in force.
	Lookup Lookup
	// Now returns the current time. It must not be nil.
	Now func() time.Time
}

// An Observer reads the host's records at a hook event. It keeps nothing in
// memory between two events, and many may work on one session at once.
type Observer struct{ o Options }

// New returns an Observer.
func New(o Options) *Observer {
	if o.Budget <= 0 {
		o.Budget = 200 * time.Millisecond
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 8 << 20
	}
	return &Observer{o}
}

// Observe returns the events that the payload and the new part of the session's
// transcripts tell. They are to be recorded together with the event's own. The
// caller must call commit once they are on disk, before it ends ctx; without it the same events
// come again, with the same ids. A failure of the observation is no failure of
// the hook: it gives no events, and the records are still there next time.
func (ob *Observer) Observe(ctx context.Context, e *event.Event) (events []*audit.Event, commit func() error) {
	none := func() error { return nil }
	p, ok := payloadOf(e.Value)
	if !ok || p.session == "" || ob.o.StateDir == "" || !slices.Contains([]string{
		"PermissionDenied", "PostToolBatch", "Stop", "StopFailure", "SubagentStop", "UserPromptSubmit", "SessionEnd",
	}, p.event) {
		return nil, none
	}
	budget := ob.o.Budget
	if p.event == "SessionEnd" {
		budget *= 4
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	st, s, err := openStore(ctx, ob.o.StateDir, p.session)
	if err != nil {
		return nil, none
	}
	defer func() {
		if fault := recover(); fault != nil { // the hook's own event is still to be recorded, and answered
			st.close()
			about := stamp{id: "fault:" + p.event, time: ob.o.Now(), session: p.session, transcript: p.transcript}
			events = []*audit.Event{unknownShape(about, audit.Text(fmt.Sprintf("The host's records could not be understood: %v.", fault), maxMessage))}
			commit = none
		}
	}()
	var transcripts []string
	if !ob.o.NoTranscript && p.event != "PermissionDenied" {
		transcripts = ob.transcripts(p, s)
	}
	for _, path := range transcripts {
		events = append(events, ob.transcript(ctx, p, &s, path)...)
	}
	for _, ev := range ob.o.Lookup.fromPayload(p, ob.o.Now(), ob.ran) {
		if ev.Reason == reason.PermissionUnattended && len(transcripts) > 0 {
			continue // the transcript will say whether a rule wanted the approval; a batch's sentence does not
		}
		if s.fresh(ev, fromPayloads) {
			events = append(events, ev)
		}
	}
	// Without a commit the place is given up when the caller's context ends.
	abandon := context.AfterFunc(caller, st.close)
	return events, func() error {
		abandon()
		defer st.close()
		return st.save(s)
	}
}

// transcripts returns the files to read at an event: the session's own, that of
// the subagent that stopped, and at the end every subagent's.
func (ob *Observer) transcripts(p payload, s state) []string {
	paths := []string{p.transcript, p.agentTranscript}
	if p.event == "SessionEnd" || p.event == "Stop" {
		for path := range s.Files {
			paths = append(paths, path)
		}
		if base, ok := strings.CutSuffix(p.transcript, ".jsonl"); ok && p.event == "SessionEnd" {
			entries, _ := os.ReadDir(filepath.Join(base, "subagents"))
			for _, e := range entries[:min(len(entries), 1024)] {
				paths = append(paths, filepath.Join(base, "subagents", e.Name()))
			}
		}
	}
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(path string) bool {
		return !filepath.IsAbs(path) || filepath.Ext(path) != ".jsonl"
	})
	return paths
}

// transcript reads the new part of one transcript.
func (ob *Observer) transcript(ctx context.Context, p payload, s *state, path string) []*audit.Event {
	if ctx.Err() != nil {
		return nil
	}
	c := s.Files[path]
	if c == nil {
		c = &cursor{}
	}
	about := stamp{id: "shape:" + path, time: ob.o.Now(), session: p.session, transcript: path}
	f, id, err := openRegular(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || c.Told {
			return nil // it is not there before the first answer
		}
		ob.remember(s, path, c)
		c.Told = true
		return []*audit.Event{unknownShape(about, audit.Text("A transcript cannot be read: "+err.Error(), maxMessage))}
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	ob.remember(s, path, c)
	if c.seek(f, id, info.Size()) {
		delete(s.Got, path) // it is told anew; what is on record stays on record
	}
	t := transcriptReader{lookup: ob.o.Lookup, path: path, session: p.session, open: c.Open, order: c.Order}
	var told, events []*audit.Event
	skipped, err := c.readNew(ctx, f, ob.o.MaxBytes, func(line []byte) { told = append(told, t.line(line)...) })
	for _, e := range once(told) {
		if e.Time.IsZero() {
			e.Time = ob.o.Now()
		}
		if s.fresh(e, path) {
			events = append(events, e)
		}
	}
	c.Open, c.Order = t.open, t.order
	if (err != nil || skipped > 0 || t.counts.unreadable()) && !c.Told {
		c.Told = true
		events = append(events, unknownShape(about, fmt.Sprintf(
			"A transcript is not of a shape that is known: of %d new lines %d could be read, %d were too long. What it says of hooks and permissions may be missing here.",
			t.counts.Lines, t.counts.Known, skipped)))
	}
	return events
}

func (ob *Observer) remember(s *state, path string, c *cursor) {
	if s.Files == nil {
		s.Files = map[string]*cursor{}
	}
	s.Files[path] = c
}

// ran tells whether the end of the log shows that a call ran.
func (ob *Observer) ran(toolUse string) bool {
	if ob.o.LogPath == "" {
		return false
	}
	f, _, err := openRegular(ob.o.LogPath)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return false
	}
	const tail = 256 << 10
	b, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tail), tail))
	if err != nil {
		return false
	}
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		if !bytes.Contains(line, []byte(toolUse)) || !bytes.Contains(line, []byte(`"hookEvent":"PostToolUse`)) {
			continue
		}
		if e, err := audit.Decode(line); err == nil && e.ToolUseID == toolUse && e.Kind == audit.Invocation {
			return true
		}
	}
	return false
}

// Note tells the hooks of live sessions what was recorded from elsewhere, so
// that they do not record it again.
func Note(ctx context.Context, stateDir string, events []*audit.Event) error {
	bySession := map[string][]*audit.Event{}
	for _, e := range events {
		bySession[e.SessionID] = append(bySession[e.SessionID], e)
	}
	for session, events := range bySession {
		st, s, err := openStore(ctx, stateDir, session)
		if err != nil {
			return fmt.Errorf("lock session: %w", err)
		}
		for _, e := range events {
			s.note(e)
		}
		err = st.save(s)
		st.close()
		if err != nil {
			return fmt.Errorf("note session: %w", err)
		}
	}
	return nil
}
