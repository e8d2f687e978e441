package observe

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
)

// The branches of hook_failure_gate that an observed callback can show.
const (
	gateNotBlockMode = "not_block_mode"
	gateTimeoutBlock = "timeout_block"
	gateAllow        = "allow"
	gateBlock        = "block"
)

const (
	maxMessage = 2000
	maxCommand = 2000
)

// A stamp says where and when a record was made.
type stamp struct {
	id         string // the record's own id, or what stands for it
	time       time.Time
	session    string
	prompt     string
	agent      string
	cwd        string
	transcript string
}

// newEvent returns an event of the record that s describes.
func (s stamp) newEvent(kind audit.Kind) *audit.Event {
	e := &audit.Event{
		Time: s.time, Kind: kind,
		SessionID: s.session, PromptID: s.prompt, AgentID: s.agent,
		CWD: s.cwd, TranscriptPath: s.transcript,
	}
	if s.id != "" && !s.time.IsZero() {
		e.EventID = eventID(s.time, s.session, s.id, string(kind), 0)
	}
	return e
}

// eventID returns the same UUIDv7 for the same record at every reading, so that
// whoever receives an event twice can tell.
func eventID(t time.Time, session, record, kind string, n int) string {
	h := sha256.New()
	for _, s := range []string{session, record, kind} {
		_, _ = h.Write([]byte(s))
		_, _ = h.Write([]byte{0})
	}
	_, _ = h.Write(binary.AppendVarint(nil, int64(n)))
	var u [16]byte
	copy(u[6:], h.Sum(nil))
	ms := uint64(max(t.UnixMilli(), 0))
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i)) //nolint:gosec // the low byte is meant
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	x := hex.EncodeToString(u[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// A class is what makes two events one fact told twice: the same call, the same
// hook event, the same outcome. Two hooks that fail at one call are two facts of
// one class; they are told apart by counting, since not every source names them.
type class struct {
	session, toolUse, kind, hookEvent, outcome string
}

// classOf returns the class of an event; ok is false for events that are not
// facts of the host's records.
func classOf(e *audit.Event) (class, bool) {
	c := class{session: e.SessionID, toolUse: e.ToolUseID, kind: string(e.Kind), hookEvent: e.HookEvent}
	switch e.Kind {
	case audit.Callback:
		switch {
		case e.Decision == reason.Blocked:
			c.outcome = "blocked"
		case e.Reason == reason.HookFailedOpen:
			c.outcome = "open"
		default:
			c.outcome = string(e.Reason)
		}
	case audit.Permission:
		c.outcome, c.hookEvent = string(e.Decision), ""
		if e.Decision == reason.Blocked { // OpenTelemetry's word for a refusal it does not explain
			c.outcome = string(reason.Denied)
		}
	case audit.LogKind: // a transcript of unknown shape
		return class{session: e.SessionID, toolUse: e.TranscriptPath, kind: string(e.Kind)}, e.TranscriptPath != ""
	case audit.Invocation, audit.Checkpoint:
		return class{}, false
	default:
		return class{}, false
	}
	return c, true
}

// key is the short form of c in state files.
func (c class) key() string {
	h := sha256.Sum256([]byte(strings.Join([]string{c.session, c.toolUse, c.kind, c.hookEvent, c.outcome}, "\x00")))
	return hex.EncodeToString(h[:8])
}

// mcpServer returns the server in the name of an MCP tool.
func mcpServer(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return ""
	}
	server, _, ok := strings.Cut(rest, "__")
	if !ok {
		return ""
	}
	return server
}

// toolOfHook returns the tool in a hook's name such as "PreToolUse:Bash".
func toolOfHook(name string) string {
	event, tool, _ := strings.Cut(name, ":")
	switch event {
	case "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied":
		return tool
	}
	return ""
}

func ptr[T any](v T) *T { return &v }
