package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

type fieldsOf map[string]any

// line makes a line of e, with what each event has.
func (e fieldsOf) line() []byte {
	all := fieldsOf{
		"time": "2026-11-30T22:00:00.123456789Z", "eventId": "0193800c-5a40-7000-8000-000000000001", "seq": 4711,
		"prev": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "schemaVersion": 1,
		"product": "hooktrail/0.1.0", "host": "ws-1", "user": "alice", "kind": "invocation", "sessionId": "s1",
		"hookEvent": "PreToolUse", "layer": "none", "decision": "none", "reason": "observed", "message": "",
	}
	for k, v := range e {
		if all[k] = v; v == nil {
			delete(all, k)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// subjects are a shell call, a file, a machine, a web page, a tool with neither,
// and no call at all.
func subjects() []fieldsOf {
	return []fieldsOf{
		{"tool": "Bash", "command": "npm test", "toolUseId": "toolu_1", "cwd": "/home/alice/app"},
		{"tool": "Write", "target": "/home/alice/app/main.go", "toolUseId": "toolu_2"},
		{"tool": "mcp__vsphere__vm_power_off", "mcpServer": "vsphere", "target": "app01", "toolUseId": "toolu_3"},
		{"tool": "WebFetch", "target": "https://example.com/a?b=c|d", "toolUseId": "toolu_4"},
		{"tool": "Task", "hookEvent": "PermissionRequest"},
		{"hookEvent": "SessionStart"},
	}
}

// cases are every branch of the gate with every layer for every subject, every
// reason once more, and the events of the log and of checkpoints.
func cases() [][]byte {
	var all [][]byte
	n := 0
	add := func(gate any, code reason.Code, layer reason.Layer, subject fieldsOf) {
		decisions := []string{"allowed", "blocked", "asked", "deferred", "denied", "none"}
		kinds := []string{"invocation", "callback", "permission"}
		e := fieldsOf{
			"gate": gate, "reason": code, "layer": layer, "decision": decisions[(n+n/6)%6], "kind": kinds[(n+n/3)%3],
			"eventId": fmt.Sprintf("0193800c-5a40-7000-8000-%012d", n+1), "seq": n + 1,
			"message": "It was so.", "hookName": "pre-bash.sh", "onFailure": "block", "exitCode": n % 256, "timedOut": n%2 == 0,
			"durationMs": n, "deadlineMs": 9000, "configSha256": fmt.Sprintf("%064d", n), "promptId": "p1", "agentId": "a1",
			"permissionMode": "default", "transcriptPath": "/home/alice/t.jsonl", "evidence": "transcript:reasonCode",
			"input": fieldsOf{"bytes": n, "hmac": fmt.Sprintf("%064d", n), "truncated": n%5 == 0},
		}
		maps.Copy(e, subject)
		all = append(all, e.line())
		n++
	}
	for _, gate := range []any{"schema", "not_block_mode", "timeout_block", "allow", "block", nil} {
		for _, code := range []reason.Code{"schema_invalid", "hook_failed_open", "hook_callback_failed", "hook_denied", "guard_read_only", "permission_rule", "audit_unavailable", "observed"} {
			for _, s := range subjects() {
				add(gate, code, code.Layer(), s)
			}
		}
	}
	codes := reason.Codes()
	for i, code := range slices.Sorted(maps.Keys(codes)) {
		add(nil, code, codes[code], subjects()[i%6])
	}
	for _, action := range []string{"opened", "rotated", "recovered", "truncated", "failing"} {
		all = append(all, fieldsOf{"kind": "log", "action": action, "sessionId": nil, "hookEvent": nil, "message": "the log"}.line())
	}
	for _, action := range []string{"requested", "confirmed", "failed", "late"} {
		all = append(all, fieldsOf{"kind": "checkpoint", "action": action, "target": "app01", "checkpoint": fieldsOf{
			"provider": "zerto", "vm": "app01", "vpg": "APP", "site": "cmh", "platform": "aws", "tag": "hooktrail 1", "id": "7",
			"time": "2026-11-30T22:00:01.000000000Z", "state": action, "cadenceS": 630, "waitedMs": 147800,
		}}.line())
	}
	return append(all, fieldsOf{"user": "", "host": "", "sessionId": "", "hookEvent": "", "product": ""}.line())
}

// exported returns the record of one event.
func exported(t testing.TB, format string, line []byte) string {
	var e Event
	require.NoError(t, e.Parse(line), "%s", line)
	var b bytes.Buffer
	w, err := New(&b, format)
	require.NoError(t, err)
	require.NoError(t, w.Write(&e))
	require.NoError(t, w.Flush())
	out, ok := bytes.CutSuffix(b.Bytes(), []byte("\n"))
	require.True(t, ok, "the record has no end")
	require.False(t, bytes.ContainsAny(out, "\n\r"), "the record is more than a line: %q", out)
	return string(out)
}

// decode decodes one JSON record, and refuses what no reader should get: names
// that stand there twice, nulls, and what is empty.
func decode(t testing.TB, record string) map[string]any {
	require.NoError(t, valid([]byte(record)), "%s", record)
	d := json.NewDecoder(bytes.NewReader([]byte(record)))
	d.UseNumber()
	var v map[string]any
	require.NoError(t, d.Decode(&v))
	require.False(t, hollow(v), "something is empty: %s", record)
	return v
}

func hollow(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if hollow(x) {
				return true
			}
		}
		return len(v) == 0
	case []any:
		return len(v) == 0 || slices.ContainsFunc(v, hollow)
	case string:
		return v == ""
	}
	return v == nil
}
