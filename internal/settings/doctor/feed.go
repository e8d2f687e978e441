package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"hooktrail/internal/settings"
)

// feedLimit bounds one feeding. A guard that needs longer for an event that
// asks for nothing is broken.
const feedLimit = 20 * time.Second

// An outcome is what the host would see of one feeding.
type outcome struct {
	answer  []byte
	said    string // what a person would be told
	blocks  bool
	strange string // why it is no answer of ours; the host lets the call run
}

// feed gives the installed entry a sound event, which must be let through or
// asked about and be recorded, and a broken one, which must be blocked.
func (e ours) feed(ctx context.Context, o Options) []Check {
	give := e.run
	if e.own.URL != "" {
		give = e.post
	}
	sound, _ := json.Marshal(map[string]any{
		"session_id": "hooktrail-doctor", "transcript_path": "", "cwd": "/", "hook_event_name": "PreToolUse",
		"tool_name": "HooktrailDoctor", "tool_input": map[string]any{}, "tool_use_id": o.Mark,
	})
	var all []Check
	start := o.Now()
	got, err := give(ctx, o, sound)
	took := o.Now().Sub(start).Round(time.Millisecond)
	switch {
	case err != nil && e.own.URL != "":
		return append(all, Check{"answer", Failed, err.Error(), "start hooktrail serve, or install the command"})
	case err != nil:
		return append(all, Check{"answer", Failed, fmt.Sprintf("the installed command cannot be run: %v", err), "hooktrail install"})
	case got.blocks:
		all = append(all, Check{"answer", Failed, "a harmless event is blocked: " + got.said, "read the reason; every call would be blocked"})
	case got.strange != "":
		all = append(all, Check{"answer", Failed, got.strange, "is this program hooktrail?"})
	case len(bytes.TrimSpace(got.answer)) > 0 && !object(got.answer):
		all = append(all, Check{"answer", Failed, "the answer is not one JSON object: " + oneLine(got.answer), "is this program hooktrail?"})
	default:
		all = append(all, Check{"answer", OK, fmt.Sprintf("a harmless event is answered in %v", took), ""}, e.recorded(o))
	}
	if got, err = give(ctx, o, []byte(`{"hook_event_name":`)); err != nil || !got.blocks {
		why := cmp.Or(got.strange, "it was let through")
		if err != nil {
			why = err.Error()
		}
		return append(all, Check{"fails closed", Failed, "a broken event is not blocked: " + why, "is this program hooktrail?"})
	}
	return append(all, Check{"fails closed", OK, "a broken event is blocked", ""})
}

// run gives the event to the installed command line.
func (e ours) run(ctx context.Context, o Options, event []byte) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, feedLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.own.Words[0], e.own.Words[1:]...) //nolint:gosec // the command that the host would run
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), &limited{b: &stdout}, &limited{b: &stderr}
	cmd.Env, cmd.Dir = o.Env, "/"
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	got := outcome{answer: stdout.Bytes(), said: oneLine(stderr.Bytes())}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return outcome{}, fmt.Errorf("no answer within %v", feedLimit)
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		got.blocks = true
	case errors.As(err, &exit):
		got.strange = fmt.Sprintf("exit status %d, on which the host lets calls run: %s", exit.ExitCode(), got.said)
	case err != nil:
		return outcome{}, err
	}
	return got, nil
}

// limited keeps the first 64 KiB and drops the rest.
type limited struct{ b *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := 64<<10 - l.b.Len(); room > 0 {
		l.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func object(b []byte) bool {
	n, err := settings.Parse(b)
	return err == nil && n.IsObject()
}

func oneLine(b []byte) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "")), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	return s
}
