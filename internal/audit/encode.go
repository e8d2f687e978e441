package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rs/zerolog"
)

const timeFormat = "2006-01-02T15:04:05.000000000Z"

// A draft is an event encoded up to what only the holder of the lock knows:
// seq and prev stand between front and rest.
type draft struct {
	front, rest []byte
	time        time.Time
	id          string
}

// seal completes the line, newline included.
func (d *draft) seal(dst []byte, seq uint64, prev string) []byte {
	dst = append(dst, d.front...)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, `,"prev":"`...)
	dst = append(dst, prev...)
	dst = append(dst, `",`...)
	dst = append(dst, d.rest...)
	return append(dst, '\n')
}

// sealLen is the most bytes that seal adds to front and rest.
const sealLen = len(`,"seq":,"prev":"",`) + 20 + 64 + 1

// encode turns e into a draft that fits MaxLine however hostile its fields are.
// Free text is redacted first and cut afterwards, so that a cut cannot leave
// half a secret. It tries generous limits first and then tighter ones; the
// tightest fit by construction (see limits).
func encode(e *Event) (*draft, error) {
	d := &draft{time: e.Time.UTC(), id: e.EventID}
	for _, l := range limitSteps() {
		f := fields{limits: l}
		front, err := object(func(z *zerolog.Event) {
			z.Str("time", d.time.Format(timeFormat)).Str("eventId", f.id(e.EventID))
		})
		if err != nil {
			return nil, err
		}
		rest, err := object(func(z *zerolog.Event) { f.event(z, e) })
		if err != nil {
			return nil, err
		}
		d.front, d.rest = front[:len(front)-1], rest[1:]
		if len(d.front)+len(d.rest)+sealLen <= MaxLine {
			return d, nil
		}
	}
	return nil, fmt.Errorf("event %s does not fit a line of %d bytes", e.EventID, MaxLine)
}

// object runs fill on a zerolog event and returns the object it encoded. zerolog
// reports nothing, so the result is looked at.
func object(fill func(*zerolog.Event)) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(1024)
	log := zerolog.New(&buf)
	z := log.Log()
	fill(z)
	z.Send()
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return nil, errors.New("the event could not be encoded")
	}
	return EscapeJSON(b), nil
}

// fields writes the fields of one event and remembers whether one was cut.
type fields struct {
	limits
	cut      bool // any field
	inputCut bool // Command or Target
}

// id bounds an identifier of ours.
func (f *fields) id(s string) string { return f.bound(s, f.ids) }

// given bounds an identifier that came from outside. A host's have no secret's
// shape and stay as they are; what has one is masked all the same.
func (f *fields) given(s string) string { return f.free(s, f.ids) }

// bound cuts s so that its encoded form has at most limit bytes.
func (f *fields) bound(s string, limit int) string {
	out, cut := cutEncoded(s, limit, len(s), false)
	f.cut = f.cut || cut
	return out
}

func (f *fields) event(z *zerolog.Event, e *Event) {
	z.Int("schemaVersion", e.SchemaVersion)
	z.Str("product", f.id(e.Product)).Str("host", f.id(e.Host)).Str("user", f.id(e.User))
	z.Str("kind", f.id(string(e.Kind)))
	f.opt(z, "action", f.id(e.Action))
	if e.Kind == Invocation {
		z.Str("sessionId", f.given(e.SessionID)).Str("hookEvent", f.given(e.HookEvent))
	} else {
		f.opt(z, "sessionId", f.given(e.SessionID))
		f.opt(z, "hookEvent", f.given(e.HookEvent))
	}
	f.opt(z, "toolUseId", f.given(e.ToolUseID))
	f.opt(z, "promptId", f.given(e.PromptID))
	f.opt(z, "agentId", f.given(e.AgentID))
	f.opt(z, "permissionMode", f.given(e.PermissionMode))
	f.opt(z, "cwd", f.free(e.CWD, f.paths))
	f.opt(z, "transcriptPath", f.free(e.TranscriptPath, f.paths))
	f.opt(z, "tool", f.free(e.Tool, f.names))
	f.opt(z, "mcpServer", f.free(e.MCPServer, f.names))
	before := f.cut
	f.cut = false
	f.opt(z, "command", f.free(e.Command, f.command))
	f.opt(z, "target", f.free(e.Target, f.target))
	f.inputCut = f.cut
	f.cut = f.cut || before
	if e.Input != nil {
		z.Dict("input", z.CreateDict().Int64("bytes", safeInt(e.Input.Bytes)).
			Str("hmac", f.id(e.Input.HMAC)).Bool("truncated", e.Input.Truncated || f.inputCut))
	}
	f.verdict(z, e)
	f.callback(z, e)
	f.checkpoint(z, e.Checkpoint)
	f.opt(z, "evidence", f.free(e.Evidence, f.names))
	f.schemaErrors(z, e.SchemaErrors)
	f.opt(z, "configSha256", f.id(e.ConfigSHA256))
	if f.cut || e.Truncated {
		z.Bool("truncated", true)
	}
}

