package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hooktrail/internal/report"
)

const explainAbout = `Tells the story of one call from the log, in order: each hook with its branch of
hook_failure_gate, each checkpoint, the permission decision, what decided it, and
whether the tool ran. Contradictions are called out: stopped and yet executed is a
finding. With --nats the story is told from the stream.

Exit status: 0 the story is sound, 1 a finding or nothing is known of the call.`

func runExplain(ctx context.Context, s *Stdio, args []string) int {
	var c common
	fl := newFlags(s, "explain", "[--json] [--nats] [--log FILE] TOOL_USE_ID [FILE...]", explainAbout)
	c.register(fl)
	asJSON := fl.Bool("json", false, "print the story as one JSON object")
	nats := fl.Bool("nats", false, "read the stream instead of the log: all hosts that ship to it")
	if status, ok := parse(s, fl, args); !ok {
		return status
	}
	if fl.NArg() == 0 {
		return s.fail("explain", "names no call; hooktrail explain TOOL_USE_ID")
	}
	story := report.NewStory(fl.Arg(0))
	if _, err := c.source(s, *nats, fl.Args()[1:]).each(ctx, time.Time{}, true, story.Add); err != nil {
		return s.fail("explain", "%s", printable(err.Error()))
	}
	status := exitOK
	if len(story.Steps) == 0 || slices.ContainsFunc(story.Findings(), func(f report.Finding) bool { return f.Severe }) {
		status = exitFindings
	}
	if *asJSON {
		if err := writeJSON(s.Out, story.JSON()); err != nil {
			return s.fail("explain", "%v", err)
		}
		return status
	}
	if len(story.Steps) == 0 {
		_, _ = fmt.Fprintf(s.Err, "hooktrail explain: the log knows nothing of %s; its call reached no hook of ours, or the log is another one\n", printable(fl.Arg(0)))
		return status
	}
	s.printf("%s\n", s.bold(printable(story.Title())))
	for _, st := range story.Steps {
		s.printf("  %s  %s\n", st.Time, printable(strings.ReplaceAll(st.Text(), "\n", " ")))
	}
	s.printf("%s\n", printable(story.Conclusion()))
	for _, f := range story.Findings() {
		s.printf("%s: %s\n", map[bool]string{true: "FINDING", false: "note"}[f.Severe], printable(f.Text))
	}
	return status
}
