//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings"
)

// A variant is one settings file whose hook fails, and where it lies.
type variant struct {
	name  string
	where string // user, project, local; empty means user
	text  string
	more  string // text of a project file beside it
}

type obj = map[string]any

// failing are hooks that fail, each in its way.
var failing = map[string]string{
	"exit 1": "exit 1", "exit 3": "exit 3", "exit 126": "exit 126", "cannot start": "/nonexistent/hook", "killed": "kill -9 $$",
	"not JSON": `printf '{"hookSpecificOutput":{,}}'`, "times out": "sleep 20",
}

func entryOf(failure string, more obj) obj {
	e := obj{"type": "command", "command": failing[failure]}
	if failure == "times out" {
		e["timeout"] = 1
	}
	for k, v := range more {
		e[k] = v
	}
	return e
}

// on returns settings with an entry on an event, and a deny rule that shows
// whether the host has thrown the file away.
func on(event string, group, more obj, entries ...any) string {
	g := obj{"hooks": entries}
	for k, v := range group {
		g[k] = v
	}
	s := obj{"hooks": obj{event: []any{g}}, "permissions": obj{"deny": []any{"Write"}}}
	for k, v := range more {
		s[k] = v
	}
	b, _ := json.Marshal(s)
	return string(b)
}

func variants() []variant {
	var all []variant
	add := func(name, text string) { all = append(all, variant{name: name, text: text}) }
	pre := func(entries ...any) string { return on("PreToolUse", nil, nil, entries...) }
	block := obj{"onFailure": "block"}
	for _, f := range []string{"exit 1", "exit 3", "exit 126", "cannot start", "killed", "not JSON", "times out"} {
		add("block, "+f, pre(entryOf(f, block)))
	}
	for _, f := range []string{"exit 1", "cannot start", "killed", "times out"} {
		add("no key, "+f, pre(entryOf(f, nil)))
	}
	for _, v := range []any{"continue", "Block", "BLOCK", "block ", "", nil, true, 1, "warn", []any{"block"}} {
		b, _ := json.Marshal(v)
		add("onFailure "+string(b), pre(entryOf("exit 1", obj{"onFailure": v})))
	}
	for _, k := range []string{"OnFailure", "onfailure", "on_failure", "failClosed"} {
		add("key "+k, pre(entryOf("exit 1", obj{k: "block"})))
	}
	add("key on the matcher group", on("PreToolUse", block, nil, entryOf("exit 1", nil)))
	add("key at the top", on("PreToolUse", nil, block, entryOf("exit 1", nil)))
	add("async", pre(entryOf("exit 1", obj{"onFailure": "block", "async": true})))
	add("asyncRewake", pre(entryOf("exit 1", obj{"onFailure": "block", "asyncRewake": true})))
	for _, lost := range []string{"|| true", "; exit 0", "&", "| cat"} {
		add("status lost by "+lost, pre(obj{"type": "command", "command": "false " + lost, "onFailure": "block"}))
		add("exit 2 lost by "+lost, pre(obj{"type": "command", "command": "sh -c 'exit 2' " + lost, "onFailure": "block"}))
	}
	add("no program of that name", pre(obj{"type": "command", "command": "no-such-program-here", "onFailure": "block"}))
	add("no program of that name, no key", pre(obj{"type": "command", "command": "no-such-program-here"}))
	add("a missing script of bash, no key", pre(obj{"type": "command", "command": "bash /nonexistent.sh"}))
	add("exec form", pre(obj{"type": "command", "command": "/bin/sh", "args": []any{"-c", "exit 1"}, "onFailure": "block"}))
	add("exec form that cannot start", pre(obj{"type": "command", "command": "/nonexistent", "args": []any{}, "onFailure": "block"}))
	add("http, nobody there", pre(obj{"type": "http", "url": "http://127.0.0.1:9/", "onFailure": "block"}))
	add("http, nobody there, no key", pre(obj{"type": "http", "url": "http://127.0.0.1:9/"}))
	add("http, Block", pre(obj{"type": "http", "url": "http://127.0.0.1:9/", "onFailure": "Block"}))
	add("http, not a URL", pre(obj{"type": "http", "url": "not a url", "onFailure": "block"}))
	add("mcp_tool, no server", pre(obj{"type": "mcp_tool", "server": "none", "tool": "x", "onFailure": "block"}))
	add("mcp_tool, Block", pre(obj{"type": "mcp_tool", "server": "none", "tool": "x", "onFailure": "Block"}))
	add("mcp_tool, no key", pre(obj{"type": "mcp_tool", "server": "none", "tool": "x"}))
	for _, m := range []string{"Bash", "bash", "Ba", "^Ba", "Bash|Write", "Bash, Write", "Bash,Write", " Bash ", "*", "", ".*", "Bash(touch *)", "(?i)bash", "^(?!Read).*", "mcp__[", "Bash\\b", "B.sh"} {
		add(fmt.Sprintf("matcher %q", m), on("PreToolUse", obj{"matcher": m}, nil, entryOf("exit 1", block)))
	}
	for _, m := range []any{nil, 1, []any{"Bash"}, obj{"tools": []any{"Bash"}}} {
		b, _ := json.Marshal(m)
		add("matcher "+string(b), on("PreToolUse", obj{"matcher": m}, nil, entryOf("exit 1", block)))
	}
	for _, e := range []string{"UserPromptSubmit", "PostToolUse", "SessionStart", "Stop", "PreToolCall", "preToolUse"} {
		add("block on "+e, on(e, nil, nil, entryOf("exit 1", block)))
	}
	for _, v := range []any{"5", 0, -1, 0.5, nil, 1e300} {
		b, _ := json.Marshal(v)
		add("timeout "+string(b), pre(entryOf("exit 1", obj{"onFailure": "block", "timeout": v})))
	}
	add("shell zsh", pre(entryOf("exit 1", obj{"onFailure": "block", "shell": "zsh"})))
	add("async a string", pre(entryOf("exit 1", obj{"onFailure": "block", "async": "yes"})))
	add("no type", pre(obj{"command": "exit 1", "onFailure": "block"}))
	add("type shell", pre(obj{"type": "shell", "command": "exit 1", "onFailure": "block"}))
	add("no command", pre(obj{"type": "command", "onFailure": "block"}))
	add("an unknown key", pre(entryOf("exit 1", obj{"onFailure": "block", "when": "x"})))
	add("a string as entry", pre("exit 1"))
	add("a bad entry beside a good one", pre(entryOf("exit 1", block), obj{"type": "banana"}))
	// A bad entry elsewhere leaves the guard in force.
	elsewhere := func(event string, v any) string {
		var s obj
		_ = json.Unmarshal([]byte(pre(entryOf("exit 1", block))), &s)
		s["hooks"].(obj)[event] = v
		b, _ := json.Marshal(s)
		return string(b)
	}
	add("Block on PostToolUse beside", elsewhere("PostToolUse", []any{obj{"hooks": []any{entryOf("exit 1", obj{"onFailure": "Block"})}}}))
	add("Block on PermissionRequest beside", elsewhere("PermissionRequest", []any{obj{"hooks": []any{entryOf("exit 1", obj{"onFailure": "Block"})}}}))
	add("PostToolUse an object", elsewhere("PostToolUse", obj{"Write": obj{"command": "x"}}))
	add("Stop null", elsewhere("Stop", nil))
	add("Stop a string", elsewhere("Stop", "x"))
	add("PermissionRequest null", elsewhere("PermissionRequest", nil))
	add("PermissionRequest a string", elsewhere("PermissionRequest", "x"))
	add("a tool as event", elsewhere("Bash", []any{entryOf("exit 1", nil)}))
	add("hooks in hooks beside", elsewhere("hooks", obj{"PreToolUse": []any{obj{"hooks": []any{entryOf("exit 1", nil)}}}}))
	add("a comment as event", elsewhere("_comment", "ours"))
	add("a flat entry on Stop", elsewhere("Stop", []any{entryOf("exit 1", nil)}))
	add("a flat entry on PreToolUse", `{"hooks":{"PreToolUse":[{"type":"command","command":"exit 1","onFailure":"block"}]},"permissions":{"deny":["Write"]}}`)
	add("a group without hooks", `{"hooks":{"PreToolUse":[{"matcher":"Bash"}]},"permissions":{"deny":["Write"]}}`)
	add("hooks an object in a group", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":{"type":"command","command":"exit 1"}}]},"permissions":{"deny":["Write"]}}`)
	add("hooks null", `{"hooks":null,"permissions":{"deny":["Write"]}}`)
	add("hooks an empty list", `{"hooks":[],"permissions":{"deny":["Write"]}}`)
	add("hooks true", `{"hooks":true,"permissions":{"deny":["Write"]}}`)
	add("hooks a string", `{"hooks":"x","permissions":{"deny":["Write"]}}`)
	add("hooks a list of entries", `{"hooks":[{"event":"PreToolUse","command":"exit 1"}],"permissions":{"deny":["Write"]}}`)
	add("hooks a list of groups", `{"hooks":[{"matcher":"Bash","hooks":[{"type":"command","command":"exit 1"}]}],"permissions":{"deny":["Write"]}}`)
	add("hooks a group", `{"hooks":{"matcher":"Bash","hooks":[{"type":"command","command":"exit 1"}]},"permissions":{"deny":["Write"]}}`)
	add("events at the top", `{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 1","onFailure":"block"}]}],"permissions":{"deny":["Write"]}}`)
	add("PreToolUse an object", `{"hooks":{"PreToolUse":{"hooks":[{"type":"command","command":"exit 1","onFailure":"block"}]}},"permissions":{"deny":["Write"]}}`)
	add("PreToolUse null", `{"hooks":{"PreToolUse":null},"permissions":{"deny":["Write"]}}`)
	good := pre(entryOf("exit 1", block))
	add("a comment", "// ours\n"+good)
	add("a comment inside", strings.Replace(good, `{"hooks"`, "{ /* x */\n\"hooks\"", 1))
	add("a trailing comma", strings.TrimSuffix(good, "}")+",}")
	add("cut", good[:len(good)-3])
	add("empty", " \n")
	add("a list", "["+good+"]")
	add("null", "null")
	add("a byte order mark", "\ufeff"+good)
	add("onFailure twice, the last block", strings.Replace(good, `"onFailure":"block"`, `"onFailure":"continue","onFailure":"block"`, 1))
	add("onFailure twice, the last continue", strings.Replace(good, `"onFailure":"block"`, `"onFailure":"block","onFailure":"continue"`, 1))
	add("hooks twice", strings.TrimSuffix(good, "}")+`,"hooks":{}}`)
	top := func(k string, v any) string { return on("PreToolUse", nil, obj{k: v}, entryOf("exit 1", block)) }
	add("disableAllHooks", top("disableAllHooks", true))
	add("disableAllHooks false", top("disableAllHooks", false))
	add("disableAllHooks a string", top("disableAllHooks", "true"))
	add("disableAllHooks null", top("disableAllHooks", nil))
	add("allowManagedHooksOnly outside of managed", top("allowManagedHooksOnly", true))
	add("an unknown setting", top("frobnicate", 1))
	add("env a number", top("env", obj{"A": 1}))
	add("env a list", top("env", []any{1}))
	for _, x := range []struct {
		key string
		v   any
	}{
		{"permissions", obj{"deny": "Write"}}, {"permissions", obj{"deny": []any{"Write"}, "allow": "x"}}, {"env", "x"}, {"env", nil},
		{"model", 1}, {"cleanupPeriodDays", "x"}, {"statusLine", "x"}, {"enabledPlugins", []any{"x"}}, {"apiKeyHelper", 1}, {"outputStyle", 1}, {"includeCoAuthoredBy", "x"},
		{"permissions", obj{"deny": []any{"Write"}, "additionalDirectories": "x"}}, {"$schema", 1}, {"allowManagedHooksOnly", "x"}, {"theme", 1}, {"description", 1},
	} {
		b, _ := json.Marshal(x.v)
		add("setting "+x.key+" "+string(b), top(x.key, x.v))
	}
	add("an unknown default mode", top("permissions", obj{"deny": []any{"Write"}, "defaultMode": "nope"}))
	add("a default mode in other case", top("permissions", obj{"deny": []any{"Write"}, "defaultMode": "Plan"}))
	add("a rule that is no string", top("permissions", obj{"deny": []any{"Write", 5}}))
	for _, where := range []string{"project", "local"} {
		all = append(all, variant{name: "block in " + where, where: where, text: good})
		all = append(all, variant{name: "Block in " + where, where: where, text: strings.Replace(good, `"block"`, `"Block"`, 1)})
	}
	all = append(all,
		variant{name: "disableAllHooks in a project file", text: good, more: `{"disableAllHooks":true}`},
		variant{name: "a void project file beside", text: good, more: `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true","onFailure":"Block"}]}]}}`},
		variant{name: "a project file that is not JSON beside", text: good, more: `{`})
	return all
}

// writeTable writes the rows, in the order of their names, to the file that
// E2E_TABLE names, if it names one.
func writeTable(t *testing.T, suffix, head string, names []string, rows map[string]string) {
	t.Helper()
	path := os.Getenv("E2E_TABLE")
	if path == "" {
		return
	}
	var b strings.Builder
	b.WriteString(head)
	for _, n := range names {
		b.WriteString(rows[n])
	}
	require.NoError(t, os.WriteFile(path+suffix, []byte(b.String()), 0o600))
}

// TestCheckAgreesWithTheClient foretells with package settings what becomes of
// a call when the hook fails, and compares it with what the client does.
func TestCheckAgreesWithTheClient(t *testing.T) {
	client(t)
	var mu sync.Mutex
	rows := map[string]string{}
	all := variants()
	require.GreaterOrEqual(t, len(all), 40)
	limit := make(chan struct{}, 2) // the client takes a core and a half
	t.Run("all", func(t *testing.T) {
		for _, v := range all {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				limit <- struct{}{}
				defer func() { <-limit }()
				row := agree(t, v)
				mu.Lock()
				rows[v.name] = row
				mu.Unlock()
			})
		}
	})
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.name
	}
	writeTable(t, "", "| settings | file | hook runs | foretold | the call | the deny rule |\n|---|---|---|---|---|---|\n", names, rows)
}

