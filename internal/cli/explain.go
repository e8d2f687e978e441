package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/report"
)

const explainAbout = `Tells one call's story: every hook the records know, its branch, the permission
decision, whether the tool ran, and what contradicts itself. Exit status: 0 a
story without contradictions, 1 with some, 2 nothing on record or not readable.`

func runExplain(ctx context.Context, s *Stdio, args []string) int {
	var c common
	fs := newFlags(s, "explain", "[--json] [--log FILE] TOOL_USE_ID", explainAbout)
	c.register(fs)
	asJSON := fs.Bool("json", false, "print one JSON object")
	args = flagsFirst(args)
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if fs.NArg() != 1 || fs.Arg(0) == "" {
		fs.Usage()
		return exitFailure
	}
	set, fault := c.load(s)
	if fault != nil && c.log == "" {
		return s.fail("explain", "%v", fault)
	}
	st, err := report.Explain(ctx, set.Log, fs.Arg(0))
	if err != nil {
		return s.failLog("explain", err)
	}
	if len(st.Events) == 0 {
		return s.fail("explain", "nothing is on record about %s", printable(fs.Arg(0)))
	}
	if *asJSON {
		if err := writeJSON(s.Out, storyJSON(st)); err != nil {
			return s.fail("explain", "%v", err)
		}
	} else {
		printStory(s, st)
	}
	if len(st.Findings) > 0 {
		return exitFindings
	}
	return exitOK
}

// flagsFirst moves flags behind arguments to the front, as people write them.
// It knows only flags without a value and those written with =.
func flagsFirst(args []string) []string {
	var flags, rest []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return append(append(flags, rest...), args[i:]...)
		case strings.HasPrefix(a, "-") && a != "-":
			flags = append(flags, a)
			name := strings.TrimLeft(a, "-")
			if valued(name) && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
		default:
			rest = append(rest, a)
		}
	}
	return append(flags, rest...)
}

// valued tells whether a flag of these commands takes a value.
func valued(name string) bool {
	switch name {
	case "log", "config", "since", "by", "where", "jq", "n":
		return true
	}
	return false
}

func (s *Stdio) failLog(cmd string, err error) int {
	if errors.Is(err, fs.ErrNotExist) {
		return s.fail(cmd, "there is no log yet: %s", printable(err.Error()))
	}
	return s.fail(cmd, "%s", printable(err.Error()))
}

func printStory(s *Stdio, st *report.Story) {
	e := st.Events[0]
	s.printf("%s  session %s\n", printable(st.ToolUseID), printable(e.SessionID))
	for _, e := range st.Events {
		if e.Tool != "" && e.Kind != audit.Callback {
			s.printf("%s %s\n", printable(e.Tool), printable(first(e.Command, e.Target)))
			break
		}
	}
	s.printf("\n")
	for _, e := range st.Events {
		s.printf("%s\n", printable(eventLine(&e)))
		if e.Message != "" {
			s.printf("    %s\n", printable(oneLine(e.Message, 300)))
		}
		if e.Evidence != "" {
			s.printf("    rests on %s\n", printable(e.Evidence))
		}
	}
	s.printf("\n%s\n", printable(st.Sentence()))
	for _, f := range st.Findings {
		s.printf("FINDING: %s\n", printable(f))
	}
}

// eventLine is an event on one line for people.
func eventLine(e *audit.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-10s %-18s %-10s %-8s %s", e.Time.Format("2006-01-02 15:04:05.000"), e.Kind, first(e.HookEvent, e.Action, "-"), e.Layer, e.Decision, e.Reason)
	if e.Gate != "" {
		fmt.Fprintf(&b, "  gate=%s", e.Gate)
	}
	if e.ExitCode != nil {
		fmt.Fprintf(&b, "  exit=%d", *e.ExitCode)
	}
	if e.TimedOut != nil && *e.TimedOut {
		b.WriteString("  timed out")
	}
	if e.DurationMs != nil {
		fmt.Fprintf(&b, "  %v", time.Duration(*e.DurationMs)*time.Millisecond)
	}
	if e.Kind == audit.Callback {
		fmt.Fprintf(&b, "  %s", oneLine(first(e.Command, e.HookName), 80))
	}
	return b.String()
}

func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return text
}

type storyEventJSON struct {
	Time      string `json:"time"`
	Seq       uint64 `json:"seq"`
	EventID   string `json:"eventId"`
	Kind      string `json:"kind"`
	HookEvent string `json:"hookEvent,omitempty"`
	HookName  string `json:"hookName,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Command   string `json:"command,omitempty"`
	Target    string `json:"target,omitempty"`
	Layer     string `json:"layer"`
	Decision  string `json:"decision"`
	Reason    string `json:"reason"`
	Gate      string `json:"gate,omitempty"`
	OnFailure string `json:"onFailure,omitempty"`
	ExitCode  *int64 `json:"exitCode,omitempty"`
	TimedOut  *bool  `json:"timedOut,omitempty"`
	Evidence  string `json:"evidence,omitempty"`
	Message   string `json:"message"`
}

func storyJSON(st *report.Story) any {
	events := make([]storyEventJSON, 0, len(st.Events))
	for _, e := range st.Events {
		events = append(events, storyEventJSON{
			e.Time.UTC().Format(time.RFC3339Nano), e.Seq, e.EventID, string(e.Kind), e.HookEvent, e.HookName, e.Tool, e.Command, e.Target,
			string(e.Layer), string(e.Decision), string(e.Reason), e.Gate, e.OnFailure, e.ExitCode, e.TimedOut, e.Evidence, e.Message,
		})
	}
	return struct {
		ToolUseID string           `json:"toolUseId"`
		Ran       *bool            `json:"ran"`
		Sentence  string           `json:"sentence"`
		Findings  []string         `json:"findings"`
		Events    []storyEventJSON `json:"events"`
	}{st.ToolUseID, st.Ran, st.Sentence(), append([]string{}, st.Findings...), events}
}
