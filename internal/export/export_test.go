package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// TestEveryEvent sends every case through every format and its judge.
func TestEveryEvent(t *testing.T) {
	for _, line := range cases() {
		checkECS(t, exported(t, "ecs", line))
		checkOCSF(t, exported(t, "ocsf", line))
		checkOTLP(t, exported(t, "otlp", line))
		checkCEF(t, exported(t, "cef", line))
	}
}

// TestGrades holds the table of docs/export.md.
func TestGrades(t *testing.T) {
	for _, tt := range []struct {
		name                    string
		event                   fieldsOf
		severity, action, dispo int
		alert                   bool
		types                   string
		outcome                 string
		otel, cef               int
	}{
		{"let through", fieldsOf{"layer": "guard", "decision": "allowed", "reason": "guard_read_only"}, 1, 1, 1, false, "allowed", "success", 9, 1},
		{"seen", fieldsOf{}, 1, 3, 17, false, "info", "unknown", 9, 1},
		{"asked", fieldsOf{"layer": "guard", "decision": "asked", "reason": "guard_vm_unknown"}, 1, 3, 17, false, "info", "unknown", 9, 2},
		{"deferred", fieldsOf{"layer": "hook", "decision": "deferred", "reason": "hook_asked"}, 1, 3, 17, false, "info", "unknown", 9, 2},
		{"denied by a rule", fieldsOf{"layer": "permission", "decision": "denied", "reason": "permission_rule"}, 2, 2, 2, false, "denied", "failure", 13, 4},
		{"denied, nobody there", fieldsOf{"layer": "permission", "decision": "denied", "reason": "permission_unattended_hook"}, 2, 2, 2, false, "denied", "failure", 13, 4},
		{"blocked by the guard", fieldsOf{"layer": "guard", "decision": "blocked", "reason": "guard_checkpoint_unconfirmed", "gate": "allow"}, 3, 2, 2, false, "denied", "failure", 13, 6},
		{"blocked by a hook", fieldsOf{"layer": "hook", "decision": "blocked", "reason": "hook_denied_plain"}, 3, 2, 2, false, "denied", "failure", 13, 6},
		{"hook failed", fieldsOf{"layer": "failure", "decision": "blocked", "reason": "hook_callback_failed", "gate": "block"}, 3, 2, 2, true, "denied", "failure", 17, 7},
		{"hook late", fieldsOf{"layer": "failure", "decision": "blocked", "reason": "hook_callback_failed", "gate": "timeout_block"}, 3, 2, 2, true, "denied", "failure", 17, 7},
		{"shape", fieldsOf{"layer": "schema", "decision": "blocked", "reason": "schema_invalid", "gate": "schema"}, 3, 2, 2, true, "denied", "failure", 17, 7},
		{"shape, nothing to hold back", fieldsOf{"layer": "schema", "decision": "none", "reason": "schema_invalid", "gate": "schema"}, 3, 3, 19, true, "error", "failure", 17, 7},
		{"failed open", fieldsOf{"layer": "failure", "decision": "allowed", "reason": "hook_failed_open", "gate": "not_block_mode"}, 4, 3, 19, true, "allowed error", "failure", 17, 8},
		{"disarmed", fieldsOf{"layer": "guard", "decision": "blocked", "reason": "settings_disarm", "hookEvent": "ConfigChange"}, 4, 2, 2, true, "denied change", "failure", 17, 9},
		{"log unwritable", fieldsOf{"kind": "log", "action": "failing", "layer": "audit", "reason": "audit_unavailable"}, 5, 3, 19, true, "error", "failure", 21, 10},
		{"log cut", fieldsOf{"kind": "log", "action": "truncated"}, 5, 3, 19, true, "error", "failure", 21, 10},
		{"log mended", fieldsOf{"kind": "log", "action": "recovered"}, 3, 3, 17, false, "info", "unknown", 13, 6},
		{"blocked, as it could not be recorded", fieldsOf{"layer": "audit", "decision": "blocked", "reason": "audit_unavailable"}, 5, 2, 2, true, "denied error", "failure", 21, 10},
		{"a word of tomorrow", fieldsOf{"layer": "oracle", "decision": "postponed", "reason": "oracle_says"}, 1, 3, 17, false, "info", "unknown", 9, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line := tt.event.line()
			o := checkOCSF(t, exported(t, "ocsf", line))
			require.Equal(t, fmt.Sprintf("%d %d %d", tt.severity, tt.action, tt.dispo), fmt.Sprintf("%s %s %s", o["severity_id"], o["action_id"], o["disposition_id"]))
			require.Equal(t, tt.alert, o["is_alert"] != nil)
			e := checkECS(t, exported(t, "ecs", line))
			require.Equal(t, "["+tt.types+"]", fmt.Sprint(e["event.type"]))
			require.Equal(t, map[bool]string{true: "alert", false: "event"}[tt.alert], e["event.kind"])
			require.Equal(t, tt.outcome, e["event.outcome"])
			l := checkOTLP(t, exported(t, "otlp", line))[0]
			require.Equal(t, tt.otel, l["/severity"])
			require.Equal(t, tt.outcome == "failure", l["error.type"] != nil)
			require.Equal(t, fmt.Sprint(tt.cef), checkCEF(t, exported(t, "cef", line))["/6"])
		})
	}
}