func agree(t *testing.T, v variant) string {
	s := session{Args: bypass, Turns: []turn{bash("touch ran"), write("@PROJECT@/written.txt")}, Project: v.more}
	files := []settings.File{{Name: v.where + "settings.json", Bytes: []byte(v.text), Layer: v.where}}
	switch v.where {
	case "project":
		s.Project = v.text
	case "local":
		s.Local = v.text
	default:
		s.User = v.text
		files[0].Layer = "user"
	}
	if v.more != "" {
		files = append(files, settings.File{Name: "project.json", Bytes: []byte(v.more), Layer: "project"})
	}
	report := settings.Check(files, settings.Options{Client: version(t)})
	blocks, runs := false, false
	how := "–"
	for _, e := range report.Entries {
		if e.Event == "PreToolUse" || e.Event == "UserPromptSubmit" {
			blocks = blocks || e.Runs && e.Blocks
			runs = runs || e.Runs
			how = string(e.Branch)
		}
	}
	void := false
	for _, f := range report.Void {
		void = void || f == files[0].Name
	}
	r := play(t, s)
	ran, written := r.made("ran"), r.made("written.txt")
	row := fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", strings.ReplaceAll(v.name, "|", "\\|"), yes(void, "void", "loaded"), yes(runs, "yes", "no"), how, yes(ran, "ran", "blocked"), yes(written, "lost", "held"))
	t.Logf("ran %v, written %v", ran, written)
	require.Equal(t, blocks, !ran, "does the failure block? foretold %v; %v", blocks, report)
	if !strings.Contains(v.text, `"Write"`) || v.text[0] == '[' && !void {
		return row
	}
	if !blocks || r.asked > 1 { // a dropped prompt never comes to the rule
		require.Equal(t, void, written, "is the file void? foretold %v; %v", void, report)
	}
	return row
}

func yes(b bool, y, n string) string {
	if b {
		return y
	}
	return n
}