// free redacts and bounds free text.
func (f *fields) free(s string, limit int) string {
	if s == "" {
		return ""
	}
	t, dropped := clip(s, limit)
	out, cut := cutEncoded(t, limit, len(s), dropped)
	f.cut = f.cut || cut
	return out
}

func (f *fields) verdict(z *zerolog.Event, e *Event) {
	layer := e.Layer
	if layer == "" {
		layer = e.Reason.Layer()
	}
	z.Str("layer", f.id(string(layer))).Str("decision", f.id(string(e.Decision)))
	z.Str("reason", f.id(string(e.Reason))).Str("message", f.free(e.Message, f.message))
}

func (f *fields) callback(z *zerolog.Event, e *Event) {
	f.opt(z, "hookName", f.free(e.HookName, f.names))
	f.opt(z, "onFailure", f.given(e.OnFailure))
	if e.ExitCode != nil {
		z.Int64("exitCode", safeInt(*e.ExitCode))
	}
	if e.TimedOut != nil {
		z.Bool("timedOut", *e.TimedOut)
	}
	f.opt(z, "gate", f.id(e.Gate))
	if e.DurationMs != nil {
		z.Int64("durationMs", max(0, safeInt(*e.DurationMs)))
	}
	if e.DeadlineMs != nil {
		z.Int64("deadlineMs", max(0, safeInt(*e.DeadlineMs)))
	}
}

func (f *fields) checkpoint(z *zerolog.Event, c *CheckpointInfo) {
	if c == nil {
		return
	}
	d := z.CreateDict()
	for _, kv := range [][2]string{
		{"provider", c.Provider}, {"vm", c.VM}, {"vpg", c.VPG}, {"site", c.Site},
		{"platform", c.Platform}, {"tag", c.Tag}, {"id", c.ID},
	} {
		f.opt(d, kv[0], f.free(kv[1], f.names))
	}
	if !c.Time.IsZero() {
		d.Str("time", c.Time.UTC().Format(timeFormat))
	}
	f.opt(d, "state", f.id(c.State))
	d.Int64("cadenceS", safeInt(c.CadenceS)).Int64("waitedMs", safeInt(c.WaitedMs))
	z.Dict("checkpoint", d)
}

func (f *fields) schemaErrors(z *zerolog.Event, errs []SchemaError) {
	if len(errs) == 0 {
		return
	}
	if len(errs) > maxSchemaErrors {
		errs, f.cut = errs[:maxSchemaErrors], true
	}
	a := z.CreateArray()
	for _, e := range errs {
		a.Dict(z.CreateDict().Str("path", f.free(e.Path, f.errors)).Str("message", f.free(e.Message, f.errors)))
	}
	z.Array("schemaErrors", a)
}

func (f *fields) opt(z *zerolog.Event, name, s string) {
	if s != "" {
		z.Str(name, s)
	}
}

// safeInt keeps n where every JSON reader reads it exactly.
func safeInt(n int64) int64 { return min(max(n, -1<<53), 1<<53) }
