package export

import (
	"bytes"
	"math"
	"strconv"
)

// otlp writes log records of OpenTelemetry: lines that each are one
// ExportLogsServiceRequest in the JSON of OTLP, with the records of one resource
// after the other. Integers of 64 bits are strings there, and an event belongs
// to no trace, so there are no trace ids.
type otlp struct {
	resource []byte // of the open request
	next     []byte // room for that of an event
	size     int    // bytes of the open request; 0 when none is open
}

// maxRequest bounds a line, so that readers with a limit on lines take it: no
// event makes a record of more than a few times its own 16 KiB.
const maxRequest = 128 << 10

// attribute names the field; "" if it has a place of its own.
var otlpAttributes = [nFields]string{
	fEventID: "log.record.uid", fSeq: "hooktrail.seq", fPrev: "hooktrail.prev",
	fSchemaVersion: "hooktrail.schema_version", fUser: "user.name", fKind: "hooktrail.kind",
	fAction: "hooktrail.action", fSessionID: "session.id", fHookEvent: "hooktrail.hook.event",
	fToolUseID: "gen_ai.tool.call.id", fPromptID: "prompt.id", fAgentID: "gen_ai.agent.id",
	fPermissionMode: "hooktrail.permission_mode", fCWD: "hooktrail.cwd",
	fTranscriptPath: "hooktrail.transcript_path", fTool: "gen_ai.tool.name",
	fMCPServer: "hooktrail.mcp_server", fCommand: "hooktrail.command", fTarget: "hooktrail.target",
	fLayer: "hooktrail.layer", fDecision: "hooktrail.decision", fReason: "hooktrail.reason",
	fHookName: "hooktrail.hook.name", fOnFailure: "hooktrail.hook.on_failure",
	fExitCode: "hooktrail.hook.exit_code", fTimedOut: "hooktrail.hook.timed_out",
	fGate: "hooktrail.gate", fDurationMs: "hooktrail.duration_ms", fDeadlineMs: "hooktrail.deadline_ms",
	fEvidence: "hooktrail.evidence", fConfigSHA256: "hooktrail.config.sha256",
	fTruncated:  "hooktrail.truncated",
	fInputBytes: "hooktrail.input.bytes", fInputHMAC: "hooktrail.input.hmac",
	fInputTruncated: "hooktrail.input.truncated",
	fProvider:       "hooktrail.checkpoint.provider", fVM: "hooktrail.checkpoint.vm",
	fVPG: "hooktrail.checkpoint.vpg", fSite: "hooktrail.checkpoint.site",
	fPlatform: "hooktrail.checkpoint.platform", fTag: "hooktrail.checkpoint.tag",
	fID: "hooktrail.checkpoint.id", fCheckpointTime: "hooktrail.checkpoint.time",
	fState: "hooktrail.checkpoint.state", fCadenceS: "hooktrail.checkpoint.cadence_s",
	fWaitedMs: "hooktrail.checkpoint.waited_ms",
}

func (f *otlp) record(dst []byte, e *Event) []byte {
	f.next = otlpResource(f.next[:0], e)
	if f.size > 0 && (f.size > maxRequest || !bytes.Equal(f.next, f.resource)) {
		dst = f.end(dst)
	}
	before := len(dst)
	if f.size == 0 {
		f.resource = append(f.resource[:0], f.next...)
		dst = append(dst, `{"resourceLogs":[{"resource":{"attributes":`...)
		dst = append(dst, f.resource...)
		dst = append(dst, `},"scopeLogs":[{"scope":{"name":"hooktrail.audit"},"logRecords":[`...)
	} else {
		dst = append(dst, ',')
	}
	dst = otlpRecord(dst, e)
	f.size += len(dst) - before
	return dst
}

// end closes the open request, if there is one.
func (f *otlp) end(dst []byte) []byte {
	if f.size == 0 {
		return dst
	}
	f.size = 0
	return append(dst, "]}]}]}\n"...)
}

