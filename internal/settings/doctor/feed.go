package doctor

import (
	"bytes"
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

// feed runs the installed command line with a sound event, which must be let
// through or asked about and be recorded, and with a broken one, which must be
// blocked with exit status 2.
func (e ours) feed(ctx context.Context, o Options) []Check {
	if e.url != "" {
		return nil
	}
	id := fmt.Sprintf("doctor-%d", o.Now().UnixNano())
	sound, _ := json.Marshal(map[string]any{
		"session_id": "hooktrail-doctor", "transcript_path": "", "cwd": "/", "hook_event_name": "PreToolUse",
		"tool_name": "HooktrailDoctor", "tool_input": map[string]any{}, "tool_use_id": id,
	})
	all := []Check{}
	start := o.Now()
	out, errs, status, err := e.run(ctx, o, sound)
	took := o.Now().Sub(start).Round(time.Millisecond)
	switch {
	case err != nil:
		return append(all, Check{"answer", Failed, fmt.Sprintf("the installed command cannot be run: %v", err), "hooktrail install"})
	case status == 2:
		all = append(all, Check{"answer", Failed, "a harmless event is blocked: " + oneLine(errs), "read the reason; every call would be blocked"})
	case status != 0:
		all = append(all, Check{"answer", Failed, fmt.Sprintf("exit status %d, on which the host lets calls run: %s", status, oneLine(errs)), "is this program hooktrail?"})
	case len(bytes.TrimSpace(out)) > 0 && !object(out):
		all = append(all, Check{"answer", Failed, "the answer is not one JSON object: " + oneLine(out), "is this program hooktrail?"})
	default:
		all = append(all, Check{"answer", OK, fmt.Sprintf("a harmless event is answered in %v", took), ""})
		all = append(all, recorded(o, id))
	}
	_, _, status, err = e.run(ctx, o, []byte(`{"hook_event_name":`))
	if err != nil || status != 2 {
		return append(all, Check{"fails closed", Failed, fmt.Sprintf("a broken event is not blocked (exit status %d, %v)", status, err), "is this program hooktrail?"})
	}
	return append(all, Check{"fails closed", OK, "a broken event is blocked", ""})
}

func (e ours) run(ctx context.Context, o Options, event []byte) (out, errs []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, feedLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.words[0], e.words[1:]...) //nolint:gosec // the command that the host would run
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), &limited{b: &stdout}, &limited{b: &stderr}
	cmd.Env, cmd.Dir = o.Env, "/"
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, nil, -1, fmt.Errorf("no answer within %v", feedLimit)
	case errors.As(err, &exit):
		return stdout.Bytes(), stderr.Bytes(), exit.ExitCode(), nil
	}
	return stdout.Bytes(), stderr.Bytes(), 0, err
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
