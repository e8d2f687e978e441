package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/event"
	"hooktrail/internal/schema"
)

func check(text string) Report {
	return Check([]File{{Name: "f", Bytes: []byte(text)}}, Options{})
}

// pre returns a file with one entry on PreToolUse.
func pre(entry string) string { return on("PreToolUse", entry) }

func on(event, entry string) string {
	return fmt.Sprintf(`{"hooks":{%q:[{"matcher":"Bash","hooks":[%s]}]}}`, event, entry)
}

// codes leaves out what is said of every hook without onFailure.
func codes(r Report) string {
	var all []string
	for _, f := range r.Findings {
		if f.Code == "fails-open" {
			continue
		}
		all = append(all, string(f.Severity)+" "+f.Code+" "+f.Path)
	}
	return strings.Join(all, "; ")
}

func TestFindings(t *testing.T) {
	const e = "/hooks/PreToolUse/0/hooks/0"
	for _, tt := range []struct{ name, in, want string }{
		{"sound", pre(`{"type":"command","command":"x","onFailure":"block"}`), ""},
		{"no hooks", `{"theme":"dark"}`, ""},
		{"fractions and fast matchers", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x","timeout":0.5}]}]}}`, ""},
		{"a comment", "{\n// c\n}", "error json-syntax "},
		{"not an object", "[]", "error not-an-object "},
		{"BOM", "\ufeff{}", "warning bom "},
		{"a key twice", `{"a":1,"a":2}`, "warning duplicate-key /a"},
		{"hooks a string", `{"hooks":"x"}`, "error hooks-type /hooks"},
		{"events at the top", `{"PreToolUse":[]}`, "error hooks-level /PreToolUse"},
		{"Hooks", `{"Hooks":{}}`, "error unknown-key /Hooks"},
		{"a misspelt event", on("PreToolCall", `{"type":"command","command":"x"}`), "error event-misspelt /hooks/PreToolCall"},
		{"an event in snake case", on("pre_tool_use", `{"type":"command","command":"x"}`), "error event-misspelt /hooks/pre_tool_use"},
		{"two letters swapped", on("PreTolUse", `{"type":"command","command":"x"}`), "error event-misspelt /hooks/PreTolUse"},
		{"an event with a tool", on("PostToolUse:Write", `{"type":"command","command":"x"}`), "error event-misspelt /hooks/PostToolUse:Write"},
		{"an event with a rule", on("PreToolUse(Bash)", `{"type":"command","command":"x"}`), "error event-misspelt /hooks/PreToolUse(Bash)"},
		{"an event of tomorrow", on("BudgetExceeded", `{"type":"command","command":"x"}`), "warning event-unknown /hooks/BudgetExceeded"},
		{"a tool as event", on("Write", `{"type":"command","command":"x"}`), "error event-is-tool /hooks/Write"},
		{"onFailure in other case", pre(`{"type":"command","command":"x","onFailure":"Block"}`), "error on-failure " + e + "/onFailure"},
		{"onFailure null", pre(`{"type":"command","command":"x","onFailure":null}`), "error on-failure " + e + "/onFailure"},
		{"the key in other case", pre(`{"type":"command","command":"x","OnFailure":"block"}`), "warning key-case " + e + "/OnFailure"},
		{"onFailure on a prompt", pre(`{"type":"prompt","prompt":"x","onFailure":"block"}`), "warning key-without-effect " + e + "/onFailure"},
		{"onFailure in the background", pre(`{"type":"command","command":"x","async":true,"onFailure":"block"}`), "warning async-guard " + e + "/async; warning key-without-effect " + e + "/onFailure"},
		{"onFailure on Stop", on("Stop", `{"type":"command","command":"x","onFailure":"block"}`), "note matcher-ignored /hooks/Stop/0/matcher; warning key-without-effect /hooks/Stop/0/hooks/0/onFailure"},
		{"mcp_tool reads anything as block", pre(`{"type":"mcp_tool","server":"s","tool":"t","onFailure":"Block"}`), "warning on-failure " + e + "/onFailure"},
		{"milliseconds", pre(`{"type":"command","command":"x","timeout":5000}`), "warning timeout-unit " + e + "/timeout"},
		{"an hour is an hour", pre(`{"type":"command","command":"x","timeout":3600}`), ""},
		{"a timer's end", pre(`{"type":"command","command":"x","timeout":1e300}`), "error timeout-range " + e + "/timeout"},
		{"timeout_ms", pre(`{"type":"command","command":"x","timeout_ms":5}`), "warning unknown-key " + e + "/timeout_ms"},
		{"a type in other case", pre(`{"type":"Command","command":"x"}`), "error type-unknown " + e + "/type"},
		{"an empty command", pre(`{"type":"command","command":" "}`), "error key-empty " + e + "/command"},
		{"disableAllHooks", `{"disableAllHooks":true}`, "warning hooks-disabled /disableAllHooks"},
		{"a setting of a wrong type", `{"model":1}`, "error setting-type /model"},
		{"PATH", `{"env":{"PATH":"/x"}}`, "warning env-injected /env/PATH"},
		{"an unknown mode", `{"permissions":{"defaultMode":"yolo"}}`, "error permission-mode /permissions/defaultMode"},
		{"a budget at the host's", pre(`{"type":"command","command":"hooktrail run --timeout 60s -- x","timeout":60}`), "warning budget " + e + "/timeout"},
		{"timeout 30 under 20", pre(`{"type":"command","command":"timeout 30 x","timeout":20}`), "warning budget " + e + "/timeout"},
		{"onFailure at the top", `{"onFailure":"block","hooks":{}}`, "warning key-without-effect /onFailure"},
		{"onfailure at the top", `{"onfailure":"block"}`, "warning key-without-effect /onfailure"},
		{"onFailure under hooks", `{"hooks":{"onFailure":"block"}}`, "warning key-without-effect /hooks/onFailure"},
		{"a condition on a guard", pre(`{"type":"command","command":"x","if":"Bash(rm *)","onFailure":"block"}`), "note if-is-filter " + e + "/if"},
		{"a condition on an observer", on("PostToolUse", `{"type":"command","command":"x","if":"Bash(rm *)"}`), ""},
		{"async", pre(`{"type":"command","command":"x","async":true}`), "warning async-guard " + e + "/async"},
		{"asyncRewake", on("PermissionRequest", `{"type":"command","command":"x","asyncRewake":true}`), "warning async-guard /hooks/PermissionRequest/0/hooks/0/asyncRewake"},
		{"async false", pre(`{"type":"command","command":"x","async":false}`), ""},
		{"an async observer", on("PostToolUse", `{"type":"command","command":"x","async":true}`), ""},
		{"hook -h", pre(`{"type":"command","command":"hooktrail hook -h"}`), "warning prints-help " + e + "/command"},
		{"run --help", pre(`{"type":"command","command":"hooktrail run --help -- x"}`), "warning prints-help " + e + "/command"},
		{"hook -h in exec form", pre(`{"type":"command","command":"hooktrail","args":["hook","-h"]}`), "warning prints-help " + e + "/command"},
		{"a wrapped command's help", pre(`{"type":"command","command":"hooktrail run -- guard -h"}`), ""},
		{"a lost status", pre(`{"type":"command","command":"guard || true","onFailure":"block"}`), "warning status-lost " + e + "/command"},
		{"a lost status after the fact", on("PostToolUse", `{"type":"command","command":"guard || true"}`), ""},
		{"a lost status in exec form", pre(`{"type":"command","command":"bash","args":["-c","guard; exit 0"]}`), "warning status-lost " + e + "/command"},
		{"a placeholder without quotes", pre(`{"type":"command","command":"node ${CLAUDE_PROJECT_DIR:-.}/x.js"}`), "warning path-unquoted " + e + "/command"},
		{"a placeholder in quotes", pre(`{"type":"command","command":"node \"${CLAUDE_PROJECT_DIR}/x.js\" a"}`), ""},
		{"a placeholder in an assignment", pre(`{"type":"command","command":"D=$CLAUDE_PROJECT_DIR exec guard"}`), ""},
		{"a placeholder in exec form", pre(`{"type":"command","command":"${CLAUDE_PROJECT_DIR}/x","args":[]}`), ""},
		{"backslashes", pre(`{"type":"command","command":"C:\\Users\\a\\guard.exe hook"}`), "warning path-backslash " + e + "/command"},
		{"backslashes of an argument", pre(`{"type":"command","command":"node C:\\a\\guard.mjs"}`), "warning path-backslash " + e + "/command"},
		{"backslashes in single quotes", pre(`{"type":"command","command":"node 'C:\\a\\guard.mjs'"}`), ""},
		{"backslashes in PowerShell", pre(`{"type":"command","shell":"powershell","command":"C:\\a\\guard.exe"}`), ""},
		{"from where the session is", pre(`{"type":"command","command":".claude/guard.sh"}`), "warning path-relative " + e + "/command"},
		{"a script from where the session is", pre(`{"type":"command","command":"python3 -u guard.py"}`), "warning path-relative " + e + "/command"},
		{"wrapped, from where the session is", pre(`{"type":"command","command":"hooktrail run -- ./guard.sh"}`), "warning path-relative " + e + "/command"},
		{"an observer from where the session is", on("PostToolUse", `{"type":"command","command":"./log.sh"}`), "note path-relative /hooks/PostToolUse/0/hooks/0/command"},
		{"behind a cd", pre(`{"type":"command","command":"cd \"$CLAUDE_PROJECT_DIR\" && ./guard.sh"}`), ""},
		{"a variable of old guides", pre(`{"type":"command","command":"echo \"$CLAUDE_TOOL_INPUT\" | grep -q rm"}`), "warning env-not-set " + e + "/command"},
		{"another variable of old guides", pre(`{"type":"command","command":"guard $CLAUDE_TOOL_INPUT_FILE_PATH"}`), "warning env-not-set " + e + "/command"},
		{"a variable of its own", pre(`{"type":"command","command":"TOOL_INPUT=$(cat); guard \"$TOOL_INPUT\""}`), ""},
		{"a line in exec form", pre(`{"type":"command","command":"python3 /opt/guard.py","args":["-v"]}`), "warning exec-form-line " + e + "/command"},
		{"a tilde in exec form", pre(`{"type":"command","command":"~/guard.sh","args":[]}`), "warning not-expanded " + e + "/command"},
		{"a variable in args", pre(`{"type":"command","command":"guard","args":["$HOME/rules"]}`), "warning not-expanded " + e + "/command"},
		{"a shell in exec form", pre(`{"type":"command","command":"sh","args":["-c","$HOME/guard.sh"]}`), ""},
		{"a header with a variable", pre(`{"type":"http","url":"https://h/x","headers":{"Authorization":"Bearer ${TOK}"}}`), "warning header-env " + e + "/headers/Authorization"},
		{"a header with an allowed variable", pre(`{"type":"http","url":"https://h/x","headers":{"Authorization":"Bearer $TOK"},"allowedEnvVars":["TOK"]}`), ""},
		{"another tool's key for failures", pre(`{"type":"command","command":"x","fail_mode":"closed"}`), "warning unknown-key " + e + "/fail_mode"},
		{"UTF-16 without a mark", "{\x00}\x00", "error json-syntax "},
		{"front matter", "---\nname: x\nhooks:\n---\n", "error json-syntax "},
		{"OpenCode", `{"experimental":{"hook":{"file_edited":{}}}}`, "warning foreign-file /experimental"},
		{"Kiro", `{"name":"x","when":{"type":"fileEdited"},"then":{"type":"askAgent"}}`, "warning foreign-file /then"},
		{"Gemini", `{"hooks":{"BeforeTool":[]}}`, "error foreign-file /hooks/BeforeTool"},
		{"Windsurf", `{"hooks":{"pre_run_command":[{"command":"x","show_output":true}]}}`, "error foreign-file /hooks/pre_run_command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := check(tt.in)
			require.Equal(t, tt.want, codes(r))
			for _, f := range r.Findings {
				require.Positive(t, f.Line)
				require.Positive(t, f.Column)
				require.NotEmpty(t, f.Message)
			}
		})
	}
}

