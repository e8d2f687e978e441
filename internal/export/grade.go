package export

// A grade is what an event means to a SIEM: how severe it is in the measure of
// each format, and what became of the call. docs/export.md has the table.
type grade struct {
	severity severity
	alert    bool // somebody should look
	cef      int
	otel     int
	call     call
}

// A severity is one of OCSF's severity_id.
type severity int

const (
	informational severity = 1
	low           severity = 2
	medium        severity = 3
	high          severity = 4
	critical      severity = 5
)

// A call says what became of the tool call.
type call int

const (
	observed call = iota // nobody decided, or not yet
	allowed
	stopped
	unguarded // not held back, because something of the guard failed
)

// grade judges by the reason first: what failed says more than how it ended.
func (e *Event) grade() grade {
	g := grade{informational, false, 1, 9, observed}
	switch {
	case e.is(fReason, "audit_unavailable"), e.is(fLayer, "audit"), e.brokenLog():
		g = grade{critical, true, 10, 21, unguarded}
	case e.is(fReason, "settings_disarm"):
		g = grade{high, true, 9, 17, unguarded}
	case e.is(fReason, "hook_failed_open"):
		g = grade{high, true, 8, 17, unguarded}
	case e.is(fLayer, "failure"), e.is(fLayer, "schema"):
		g = grade{medium, true, 7, 17, unguarded}
	case e.is(fDecision, "denied"):
		g = grade{low, false, 4, 13, stopped}
	case e.is(fDecision, "blocked"):
		g = grade{medium, false, 6, 13, stopped}
	case e.is(fKind, "log") && e.is(fAction, "recovered"):
		g = grade{medium, false, 6, 13, observed}
	case e.is(fDecision, "asked"), e.is(fDecision, "deferred"):
		g.cef = 2
	case e.is(fDecision, "allowed"):
		g.call = allowed
	}
	if e.is(fDecision, "blocked") || e.is(fDecision, "denied") {
		g.call = stopped
	}
	return g
}

// brokenLog tells whether the log says of itself that lines are lost, or that it
// could not be written.
func (e *Event) brokenLog() bool {
	return e.is(fKind, "log") && (e.is(fAction, "truncated") || e.is(fAction, "failing"))
}

// failed tells whether the event is a failure in the words of OCSF, ECS and
// OpenTelemetry: a call that was stopped, or a guard that did not work.
func (g grade) failed() bool { return g.call == stopped || g.call == unguarded }

// A subject is what the tool call was about.
type subject int

const (
	other subject = iota // sessions, the log, checkpoints
	shell
	file
	url
	mcp
	tool // another tool of the host's
)

func (e *Event) subject() subject {
	switch {
	case e.json[fMCPServer] != nil:
		return mcp
	case e.is(fTool, "Bash"), e.json[fTool] != nil && e.json[fCommand] != nil:
		return shell
	case e.json[fTool] == nil:
		return other
	}
	switch e.targetIs() {
	case file, url:
		return e.targetIs()
	case other, shell, mcp, tool:
	}
	return tool
}

// targetIs tells a URL from a path and from names of other things, such as
// machines.
func (e *Event) targetIs() subject {
	t := inner(e.json[fTarget])
	switch {
	case isURL(t):
		return url
	case e.json[fMCPServer] != nil || e.is(fKind, "checkpoint") || len(t) == 0:
		return other
	}
	return file
}

// isURL tells whether s begins with a scheme and two slashes.
func isURL(s []byte) bool {
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i > 0 && len(s) > i+2 && s[i+1] == '/' && s[i+2] == '/'
		default:
			return false
		}
	}
	return false
}

// product splits "hooktrail/0.1.0". The version may be nil; both are JSON
// strings.
func (e *Event) product() (name, version []byte) {
	p := e.json[fProduct]
	for i := len(p) - 2; i > 1; i-- {
		if p[i] == '/' && i < len(p)-2 {
			name = append(append([]byte(nil), p[:i]...), '"')
			version = append([]byte{'"'}, p[i+1:]...)
			return name, version
		}
	}
	if p == nil {
		p = []byte(`"hooktrail"`)
	}
	return p, nil
}
