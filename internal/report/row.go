// Package report answers questions about audit logs: the events of any number of
// files, read once from end to end, with memory that grows with what is found
// and not with what is read.
//
// It reads the fields it needs and takes lines that are no events for what they
// are: they are counted, and nothing stops at them. It does not check the chain;
// that is audit.Verify.
package report

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// A Row is what reports know of an event. Its strings lie in the line that was
// read; who keeps one keeps a clone.
type Row struct {
	Seq                               uint64
	Time, Kind, Action                string
	Host, User, Product               string
	SessionID, ToolUseID, HookEvent   string
	PermissionMode, Tool, MCPServer   string
	Command, Target                   string
	Layer, Decision, Reason, Message  string
	HookName, OnFailure, Gate         string
	ConfigSHA256, Evidence            string
	ExitCode, DurationMs, DeadlineMs  int64
	HasExit, HasDeadline, HasDuration bool
	TimedOut, HasTimedOut             bool
}

// parse reads one line. It is false for what is no event.
func (r *Row) parse(line []byte) bool {
	s := string(line)
	*r = Row{}
	if r.plain(s) {
		return r.Kind != "" && r.Time != ""
	}
	*r = Row{}
	return r.loose(s)
}

// loose reads whatever JSON may hold.
func (r *Row) loose(line string) bool {
	v := gjson.Parse(line)
	if !v.IsObject() || line[len(line)-1] != '}' {
		return false
	}
	v.ForEach(func(k, v gjson.Result) bool {
		if p := r.text(k.Str); p != nil {
			*p = v.String()
			return true
		}
		switch k.Str {
		case "seq":
			r.Seq = v.Uint()
		case "exitCode":
			r.ExitCode, r.HasExit = v.Int(), v.Type == gjson.Number
		case "durationMs":
			r.DurationMs, r.HasDuration = v.Int(), v.Type == gjson.Number
		case "deadlineMs":
			r.DeadlineMs, r.HasDeadline = v.Int(), v.Type == gjson.Number
		case "timedOut":
			r.TimedOut, r.HasTimedOut = v.Bool(), v.IsBool()
		}
		return true
	})
	return r.Kind != "" && r.Time != ""
}

func (r *Row) text(name string) *string {
	switch name {
	case "time":
		return &r.Time
	case "kind":
		return &r.Kind
	case "action":
		return &r.Action
	case "host":
		return &r.Host
	case "user":
		return &r.User
	case "product":
		return &r.Product
	case "sessionId":
		return &r.SessionID
	case "toolUseId":
		return &r.ToolUseID
	case "hookEvent":
		return &r.HookEvent
	case "permissionMode":
		return &r.PermissionMode
	case "tool":
		return &r.Tool
	case "mcpServer":
		return &r.MCPServer
	case "command":
		return &r.Command
	case "target":
		return &r.Target
	case "layer":
		return &r.Layer
	case "decision":
		return &r.Decision
	case "reason":
		return &r.Reason
	case "message":
		return &r.Message
	case "hookName":
		return &r.HookName
	case "onFailure":
		return &r.OnFailure
	case "gate":
		return &r.Gate
	case "configSha256":
		return &r.ConfigSHA256
	case "evidence":
		return &r.Evidence
	}
	return nil
}

// Get returns a field by its name in the event, as text; "" when it is absent.
// hour and day are parts of the time.
func (r *Row) Get(name string) string {
	if p := r.text(name); p != nil {
		return *p
	}
	switch name {
	case "hour":
		return r.Time[:min(13, len(r.Time))]
	case "day":
		return r.Time[:min(10, len(r.Time))]
	case "seq":
		return strconv.FormatUint(r.Seq, 10)
	case "exitCode":
		return number(r.ExitCode, r.HasExit)
	case "durationMs":
		return number(r.DurationMs, r.HasDuration)
	case "deadlineMs":
		return number(r.DeadlineMs, r.HasDeadline)
	case "timedOut":
		if r.HasTimedOut {
			return strconv.FormatBool(r.TimedOut)
		}
	}
	return ""
}

// Fields are the names that Get knows beside those of the event.
func known(name string) bool {
	switch name {
	case "hour", "day", "seq", "exitCode", "durationMs", "deadlineMs", "timedOut":
		return true
	}
	return new(Row).text(name) != nil
}

func number(n int64, ok bool) string {
	if !ok {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// stopped tells whether the event stopped a call.
func (r *Row) stopped() bool { return r.Decision == "blocked" || r.Decision == "denied" }