// TestAnEventWithWhatItIsLimitedTo: guides teach such names; the hint says where
// each part belongs.
func TestAnEventWithWhatItIsLimitedTo(t *testing.T) {
	for name, matcher := range map[string]string{
		"PostToolUse:Write": "Write", "PostToolUse(Write)": "Write", "PostToolUse[Write]": "Write", "PostToolUse.Write": "Write", "PostToolUse/Write": "Write", "PostToolUse Write": "Write", "PostToolUse:": "",
	} {
		r := Check([]File{{Name: "f", Bytes: []byte(on(name, `{"type":"command","command":"x"}`))}}, Options{})
		require.Equal(t, "event-misspelt", r.Findings[0].Code, name)
		want := "the event is PostToolUse"
		if matcher != "" {
			want += `, and what it is limited to stands on the group: "matcher": "` + matcher + `"`
		}
		require.Equal(t, want, r.Findings[0].Hint, name)
	}
}

func TestMatchers(t *testing.T) {
	for m, want := range map[string]string{
		"": "", "*": "", ".*": "", "Bash": "", "Write|Edit": "", "Edit, Write": "", "^Bash$": "", "mcp__vsphere__.*": "", "mcp__a__b": "", "mcp__.*__write.*": "",
		"^(?!mcp__safe__).*": "", `mcp__a__\d+(?=x)`: "", "Notebook.*": "", "MyOwnTool": "", "mcp__vsphere__*": "", "Task": "matcher-renamed", "Task|Agent": "", "Write|Edit|MultiEdit": "",
		"MultiEdit": "matcher-dead", "Glob|Grep": "matcher-dead matcher-dead", "^(Glob|Grep)$": "matcher-dead", "BashOutput": "matcher-dead", "Bash.*": "", "^(Glob|Read)$": "",
		"bash": "matcher-dead", "mcp__vsphere": "matcher-dead", "Bash(git push*)": "matcher-dead", "Bsah": "matcher-dead", "PreToolUse": "matcher-dead", "BASH|write": "matcher-dead matcher-dead",
		"BashTool": "matcher-dead", "WriteTool|Edit": "matcher-dead", "ListMcpResourcesTool": "", "!Bash": "matcher-dead", "mcp:github:create": "matcher-dead",
		"mcp__[": "matcher-regex", "(?i)bash": "matcher-regex", "(Bash": "matcher-regex", "*.py": "matcher-regex", "^bash$": "matcher-dead", "^src/": "matcher-dead", "run_shell_command": "matcher-dead",
	} {
		t.Run(m, func(t *testing.T) {
			var got []string
			for _, f := range matcherFaults("PreToolUse", m) {
				got = append(got, f.code)
			}
			require.Equal(t, want, strings.Join(got, " "))
		})
	}
}

