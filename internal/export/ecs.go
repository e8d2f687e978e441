package export

import "math"

// ecs writes documents of the Elastic Common Schema 9.4. ECS has no place for
// the decision of a guard, so it stands in event.type and event.outcome as far
// as their words reach, and exactly in labels. Labels are keywords: numbers and
// truth values are strings there.
type ecs struct{}

// label names the field in labels; "" if it has a place of its own.
var ecsLabels = [nFields]string{
	fPrev: "prev", fSchemaVersion: "schemaVersion", fKind: "kind", fAction: "action",
	fSessionID: "session", fHookEvent: "hookEvent", fPromptID: "prompt", fAgentID: "agent",
	fPermissionMode: "permissionMode", fTranscriptPath: "transcriptPath", fMCPServer: "mcpServer",
	fTarget: "target", fLayer: "layer", fDecision: "decision", fOnFailure: "onFailure",
	fTimedOut: "timedOut", fGate: "gate", fDeadlineMs: "deadlineMs", fEvidence: "evidence",
	fTruncated:  "truncated",
	fInputBytes: "input_bytes", fInputHMAC: "input_hmac", fInputTruncated: "input_truncated",
	fProvider: "checkpoint_provider", fVM: "checkpoint_vm", fVPG: "checkpoint_vpg",
	fSite: "checkpoint_site", fPlatform: "checkpoint_platform", fTag: "checkpoint_tag",
	fID: "checkpoint_id", fCheckpointTime: "checkpoint_time", fState: "checkpoint_state",
	fCadenceS: "checkpoint_cadenceS", fWaitedMs: "checkpoint_waitedMs",
}

func (ecs) record(dst []byte, e *Event) []byte {
	g := e.grade()
	o := object{append(dst, '{')}
	o.json("@timestamp", e.json[fTime])
	at := o.open("ecs")
	o.word("version", "9.4.0")
	o.close(at)
	o.json("message", e.json[fMessage])
	ecsEvent(&o, e, g)

	one := func(object, name string, value []byte) {
		at := o.open(object)
		o.json(name, value)
		o.close(at)
	}
	one("host", "name", e.json[fHost])
	one("user", "name", e.json[fUser])
	at = o.open("related")
	o.list("hosts", e.json[fHost])
	o.list("user", e.json[fUser])
	o.close(at)

	at = o.open("process")
	o.json("command_line", e.json[fCommand])
	o.json("working_directory", e.json[fCWD])
	o.json("exit_code", e.json[fExitCode])
	o.close(at)
	switch e.targetIs() {
	case file:
		one("file", "path", e.json[fTarget])
	case url:
		one("url", "full", e.json[fTarget])
	case other, shell, mcp, tool:
	}
	at = o.open("rule")
	o.json("name", e.json[fHookName])
	o.json("ruleset", e.json[fConfigSHA256])
	o.close(at)
	one("error", "message", e.json[fSchemaErrors])
	ecsTool(&o, e)

	at = o.open("observer")
	product, version := e.product()
	o.word("type", "agent-guard")
	o.json("product", product)
	o.json("version", version)
	o.close(at)

	at = o.open("labels")
	for f, name := range ecsLabels {
		if name != "" {
			o.text(name, e.json[f])
		}
	}
	for _, m := range e.more {
		o.text("unmapped_"+m.name, m.value)
	}
	o.close(at)
	return append(o.b, '}')
}

func ecsEvent(o *object, e *Event, g grade) {
	at := o.open("event")
	kind := "event"
	if g.alert {
		kind = "alert"
	}
	o.word("kind", kind)
	o.json("category", ecsCategory(e))
	ecsType(o, e, g)
	switch {
	case g.failed():
		o.word("outcome", "failure")
	case g.call == allowed:
		o.word("outcome", "success")
	default:
		o.word("outcome", "unknown")
	}
	o.json("action", e.json[fReason])
	o.json("reason", e.json[fMessage])
	o.json("id", e.json[fEventID])
	o.json("sequence", e.json[fSeq])
	o.json("code", e.json[fGate])
	o.word("provider", "hooktrail")
	o.word("module", "hooktrail")
	o.word("dataset", "hooktrail.audit")
	o.int("severity", [...]int64{informational: 1, low: 21, medium: 47, high: 73, critical: 99}[g.severity])
	if e.json[fDurationMs] != nil {
		const nanos = 1_000_000
		o.int("duration", min(max(e.number[fDurationMs], 0), math.MaxInt64/nanos)*nanos)
	}
	o.close(at)
}

func ecsTool(o *object, e *Event) {
	outer := o.open("gen_ai")
	at := o.open("agent")
	o.json("id", e.json[fSessionID])
	o.close(at)
	if e.json[fTool] != nil {
		at = o.open("operation")
		o.word("name", "execute_tool")
		o.close(at)
	}
	at = o.open("tool")
	o.json("name", e.json[fTool])
	call := o.open("call")
	o.json("id", e.json[fToolUseID])
	o.close(call)
	o.close(at)
	o.close(outer)
}

func ecsCategory(e *Event) []byte {
	switch e.subject() {
	case shell:
		return []byte(`["process"]`)
	case file:
		return []byte(`["file"]`)
	case url:
		return []byte(`["web"]`)
	case mcp, tool:
		return []byte(`["api"]`)
	case other:
	}
	switch {
	case e.is(fHookEvent, "ConfigChange"):
		return []byte(`["configuration"]`)
	case e.json[fSessionID] != nil:
		return []byte(`["session"]`)
	}
	return []byte(`["host"]`)
}

func ecsType(o *object, e *Event, g grade) {
	var types [3][]byte
	switch {
	case g.call == stopped:
		types[0] = []byte(`"denied"`)
	case e.is(fDecision, "allowed"):
		types[0] = []byte(`"allowed"`)
	case g.call != unguarded:
		types[0] = []byte(`"info"`)
	}
	if g.call == unguarded || e.is(fReason, "audit_unavailable") {
		types[1] = []byte(`"error"`)
	}
	if e.is(fReason, "settings_disarm") {
		types[2] = []byte(`"change"`)
	}
	o.list("type", types[:]...)
}
