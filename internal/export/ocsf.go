package export

// ocsf writes events of OCSF 1.8.0: a shell call is Process Activity (1007), all
// else API Activity (6003), as there is no class for agents yet. What has no
// attribute stands in unmapped under our own name, with its type.
type ocsf struct{}

// ocsfUnmapped are the fields that have no attribute, or one that shows less.
var ocsfUnmapped = [...]field{
	fPrev, fKind, fAction, fAgentID, fPermissionMode, fTranscriptPath, fTool, fMCPServer, fTarget, fLayer,
	fDecision, fHookName, fOnFailure, fExitCode, fTimedOut, fGate, fDeadlineMs, fEvidence,
}

func (ocsf) record(dst []byte, e *Event) []byte {
	g := e.grade()
	o := object{append(dst, '{')}
	o.int("time", e.time.UnixMilli())
	process := e.subject() == shell
	if process {
		ocsfProcess(&o, e)
	} else {
		ocsfAPI(&o, e)
	}
	ocsfGrade(&o, g)
	o.json("status_code", e.json[fReason])
	o.json("status_detail", e.json[fMessage])
	o.json("message", e.json[fMessage])
	if e.json[fDurationMs] != nil && e.number[fDurationMs] >= 0 {
		o.json("duration", e.json[fDurationMs])
	}
	ocsfMetadata(&o, e)

	at := o.open("actor")
	user := o.open("user")
	o.json("name", e.json[fUser])
	o.close(user)
	session := o.open("session")
	o.json("uid", e.json[fSessionID])
	o.close(session)
	if e.json[fUser] == nil && e.json[fSessionID] == nil {
		o.word("app_name", "hooktrail")
	}
	o.close(at)
	at = o.open("device")
	o.int("type_id", 0)
	host(&o, e)
	o.close(at)
	at = o.open("policy")
	o.json("name", e.json[fHookName])
	o.json("uid", e.json[fConfigSHA256])
	o.close(at)
	if e.prompted() {
		// The class wants an application here; the session is the one we know.
		at = o.open("message_context")
		o.json("uid", e.json[fPromptID])
		app := o.open("application")
		o.json("uid", e.json[fSessionID])
		o.close(app)
		o.close(at)
	}
	ocsfRest(&o, e, process)
	return append(o.b, '}')
}

// prompted tells whether the prompt's id has its place in message_context.
func (e *Event) prompted() bool { return e.json[fPromptID] != nil && e.json[fSessionID] != nil }

func host(o *object, e *Event) {
	if e.json[fHost] == nil {
		o.word("name", "unknown")
	}
	o.json("hostname", e.json[fHost])
}

func ocsfClass(o *object, category int64, categoryName string, class int64, className string, activity int64, activityName string) {
	o.int("category_uid", category)
	o.word("category_name", categoryName)
	o.int("class_uid", class)
	o.word("class_name", className)
	o.int("activity_id", activity)
	o.word("activity_name", activityName)
	o.int("type_uid", class*100+activity)
	typeActivity := activityName
	if activity == 99 {
		typeActivity = "Other"
	}
	o.word("type_name", className+": "+typeActivity)
}

// ocsfProcess writes a shell call. What comes after the call is not called
// Terminate: the event does not say that the process has ended.
func ocsfProcess(o *object, e *Event) {
	if e.is(fHookEvent, "PostToolUse") || e.is(fHookEvent, "PostToolUseFailure") {
		ocsfClass(o, 1, "System Activity", 1007, "Process Activity", 99, "Tool Result")
	} else {
		ocsfClass(o, 1, "System Activity", 1007, "Process Activity", 1, "Launch")
	}
	at := o.open("process")
	if e.is(fTool, "Bash") {
		o.word("name", "bash")
	} else {
		o.json("name", e.json[fTool])
	}
	o.json("cmd_line", e.json[fCommand])
	o.json("working_directory", e.json[fCWD])
	if e.json[fToolUseID] != nil { // the class wants an id
		o.json("uid", e.json[fToolUseID])
	} else {
		o.json("uid", e.json[fEventID])
	}
	o.close(at)
}