func TestTheOrderOfFilesMakesNoDifference(t *testing.T) {
	a := File{Name: "a.json", Bytes: []byte(pre(`{"type":"command","command":"x"}`))}
	b := File{Name: "b.json", Bytes: []byte(pre(`{"type":"command","command":"x","onFailure":"block"}`))}
	c := File{Name: "c.json", Bytes: []byte(`{"disableAllHooks":true}`)}
	require.Equal(t, Check([]File{a, b, c}, Options{}), Check([]File{c, b, a}, Options{}))
	r := Check([]File{b, c}, Options{})
	require.False(t, r.Entries[0].Runs, "switched off by the other file")
	require.Contains(t, r.Entries[0].Why, "disableAllHooks")
}

func TestOlderClientsIgnoreOnFailure(t *testing.T) {
	f := []File{{Name: "f", Bytes: []byte(pre(`{"type":"command","command":"x","onFailure":"block"}`))}}
	for client, branch := range map[string]string{"2.1.294": "not_block_mode", "2.1.295": "block", "2.1.328": "block", "2.0.9": "not_block_mode", "3.0.0": "block"} {
		r := Check(f, Options{Client: client})
		require.Equal(t, branch, string(r.Entries[0].Branch), client)
		require.Equal(t, branch != "block", len(r.Findings) == 1 && r.Findings[0].Code == "client-too-old", client)
	}
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o700))
		require.NoError(t, os.WriteFile(p, []byte(text), mode))
		return p
	}
	fine := put("fine.sh", "#!/bin/sh\n", 0o700)
	plain := put("plain.sh", "#!/bin/sh\n", 0o600)
	crlf := put("crlf.sh", "#!/bin/sh\r\n", 0o700)
	space := put("a b/guard.sh", "#!/bin/sh\n", 0o700)
	for _, tt := range []struct{ name, command, want string }{
		{"fine", fine + " --x", ""},
		{"missing", dir + "/none.sh", "command-missing"},
		{"not executable", plain, "command-not-executable"},
		{"by its interpreter", "/bin/sh " + plain, ""},
		{"a missing script", "/bin/sh " + dir + "/none.sh", "command-missing"},
		{"CRLF", crlf, "command-crlf"},
		{"a space without quotes", space + " --x", "command-unquoted"},
		{"a space in quotes", `"` + space + `" --x`, ""},
		{"an escaped space", strings.ReplaceAll(space, " ", `\ `), ""},
		{"relative", "./none.sh", "path-relative"},
		{"after an assignment", "A=b exec " + dir + "/none.sh", "command-missing"},
		{"a folder", dir, "command-missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, _ := json.Marshal(tt.command)
			r := check(pre(`{"type":"command","command":` + string(q) + `,"onFailure":"block"}`))
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Code)
			}
			require.Equal(t, tt.want, strings.Join(got, " "), tt.command)
		})
	}
}

