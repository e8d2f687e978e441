package audit

import (
	"time"

	"hooktrail/internal/reason"
)

// SchemaVersion is the version of the event's shape. It changes only when a
// field changes its meaning; new fields do not change it.
const SchemaVersion = 1

// A Kind says what an event records.
type Kind string

// The kinds of events.
const (
	Invocation Kind = "invocation" // one for each call of hook or run
	Callback   Kind = "callback"   // another hook's result seen in the host's records
	Permission Kind = "permission" // the host's own decision
	Checkpoint Kind = "checkpoint" // a checkpoint was requested, confirmed, failed, late
	LogKind    Kind = "log"        // the log itself: opened, rotated, recovered, truncated, failing
)

// An Event is one line of the log. The log fills in Time, EventID, Seq, Prev,
// SchemaVersion, Product, Host and User when they are empty; Seq and Prev are
// always the log's own. Empty fields are left out of the line, with the
// exceptions named at the fields.
type Event struct {
	Time          time.Time // RFC 3339 UTC with nine digits
	EventID       string    // UUIDv7
	Seq           uint64    // 1, 2, 3 … in this log
	Prev          string    // hex SHA-256 of the previous line without its newline; empty string on the first
	SchemaVersion int
	Product       string // hooktrail/VERSION
	Host          string
	User          string

	Kind   Kind
	Action string // with kinds checkpoint and log

	SessionID      string
	ToolUseID      string
	PromptID       string
	AgentID        string
	HookEvent      string
	PermissionMode string
	CWD            string
	TranscriptPath string

	Tool      string
	MCPServer string
	Command   string // redacted
	Target    string // a path, URL or VM, redacted
	Input     *Input

	Layer    reason.Layer // always written; empty means Reason's layer
	Decision reason.Decision
	Reason   reason.Code
	Message  string // redacted; always written

	HookName  string
	OnFailure string
	ExitCode  *int64
	TimedOut  *bool
	Gate      string // the branch of hook_failure_gate

	DurationMs *int64 // from the monotonic clock
	DeadlineMs *int64

	Checkpoint *CheckpointInfo
	// Evidence says what a callback or permission event rests on, such as
	// "transcript:reasonCode" or "batch:text".
	Evidence     string
	SchemaErrors []SchemaError // at most 10 are written
	ConfigSHA256 string

	// Truncated is set by the encoder when a field had to be cut to keep the
	// line under MaxLine.
	Truncated bool
}

// Input describes the tool input as it came, without its content.
type Input struct {
	Bytes     int64
	HMAC      string // hex HMAC-SHA-256 under the installation's key
	Truncated bool   // Command or Target in the event is shorter than the original
}

// CheckpointInfo describes one checkpoint, or several of one call, of which the
// first stands here.
type CheckpointInfo struct {
	Provider string
	VM       string
	VPG      string
	Site     string
	Platform string
	Tag      string
	ID       string
	Time     time.Time
	State    string // requested, confirmed, failed, late
	CadenceS int64
	WaitedMs int64
}

// A SchemaError says where a value departs from its schema.
type SchemaError struct {
	Path    string // JSON Pointer
	Message string
}