func otlpResource(dst []byte, e *Event) []byte {
	name, version := e.product()
	a := attributes{append(dst, '[')}
	a.text("service.name", name)
	a.text("service.version", version)
	a.text("host.name", e.json[fHost])
	return append(a.b, ']')
}

func otlpRecord(dst []byte, e *Event) []byte {
	g := e.grade()
	o := object{append(dst, '{')}
	if ns := nanoseconds(e); ns > 0 {
		at := strconv.AppendInt(nil, ns, 10)
		o.word("timeUnixNano", string(at))
		o.word("observedTimeUnixNano", string(at))
	}
	o.int("severityNumber", int64(g.otel))
	o.word("severityText", [...]string{9: "INFO", 13: "WARN", 17: "ERROR", 21: "FATAL"}[g.otel])
	at := o.open("body")
	if e.json[fMessage] != nil {
		o.json("stringValue", e.json[fMessage])
	} else {
		o.json("stringValue", e.what())
	}
	o.close(at)

	_ = comma(&o.b)
	o.b = append(o.b, `"attributes":[`...)
	a := attributes(o)
	if nanoseconds(e) <= 0 {
		a.text("hooktrail.time", e.json[fTime])
	}
	for f, name := range otlpAttributes {
		switch v := e.json[f]; {
		case name == "" || v == nil:
		case fields[f].is == integer:
			a.value(name, `"intValue":"`, v, `"`)
		case fields[f].is == boolean:
			a.value(name, `"boolValue":`, v, "")
		default:
			a.text(name, v)
		}
	}
	if e.json[fTool] != nil {
		a.text("gen_ai.operation.name", []byte(`"execute_tool"`))
	}
	if g.failed() {
		a.text("error.type", e.json[fReason])
	}
	a.faults(e)
	for _, m := range e.more {
		a.any("hooktrail.unmapped."+m.name, m.value)
	}
	return append(a.b, `]}`...)
}

// nanoseconds returns the event's time, or 0 where it cannot be said so: the
// format has no time before 1970, and 64 bits end in 2262.
func nanoseconds(e *Event) int64 {
	if s := e.time.Unix(); s < 0 || s >= math.MaxInt64/1_000_000_000 {
		return 0
	}
	return e.time.UnixNano()
}

// attributes is a list of KeyValues that is being written.
type attributes struct{ b []byte }

func (a *attributes) value(name, before string, v []byte, after string) {
	comma(&a.b)
	a.b = append(a.b, `{"key":"`...)
	a.b = append(a.b, name...)
	a.b = append(a.b, `","value":{`...)
	a.b = append(a.b, before...)
	a.b = append(a.b, v...)
	a.b = append(a.b, after...)
	a.b = append(a.b, `}}`...)
}

func (a *attributes) text(name string, v []byte) {
	if v != nil {
		a.value(name, `"stringValue":`, v, "")
	}
}

// any writes a value that we do not know; objects and lists as JSON text.
func (a *attributes) any(name string, v []byte) {
	_, err := strconv.ParseInt(string(v), 10, 64)
	switch {
	case v[0] == 't' || v[0] == 'f':
		a.value(name, `"boolValue":`, v, "")
	case err == nil:
		a.value(name, `"intValue":"`, v, `"`)
	case v[0] == '-' || v[0] >= '0' && v[0] <= '9':
		a.value(name, `"doubleValue":`, v, "")
	case v[0] == '"':
		a.text(name, v)
	default:
		a.text(name, quote(nil, v))
	}
}

func (a *attributes) faults(e *Event) {
	if len(e.errors) == 0 {
		return
	}
	list := []byte{}
	for i, f := range e.errors {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, `{"stringValue":"`...)
		list = append(f.appendText(list), `"}`...)
	}
	a.value("hooktrail.schema_errors", `"arrayValue":{"values":[`, list, `]}`)
}