// TestSchemaAndChecksAgree: whatever the schema refuses is an error of ours,
// with a place and a code of its own; and a file in which nothing is wrong
// passes the schema.
func TestSchemaAndChecksAgree(t *testing.T) {
	var texts []string
	values := []string{`null`, `1`, `"x"`, `""`, `true`, `[]`, `["x"]`, `{}`, `{"a":1}`, `-1`, `1e300`, `0`}
	for _, typ := range typeNames {
		for key := range hookTypes[typ].keys {
			for _, v := range values {
				e := fmt.Sprintf(`{"type":%q,"command":"c","url":"https://h","server":"s","tool":"t","prompt":"p",%q:%s}`, typ, key, v)
				texts = append(texts, pre(e), on("Stop", e))
			}
		}
		texts = append(texts, pre(fmt.Sprintf(`{"type":%q}`, typ)))
	}
	for _, v := range values {
		texts = append(texts, v, `{"hooks":`+v+`}`, `{"hooks":{"PreToolUse":`+v+`}}`, `{"hooks":{"Stop":[`+v+`]}}`, `{"hooks":{"Stop":[{"hooks":`+v+`}]}}`,
			`{"hooks":{"Stop":[{"matcher":`+v+`,"hooks":[]}]}}`, pre(v), pre(`{"type":`+v+`}`), `{"permissions":`+v+`,"hooks":{}}`, `{"permissions":{"allow":`+v+`},"hooks":{}}`,
			`{"permissions":{"defaultMode":`+v+`},"hooks":{}}`, `{"disableAllHooks":`+v+`,"hooks":{}}`, `{"env":`+v+`,"hooks":{}}`, `{"model":`+v+`,"hooks":{}}`)
	}
	open := map[string]bool{}
	for name, b := range samples(t) {
		texts = append(texts, string(b))
		open[string(b)] = slices.Contains(otherNames, name)
	}
	for _, text := range texts {
		root, err := Parse([]byte(text))
		require.NoError(t, err, text)
		refused := schema.Validate("hooks-settings", root.value())
		r := check(text)
		for _, f := range r.Findings {
			require.NotEqual(t, "schema", f.Code, "the schema found what the checks did not: %s: %v", text, f)
		}
		require.Equal(t, len(refused) > 0 || open[text], r.Count(Error) > 0, "%s\nschema: %v\ncheck: %v", text, refused, r.Findings)
	}
}