// TestRecords spells out one record of each format.
func TestRecords(t *testing.T) {
	line := []byte(`{"time":"2026-11-30T22:00:00.123456789Z","eventId":"0193800c-5a40-7000-8000-000000000001","seq":4711,"prev":"2c26","schemaVersion":1,"product":"hooktrail/0.1.0","host":"ws-1","user":"alice","kind":"invocation","sessionId":"s1","hookEvent":"PreToolUse","toolUseId":"toolu_1","promptId":"p1","permissionMode":"default","cwd":"/app","tool":"Bash","command":"npm test","input":{"bytes":24,"hmac":"9f86","truncated":false},"layer":"failure","decision":"blocked","reason":"hook_callback_failed","message":"pre-bash.sh failed: exit=1","hookName":"pre-bash.sh","onFailure":"block","exitCode":1,"timedOut":false,"gate":"block","durationMs":41,"deadlineMs":9000,"configSha256":"b5bb"}`)
	for format, want := range map[string]string{
		"ecs": `{"@timestamp":"2026-11-30T22:00:00.123456789Z","ecs":{"version":"9.4.0"},"message":"pre-bash.sh failed: exit=1",` +
			`"event":{"kind":"alert","category":["process"],"type":["denied"],"outcome":"failure","action":"hook_callback_failed","reason":"pre-bash.sh failed: exit=1","id":"0193800c-5a40-7000-8000-000000000001","sequence":4711,"code":"block","provider":"hooktrail","module":"hooktrail","dataset":"hooktrail.audit","severity":47,"duration":41000000},` +
			`"host":{"name":"ws-1"},"user":{"name":"alice"},"related":{"hosts":["ws-1"],"user":["alice"]},"process":{"command_line":"npm test","working_directory":"/app","exit_code":1},"rule":{"name":"pre-bash.sh","ruleset":"b5bb"},` +
			`"gen_ai":{"agent":{"id":"s1"},"operation":{"name":"execute_tool"},"tool":{"name":"Bash","call":{"id":"toolu_1"}}},"observer":{"type":"agent-guard","product":"hooktrail","version":"0.1.0"},` +
			`"labels":{"prev":"2c26","schemaVersion":"1","kind":"invocation","session":"s1","hookEvent":"PreToolUse","prompt":"p1","permissionMode":"default","layer":"failure","decision":"blocked","onFailure":"block","timedOut":"false","gate":"block","deadlineMs":"9000","input_bytes":"24","input_hmac":"9f86","input_truncated":"false"}}`,
		"ocsf": `{"time":1796076000123,"category_uid":1,"category_name":"System Activity","class_uid":1007,"class_name":"Process Activity","activity_id":1,"activity_name":"Launch","type_uid":100701,"type_name":"Process Activity: Launch",` +
			`"process":{"name":"bash","cmd_line":"npm test","working_directory":"/app","uid":"toolu_1"},"severity_id":3,"severity":"Medium","action_id":2,"action":"Denied","disposition_id":2,"disposition":"Blocked","is_alert":true,"status_id":2,"status":"Failure","status_code":"hook_callback_failed","status_detail":"pre-bash.sh failed: exit=1","message":"pre-bash.sh failed: exit=1","duration":41,` +
			`"metadata":{"version":"1.8.0","uid":"0193800c-5a40-7000-8000-000000000001","sequence":4711,"event_code":"block","correlation_uid":"toolu_1","log_name":"hooktrail.audit","log_provider":"hooktrail","log_version":"1","original_time":"2026-11-30T22:00:00.123456789Z","product":{"name":"hooktrail","vendor_name":"hooktrail","version":"0.1.0","feature":{"name":"PreToolUse"}},"profiles":["host","security_control","ai_operation"]},` +
			`"actor":{"user":{"name":"alice"},"session":{"uid":"s1"}},"device":{"type_id":0,"hostname":"ws-1"},"policy":{"name":"pre-bash.sh","uid":"b5bb"},"message_context":{"uid":"p1","application":{"uid":"s1"}},` +
			`"unmapped":{"prev":"2c26","kind":"invocation","permissionMode":"default","tool":"Bash","layer":"failure","decision":"blocked","hookName":"pre-bash.sh","onFailure":"block","exitCode":1,"timedOut":false,"gate":"block","deadlineMs":9000,"input":{"bytes":24,"hmac":"9f86","truncated":false}}}`,
		"otlp": `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"hooktrail"}},{"key":"service.version","value":{"stringValue":"0.1.0"}},{"key":"host.name","value":{"stringValue":"ws-1"}}]},"scopeLogs":[{"scope":{"name":"hooktrail.audit"},"logRecords":[` +
			`{"timeUnixNano":"1796076000123456789","observedTimeUnixNano":"1796076000123456789","severityNumber":17,"severityText":"ERROR","body":{"stringValue":"pre-bash.sh failed: exit=1"},"attributes":[` +
			`{"key":"log.record.uid","value":{"stringValue":"0193800c-5a40-7000-8000-000000000001"}},{"key":"hooktrail.seq","value":{"intValue":"4711"}},{"key":"hooktrail.prev","value":{"stringValue":"2c26"}},{"key":"hooktrail.schema_version","value":{"intValue":"1"}},{"key":"user.name","value":{"stringValue":"alice"}},{"key":"hooktrail.kind","value":{"stringValue":"invocation"}},{"key":"session.id","value":{"stringValue":"s1"}},` +
			`{"key":"hooktrail.hook.event","value":{"stringValue":"PreToolUse"}},{"key":"gen_ai.tool.call.id","value":{"stringValue":"toolu_1"}},{"key":"prompt.id","value":{"stringValue":"p1"}},{"key":"hooktrail.permission_mode","value":{"stringValue":"default"}},{"key":"hooktrail.cwd","value":{"stringValue":"/app"}},{"key":"gen_ai.tool.name","value":{"stringValue":"Bash"}},{"key":"hooktrail.command","value":{"stringValue":"npm test"}},` +
			`{"key":"hooktrail.layer","value":{"stringValue":"failure"}},{"key":"hooktrail.decision","value":{"stringValue":"blocked"}},{"key":"hooktrail.reason","value":{"stringValue":"hook_callback_failed"}},{"key":"hooktrail.hook.name","value":{"stringValue":"pre-bash.sh"}},{"key":"hooktrail.hook.on_failure","value":{"stringValue":"block"}},{"key":"hooktrail.hook.exit_code","value":{"intValue":"1"}},{"key":"hooktrail.hook.timed_out","value":{"boolValue":false}},` +
			`{"key":"hooktrail.gate","value":{"stringValue":"block"}},{"key":"hooktrail.duration_ms","value":{"intValue":"41"}},{"key":"hooktrail.deadline_ms","value":{"intValue":"9000"}},{"key":"hooktrail.config.sha256","value":{"stringValue":"b5bb"}},{"key":"hooktrail.input.bytes","value":{"intValue":"24"}},{"key":"hooktrail.input.hmac","value":{"stringValue":"9f86"}},{"key":"hooktrail.input.truncated","value":{"boolValue":false}},` +
			`{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"error.type","value":{"stringValue":"hook_callback_failed"}}]}]}]}]}`,
		"cef": `CEF:0|hooktrail|hooktrail|0.1.0|block|hook_callback_failed|7|rt=1796076000123 externalId=0193800c-5a40-7000-8000-000000000001 cn3=4711 cn3Label=seq cat=invocation deviceFacility=PreToolUse act=blocked reason=hook_callback_failed cs3=failure cs3Label=layer shost=ws-1 suser=alice cs1=pre-bash.sh cs1Label=hookName cs2=block cs2Label=onFailure cn1=1 cn1Label=exitCode cn2=0 cn2Label=timedOut cs4=Bash cs4Label=tool cs5=toolu_1 cs5Label=toolUseId cs6=s1 cs6Label=session flexString1=2c26 flexString1Label=prev ` +
			`msg=pre-bash.sh failed: exit\=1\ncommand: npm test hooktrailPermissionMode=default hooktrailPromptId=p1 hooktrailDurationMs=41 hooktrailDeadlineMs=9000 hooktrailConfigSha256=b5bb hooktrailInputBytes=24 hooktrailInputHmac=9f86 hooktrailInputTruncated=false hooktrailCommand=npm test hooktrailCwd=/app hooktrailSchemaVersion=1`,
	} {
		require.Equal(t, want, exported(t, format, line), format)
	}
}