func ocsfAPI(o *object, e *Event) {
	activity := "Tool Call"
	if e.json[fTool] == nil {
		activity = "Agent Event"
	}
	ocsfClass(o, 6, "Application Activity", 6003, "API Activity", 99, activity)
	at := o.open("api")
	switch {
	case e.json[fMCPServer] != nil:
		o.word("operation", "tools/call")
	case e.json[fTool] != nil:
		o.json("operation", e.json[fTool])
	case e.json[fAction] != nil:
		o.json("operation", e.json[fAction])
	case e.json[fHookEvent] != nil:
		o.json("operation", e.json[fHookEvent])
	default:
		o.json("operation", e.json[fKind])
	}
	service := o.open("service")
	o.json("name", e.json[fMCPServer])
	o.close(service)
	request := o.open("request")
	o.json("uid", e.json[fToolUseID])
	o.close(request)
	o.close(at)
	at = o.open("src_endpoint")
	host(o, e)
	o.close(at)

	ocsfResources(o, e)
}

func ocsfResources(o *object, e *Event) {
	begin := comma(&o.b)
	o.b = append(o.b, `"resources":[`...)
	one := func(f field, kind string) {
		if e.json[f] == nil {
			return
		}
		comma(&o.b)
		o.b = append(o.b, '{')
		o.json("name", e.json[f])
		if kind != "" {
			o.word("type", kind)
		}
		o.b = append(o.b, '}')
	}
	switch e.targetIs() {
	case file:
		one(fTarget, "file")
	case url:
		one(fTarget, "url")
	case other, shell, mcp, tool:
		one(fTarget, "")
	}
	one(fVM, "virtual machine")
	one(fVPG, "virtual protection group")
	if o.b[len(o.b)-1] == '[' {
		o.b = o.b[:begin]
		return
	}
	o.b = append(o.b, ']')
}

func ocsfGrade(o *object, g grade) {
	o.int("severity_id", int64(g.severity))
	o.word("severity", [...]string{informational: "Informational", low: "Low", medium: "Medium", high: "High", critical: "Critical"}[g.severity])
	p := [...]struct {
		action, disposition, status int64
		words                       [3]string
	}{
		observed:  {3, 17, 0, [3]string{"Observed", "Logged", "Unknown"}},
		allowed:   {1, 1, 1, [3]string{"Allowed", "Allowed", "Success"}},
		stopped:   {2, 2, 2, [3]string{"Denied", "Blocked", "Failure"}},
		unguarded: {3, 19, 2, [3]string{"Observed", "Alert", "Failure"}},
	}[g.call]
	o.int("action_id", p.action)
	o.word("action", p.words[0])
	o.int("disposition_id", p.disposition)
	o.word("disposition", p.words[1])
	if g.alert {
		o.json("is_alert", []byte("true"))
	}
	o.int("status_id", p.status)
	o.word("status", p.words[2])
}

func ocsfMetadata(o *object, e *Event) {
	at := o.open("metadata")
	o.word("version", "1.8.0")
	o.json("uid", e.json[fEventID])
	o.json("sequence", e.json[fSeq])
	o.json("event_code", e.json[fGate])
	o.json("correlation_uid", e.json[fToolUseID])
	o.word("log_name", "hooktrail.audit")
	o.word("log_provider", "hooktrail")
	o.text("log_version", e.json[fSchemaVersion])
	o.json("original_time", e.json[fTime])
	o.json("is_truncated", e.json[fTruncated])
	product := o.open("product")
	name, version := e.product()
	o.json("name", name)
	o.word("vendor_name", "hooktrail")
	o.json("version", version)
	feature := o.open("feature")
	o.json("name", e.json[fHookEvent])
	o.close(feature)
	o.close(product)
	if e.prompted() {
		o.json("profiles", []byte(`["host","security_control","ai_operation"]`))
	} else {
		o.json("profiles", []byte(`["host","security_control"]`))
	}
	o.close(at)
}

func ocsfRest(o *object, e *Event, process bool) {
	at := o.open("unmapped")
	for _, f := range ocsfUnmapped {
		o.json(fields[f].name, e.json[f])
	}
	if !e.prompted() {
		o.json("promptId", e.json[fPromptID])
	}
	if !process {
		o.json("command", e.json[fCommand])
		o.json("cwd", e.json[fCWD])
	}
	nested := func(name string, g group) {
		at := o.open(name)
		for f := g.first; f < g.end; f++ {
			o.json(fields[f].name, e.json[f])
		}
		o.close(at)
	}
	nested("input", inInput)
	nested("checkpoint", inSnapshot)
	if len(e.errors) > 0 {
		comma(&o.b)
		o.b = append(o.b, `"schemaErrors":[`...)
		for _, f := range e.errors {
			comma(&o.b)
			o.b = append(o.b, '{')
			o.json("path", f.path)
			o.json("message", f.message)
			o.b = append(o.b, '}')
		}
		o.b = append(o.b, ']')
	}
	for _, m := range e.more { // none has a name of ours
		o.json(m.name, m.value)
	}
	o.close(at)
}