// otherNames are samples with hooks under names that the schema leaves open,
// since hosts add events.
var otherNames = []string{"seen/24-events-at-the-top.json", "seen/25-tool-as-event.json", "seen/26-event-with-a-tool.json"}

func TestSchemaKnowsTheEventsAndTypes(t *testing.T) {
	text, err := schema.Text("hooks-settings")
	require.NoError(t, err)
	root, err := Parse(text)
	require.NoError(t, err)
	var names []string
	root.Get("properties").Get("hooks").Get("properties").last(func(m Member) { names = append(names, m.Name) })
	require.ElementsMatch(t, event.Known(), names)
	names = nil
	for _, i := range root.Get("$defs").Get("entry").Get("properties").Get("type").Get("enum").Items {
		names = append(names, i.Text)
	}
	require.Equal(t, typeNames, names)
}

// FuzzCheck: whatever the bytes, no panic, and what is no JSON is an error with
// a place; an editable file stays one after installing.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(pre(`{"type":"command","command":"x","onFailure":"Block"}`)))
	f.Add([]byte("{ // c\n}"))
	f.Add([]byte(`{"hooks":{"PreToolUse":[{"matcher":"mcp__[","hooks":[{}]}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := Check([]File{{Name: "f", Bytes: b}}, Options{})
		_, err := Parse(b)
		if err != nil {
			require.Equal(t, 1, r.Count(Error))
			require.Positive(t, r.Findings[0].Line)
			return
		}
		after, err := Install(b, installed)
		if err != nil {
			return
		}
		again, err := Install(after, installed)
		require.NoError(t, err)
		require.Equal(t, string(after), string(again))
		_, err = Uninstall(after)
		require.NoError(t, err)
	})
}

// stable are the codes of findings. They are an interface: only ever added.
var stable = strings.Fields(`
	unreadable json-syntax bom duplicate-key not-an-object setting-type permission-mode foreign-file
	hooks-type hooks-level hooks-nested event-type event-misspelt event-is-tool event-unknown group-type group-flat group-hooks group-empty
	matcher-type matcher-regex matcher-dead matcher-slow matcher-ignored entry-type type-missing type-unknown key-missing key-type key-empty
	on-failure key-case unknown-key key-on-group key-without-effect client-too-old ends-turn timeout-type timeout-range timeout-unit
	budget budget-unknown command-missing command-not-executable command-crlf command-unquoted url-scheme url-plain
	async-guard if-is-filter status-lost prints-help matcher-renamed
	path-unquoted path-backslash path-relative plugin-root env-not-set exec-form-line not-expanded header-env
	hooks-disabled managed-hooks-only plugin-hooks-only env-injected same-hook-twice same-hook-modes fails-open schema too-many`)

// TestCodesNeverChange: every code that stands in the sources is in the list and
// in the documentation, and no other.
func TestCodesNeverChange(t *testing.T) {
	text, err := os.ReadFile("../../docs/check.md")
	require.NoError(t, err)
	for _, c := range stable {
		require.Contains(t, string(text), "`"+c+"`", "docs/check.md")
	}
	call := regexp.MustCompile(`(?:c\.add\([^\n]*?|c\.bad\([^\n]*?|\{\s*(?:Error|Warning|Note), )"([a-z]+(?:-[a-z]+)*)", (?:[a-z"]|fmt|se\.)`)
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	found := map[string]bool{}
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		b, err := os.ReadFile(n)
		require.NoError(t, err)
		for _, m := range call.FindAllStringSubmatch(string(b), -1) {
			require.Contains(t, stable, m[1], n)
			found[m[1]] = true
		}
	}
	require.Greater(t, len(found), 40)
}

// TestManagedFilesAreOneToTheHost: a switch in one of them turns off the hooks of
// all, and the host does not start when none of them can be loaded.
func TestManagedFilesAreOneToTheHost(t *testing.T) {
	good := pre(`{"type":"command","command":"x","onFailure":"block"}`)
	void := pre(`{"type":"command","command":"x","onFailure":"Block"}`)
	for _, tt := range []struct {
		name                  string
		managed, dropIn, user string // "" is no file
		in                    string // the file whose hook is looked at
		runs                  bool
		why                   string
	}{
		{"alone", good, "", "", "managed", true, "the tool call is blocked"},
		{"a switch in the drop-in", good, `{"disableAllHooks":true}`, "", "managed", false, "disableAllHooks is set in drop-in"},
		{"a switch in the main file", `{"disableAllHooks":true}`, good, "", "drop-in", false, "disableAllHooks is set in managed"},
		{"a switch in the user's file", good, good, `{"disableAllHooks":true}`, "managed", true, "the tool call is blocked"},
		{"managed hooks only", `{"allowManagedHooksOnly":true}`, good, "", "drop-in", true, "the tool call is blocked"},
		{"managed hooks only, a user's", `{"allowManagedHooksOnly":true}`, "", good, "user", false, "managed hooks only"},
		{"void", void, "", "", "managed", false, "the host does not start"},
		{"void, a user's", void, "", good, "user", false, "the host does not start"},
		{"both void, a user's", void, void, good, "user", false, "the host does not start"},
		{"not JSON beside a good one", "{", good, "", "drop-in", false, "the host does not start"},
		{"a list", "[]", "", good, "user", false, "the host does not start"},
		{"without a word", " ", "", good, "user", true, "the tool call is blocked"},
		{"a setting of a wrong type", `{"model":1,` + good[1:], "", "", "managed", true, "the tool call is blocked"},
		{"an unknown mode", `{"permissions":{"defaultMode":"yolo"},` + good[1:], "", "", "managed", true, "the tool call is blocked"},
		{"a switch of a wrong type", `{"disableAllHooks":"true",` + good[1:], "", "", "managed", true, "the tool call is blocked"},
		{"managed hooks only of a wrong type", `{"allowManagedHooksOnly":"x"}`, "", good, "user", false, "managed hooks only"},
		{"void beside one that says nothing", void, "{}", good, "user", false, "the host does not start"},
		{"a guard at the top beside", `{"PermissionRequest":[{"hooks":[]}],` + good[1:], "", "", "managed", true, "the tool call is blocked"},
		{"void beside a good one", void, good, "", "managed", false, "throws the whole file away"},
		{"a good one beside a void one", void, good, "", "drop-in", true, "the tool call is blocked"},
		{"a user's beside both", void, `{"model":"opus"}`, good, "user", true, "the tool call is blocked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var files []File
			for name, text := range map[string]string{"managed": tt.managed, "drop-in": tt.dropIn, "user": tt.user} {
				layer := name
				if name == "drop-in" {
					layer = "managed"
				}
				if text != "" {
					files = append(files, File{Name: name, Layer: layer, Bytes: []byte(text)})
				}
			}
			found := 0
			for _, e := range Check(files, Options{}).Entries {
				if e.File == tt.in {
					found++
					require.Equal(t, tt.runs, e.Runs)
					require.Contains(t, e.Why, tt.why)
				}
			}
			require.Equal(t, 1, found)
		})
	}
}