// TestSubjects: a shell call is a process, an MCP call is a call of a tool, and a
// file, a page and a machine stand where each is looked for.
func TestSubjects(t *testing.T) {
	want := [][4]string{ // class and operation; ECS category and place; CEF key
		{"1007", "process", "process.command_line", "hooktrailCommand"},
		{"6003 Write", "file", "file.path", "filePath"},
		{"6003 tools/call", "api", "labels.target", "hooktrailTarget"},
		{"6003 WebFetch", "web", "url.full", "request"},
		{"6003 Task", "api", "gen_ai.tool.name", "tool"},
		{"6003 SessionStart", "session", "labels.hookEvent", "deviceFacility"},
	}
	for i, s := range subjects() {
		o := checkOCSF(t, exported(t, "ocsf", s.line()))
		got := fmt.Sprint(o["class_uid"])
		if api, ok := o["api"].(map[string]any); ok {
			got += " " + fmt.Sprint(api["operation"])
		}
		require.Equal(t, want[i][0], got)
		e := checkECS(t, exported(t, "ecs", s.line()))
		require.Equal(t, []any{want[i][1]}, e["event.category"])
		require.Contains(t, e, want[i][2])
		require.Contains(t, checkCEF(t, exported(t, "cef", s.line())), want[i][3])
	}
	after := checkOCSF(t, exported(t, "ocsf", fieldsOf{"tool": "Bash", "command": "ls", "hookEvent": "PostToolUse"}.line()))
	require.Equal(t, json.Number("100799"), after["type_uid"], "the event does not say that the process ended")
}

// TestNothingIsLost gives every field of the audit schema, and some that are not
// in it, a value of its own, and looks for each in every format.
func TestNothingIsLost(t *testing.T) {
	b, err := os.ReadFile("../../schemas/audit-event.schema.json")
	require.NoError(t, err)
	type property struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
	}
	var schema property
	require.NoError(t, json.Unmarshal(b, &schema))
	n := 7000000
	e := fieldsOf{}
	fill := func(name string, of map[string]property, to map[string]any) {
		for k, p := range of {
			n++
			switch {
			case k == "time" || k == "input" || k == "checkpoint" || k == "truncated" || k == "timedOut":
			case k == "schemaErrors":
				to[k] = []any{fieldsOf{"path": "/7000", "message": "v7000", "more": "v7001"}}
			case name+k == "durationMs": // ECS has it in nanoseconds
				to[k] = n
			case p.Type == "integer", strings.HasSuffix(k, "S") || strings.HasSuffix(k, "Ms"), k == "schemaVersion", k == "bytes":
				to[k] = n
			default:
				to[k] = fmt.Sprintf("v%d", n)
			}
		}
	}
	fill("", schema.Properties, e)
	in, cp := fieldsOf{}, fieldsOf{}
	fill("input.", schema.Properties["input"].Properties, in)
	fill("checkpoint.", schema.Properties["checkpoint"].Properties, cp)
	cp["time"] = "2026-11-30T22:00:01.000000007Z"
	in["later"] = "v8001"
	e["input"], e["checkpoint"], e["mcpServer"] = in, cp, "v8002"
	e["newText"], e["newNumber"], e["new.nested"] = "v8003", 8004, fieldsOf{"a": []any{"v8005", nil, ""}}

	var look func(any)
	var want []string
	look = func(v any) {
		switch v := v.(type) {
		case fieldsOf:
			for _, x := range v {
				look(x)
			}
		case []any:
			for _, x := range v {
				look(x)
			}
		case string, int:
			if v != "" {
				want = append(want, fmt.Sprint(v))
			}
		}
	}
	look(e)
	require.Greater(t, len(want), 50)
	for _, format := range Formats() {
		out := exported(t, format, e.line())
		for _, v := range want {
			require.Contains(t, out, v, format)
		}
	}
	// And each name of the schema is one of ours.
	for k := range schema.Properties {
		_, ok := topLevel.find([]byte(k), topLevel.first)
		require.True(t, ok, k)
	}
}

// TestHostileText: whatever stands in a field, the record is whole, and the
// value can be read back.
func TestHostileText(t *testing.T) {
	for _, s := range []string{
		`a|b=c\d]e"f`, `\`, `\\`, `|`, `=`, ` a=b `, `CEF:0|x|y|1|2|3|4|act=allowed`, "line\nact=allowed", "\r\n", "tab\there",
		"\x1b[31mred\x1b[0m", "\x00\x7f\u0085", "\u2028\u2029", "\u202eabc\u200b", "\ufeff", "\U000e0041\U000e0042", "é日本😀", `\u001b`, `\n`, "\b\f",
		strings.Repeat("x", 4000), strings.Repeat("=", 4000), strings.Repeat("\x1b", 1000), strings.Repeat("é", 3000), strings.Repeat("\n", 900),
		strings.Repeat("\U000e0041", 500),
	} {
		line := fieldsOf{"tool": "Bash", "command": s, "user": s, "gate": s, "reason": s, "message": "m", "product": s, "new": s}.line()
		e := checkECS(t, exported(t, "ecs", line))
		require.Equal(t, s, e["process.command_line"])
		require.Equal(t, s, e["labels.unmapped_new"])
		o := checkOCSF(t, exported(t, "ocsf", line))
		require.Equal(t, s, o["process"].(map[string]any)["cmd_line"])
		l := checkOTLP(t, exported(t, "otlp", line))[0]
		require.Equal(t, s, l["hooktrail.command"])
		c := checkCEF(t, exported(t, "cef", line))
		for _, got := range []string{c["hooktrailCommand"], c["suser"], c["hooktrailUnmapped_new"]} {
			if begin, _, cut := strings.Cut(got, "…[cut, "); cut {
				require.True(t, cutBetweenRunes(s, begin), "%q", begin)
				require.Equal(t, "1", c["hooktrailTruncated"])
			} else {
				require.Equal(t, shown(s), got)
			}
		}
		for _, format := range Formats() {
			out := exported(t, format, line)
			require.Equal(t, out, audit.Printable(out), "something is raw in %s", format)
		}
	}
}

// cutBetweenRunes tells whether begin shows whole characters of s.
func cutBetweenRunes(s, begin string) bool {
	for i, r := range s {
		if begin == "" {
			return i > 0
		}
		var ok bool
		if begin, ok = strings.CutPrefix(begin, shown(string(r))); !ok {
			return false
		}
	}
	return false
}

// TestFullLines: an event whose every text is long still fits a line of CEF, with
// what matters most in it.
func TestFullLines(t *testing.T) {
	for _, s := range []string{strings.Repeat("=", 200), strings.Repeat("\x1b", 100), strings.Repeat("é", 150), strings.Repeat("x y=z|", 40)} {
		e, cp := fieldsOf{}, fieldsOf{}
		for f := fTime; f < nFields; f++ {
			if fields[f].is != text {
				continue
			}
			if f < topLevel.end {
				e[fields[f].name] = s
			} else if f >= inSnapshot.first {
				cp[fields[f].name] = s
			}
		}
		e["checkpoint"], e["new"], e["command"], e["message"], e["schemaErrors"] = cp, s, strings.Repeat(s, 8), strings.Repeat(s, 8), []any{fieldsOf{"path": s, "message": s}}
		line := exported(t, "cef", e.line())
		c := checkCEF(t, line)
		require.Greater(t, len(line), 7000)
		for _, key := range []string{"externalId", "seq", "cat", "act", "reason", "layer", "shost", "suser", "hookName", "tool", "toolUseId", "session", "prev", "msg"} {
			require.Contains(t, c, key)
		}
		require.Contains(t, c["msg"], "\ncommand: ")
		require.Equal(t, "1", c["hooktrailTruncated"])
	}
}

// TestDamagedText: invalid UTF-8 is replaced, in names too.
func TestDamagedText(t *testing.T) {
	line := bytes.Replace(fieldsOf{"command": "caf_", "tool": "Bash"}.line(), []byte("caf_"), []byte("caf\xe9\xe9 \xff"), 1)
	require.Equal(t, "caf\ufffd \ufffd", checkECS(t, exported(t, "ecs", line))["process.command_line"])
	bad := bytes.Repeat([]byte("\xffa"), (audit.MaxLine-len(line))/2)
	checkECS(t, exported(t, "ecs", bytes.Replace(line, []byte("caf"), bad, 1))) // no keyword grows too long
	line = bytes.Replace(fieldsOf{"n_": 1}.line(), []byte("n_"), []byte("n\xe9"), 1)
	checkECS(t, exported(t, "ecs", line))
	checkCEF(t, exported(t, "cef", line))
	checkOCSF(t, exported(t, "ocsf", line))
	checkOTLP(t, exported(t, "otlp", line))
}

// TestLinesThatAreNoEvents have an error that says why.
func TestLinesThatAreNoEvents(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`nonsense`, "not strict JSON"},
		{`{"time":"2026`, "not strict JSON"},
		{``, "not strict JSON"},
		{`   `, "not strict JSON"},
		{`[]`, "no JSON object"},
		{`{}`, "no time"},
		{`{"time":"2026-11-30T22:00:00Z","kind":"log"}`, "no eventId"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1"}`, "no kind"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","kind":"log"}`, "kind"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","ki\u006ed":"log"}`, "kind"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","new":{"a":1,"a":2}}`, "duplicate"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","schemaErrors":[{"path":"","path":"/a"}]}`, "duplicate"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log"} x`, "something follows"},
		{`{"time":"yesterday","eventId":"1","kind":"log"}`, "time: not a time"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","exitCode":"1"}`, "exitCode: not an integer"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","exitCode":1.5}`, "exitCode: not an integer"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","timedOut":"false"}`, "timedOut: not a boolean"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","user":null}`, "user: not a string"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","seq":-1}`, "seq: negative"},
		{`{"time":"2026-11-30T22:00:00Z","eventId":"1","kind":"log","schemaErrors":[1]}`, "schemaErrors: not a list of objects"},
	} {
		require.ErrorContains(t, new(Event).Parse([]byte(tt.line)), tt.want, tt.line)
	}
}

// TestTimes: a time that a format cannot say in its own way is still there.
func TestTimes(t *testing.T) {
	for _, tt := range []struct{ time, ecs, otlp, cef string }{
		{"2026-11-30T22:00:00.123456789Z", "2026-11-30T22:00:00.123456789Z", "1796076000123456789", "1796076000123"},
		{"2026-11-30T23:00:00+01:00", "2026-11-30T22:00:00.000000000Z", "1796076000000000000", "1796076000000"},
		{"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500000000Z", "", ""},
		{"2500-01-01T00:00:00Z", "2500-01-01T00:00:00.000000000Z", "", "16725225600000"},
	} {
		line := fieldsOf{"time": tt.time}.line()
		require.Equal(t, tt.ecs, checkECS(t, exported(t, "ecs", line))["@timestamp"])
		l := checkOTLP(t, exported(t, "otlp", line))[0]
		if tt.otlp == "" {
			require.NotContains(t, l, "/time")
			require.Equal(t, tt.ecs, l["hooktrail.time"])
		} else {
			require.Equal(t, tt.otlp, l["/time"])
		}
		require.Equal(t, tt.cef, checkCEF(t, exported(t, "cef", line))["rt"])
	}
}

// TestBatches: a request holds the records of one resource, and is no longer
// than a reader takes.
func TestBatches(t *testing.T) {
	var b bytes.Buffer
	w, err := New(&b, "otlp")
	require.NoError(t, err)
	var e Event
	for i := range 1000 {
		host := "ws-1"
		if i >= 990 {
			host = "ws-2"
		}
		require.NoError(t, e.Parse(fieldsOf{"host": host, "seq": i + 1, "message": strings.Repeat("m", 1000)}.line()))
		require.NoError(t, w.Write(&e))
	}
	require.NoError(t, w.Flush())
	require.NoError(t, w.Flush())
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	seq := int64(0)
	hosts := map[any]int{}
	for _, line := range lines {
		require.Less(t, len(line), 160<<10)
		for _, r := range checkOTLP(t, line) {
			seq++
			require.Equal(t, seq, r["hooktrail.seq"])
			hosts[r["/host.name"]]++
		}
	}
	require.Equal(t, map[any]int{"ws-1": 990, "ws-2": 10}, hosts)
	require.Less(t, len(lines), 30)
}

// TestWriterSaysWhatFailed: a reader that is gone is an error.
func TestWriterSaysWhatFailed(t *testing.T) {
	r, out := io.Pipe()
	require.NoError(t, r.Close())
	for _, format := range Formats() {
		w, err := New(out, format)
		require.NoError(t, err)
		var e Event
		require.NoError(t, e.Parse(fieldsOf{}.line()))
		require.NoError(t, w.Write(&e))
		require.ErrorIs(t, w.Flush(), io.ErrClosedPipe)
	}
	_, err := New(out, "leef")
	require.ErrorContains(t, err, "ecs, ocsf, otlp and cef")
}
