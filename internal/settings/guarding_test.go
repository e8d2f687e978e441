package settings

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSwallows: of each script that is said to lose the status, a shell tells
// that it does, with a guard that ends with 2.
func TestSwallows(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "guard"), []byte("#!/bin/sh\nexit 2\n"), 0o700))
	for script, want := range map[string]string{
		"guard": "", "guard --x 2>&1": "", "guard && other": "", "guard || exit 2": "", "other && guard": "", "guard;": "", "guard &>log": "",
		"guard || true": "|| true", "guard || :": "|| :", "guard || exit 0": "|| exit 0", "guard || echo failed": "|| echo failed", "guard ||true ;": "|| true",
		"guard; exit 0": "; exit 0", "guard\nexit 0\n": "; exit 0", "guard; true": "; true", "guard && exit 0": "", "exit 0": "",
		"guard &": "&", "guard >/dev/null 2>&1 &": "&", "(guard) &": "&", "guard & wait": "",
		"guard | cat": "| cat", "guard 2>&1 | tee log": "| tee log", "guard |& cat": "| cat", "cat | guard": "", "jq .x | grep -q rm": "",
		"set -o pipefail; guard | cat": "", "set -e; guard; exit 0": "", "exec guard; exit 0": "", "guard || exit $?; exit 0": "",
		"grep -q rm && exit 2 || true": "", "if guard; then exit 0; fi; exit 2": "", "if ! guard; then exit 2; fi; exit 0": "", "case x in *) exit 2;; esac; exit 0": "",
		"guard 'a || true'": "", `guard "a; exit 0"`: "", `guard a\;exit\ 0`: "", "guard # || true": "", "guard 'exit 2' || true": "|| true",
		"guard <<E\nx\nE\nexit 0": "", "guard '": "", "( guard": "", "": "", "(guard || true)": "", "trap 'exit 2' ERR; guard; true": "",
	} {
		require.Equal(t, want, swallows(script), script)
		if want != "" {
			require.Zero(t, status(t, dir, script), script)
		}
	}
}

// status returns the exit status of a script in bash, or 0 where there is none.
func status(t *testing.T, dir, script string) int {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		return 0
	}
	cmd := exec.CommandContext(t.Context(), bash, "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode()
}

func TestALostStatusIsNoBlock(t *testing.T) {
	for command, blocks := range map[string]bool{"guard": true, "guard || true": false, "sh -c 'guard; exit 0'": false, "hooktrail run -- sh -c 'guard | cat'": false,
		`echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'; exit 0`: true} {
		q, _ := json.Marshal(command)
		r := check(pre(`{"type":"command","command":` + string(q) + `,"onFailure":"block"}`))
		require.Equal(t, blocks, r.Entries[0].Blocks, command)
		require.Equal(t, blocks, string(r.Entries[0].Branch) == "block", command)
		require.Equal(t, blocks, r.Count(Warning) == 0, command)
	}
}

func TestFailsOpen(t *testing.T) {
	const entry = `{"type":"command","command":"x"}`
	for _, tt := range []struct {
		name, text, client string
		want               bool
	}{
		{"command", pre(entry), "", true},
		{"http", pre(`{"type":"http","url":"https://h"}`), "2.1.295", true},
		{"mcp_tool", on("PermissionRequest", `{"type":"mcp_tool","server":"s","tool":"t"}`), "", true},
		{"its author says so", pre(`{"type":"command","command":"x","onFailure":"continue"}`), "", false},
		{"prompt", pre(`{"type":"prompt","prompt":"x"}`), "", false},
		{"an old client", pre(entry), "2.1.294", false},
		{"after the fact", on("PostToolUse", entry), "", false},
		{"wrapped", pre(`{"type":"command","command":"hooktrail run -- x"}`), "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Check([]File{{Name: "f", Bytes: []byte(tt.text)}}, Options{Client: tt.client})
			require.Equal(t, tt.want, len(r.Findings) == 1 && r.Findings[0].Code == "fails-open" && r.Findings[0].Severity == Note, r.Findings)
		})
	}
}

func TestProgramsOnPath(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "python3"), nil, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
	for command, missing := range map[string]bool{
		"here": false, "here --x | none": false, "none": true, "data": true, "A=b none": true, "none || exit 2": true, "here; none": false,
		"cd /x && none": false, "[ -f x ] && none": false, "$GUARD": false, "${X:-none} y": false, "~/none": false, "./none": false, "bin/none": false,
		"`none`": false, "if none; then exit 2; fi": false, "test -x y": false, "n?ne": false, `C:\\none.exe`: false,
		"python3 " + dir + "/none.py": true, "python3 -u " + dir + "/none.py": true, "python3 -c " + dir + "/none": false, "python3 -m none": false,
		"python3 " + dir + "/data": false, "python3 none.py": false, "python3 $X/none.py": false, "python3 ${CLAUDE_PROJECT_DIR}/none.py": true,
		`python3 "$CLAUDE_PROJECT_DIR"/none.py`: true, `python3 "$CLAUDE_PROJECT_DIR/data"`: false, "python3 ${CLAUDE_PLUGIN_ROOT}/none.py": false,
		"# why\n[ -x y ] || exit 2": false, "# it's why\nnone": true, "here # none": false, "# none": false, "echo a#b": false,
	} {
		q, _ := json.Marshal(command)
		r := Check([]File{{Name: "f", Bytes: []byte(pre(`{"type":"command","command":` + string(q) + `,"onFailure":"block"}`))}}, Options{Path: dir, Project: dir})
		require.Equal(t, missing, strings.Contains(codes(r), "command-missing"), "%s: %v", command, r.Findings)
		require.Zero(t, r.Count(Error))
	}
	for args, missing := range map[string]bool{`"here","args":["x"]`: false, `"none","args":[]`: true, `"test","args":[]`: true, `"none","shell":"powershell"`: false} {
		r := Check([]File{{Name: "f", Bytes: []byte(pre(`{"type":"command","command":` + args + `,"onFailure":"block"}`))}}, Options{Path: dir})
		require.Equal(t, missing, strings.Contains(codes(r), "command-missing"), args)
	}
}

// TestWhatAMissingProgramComesTo: only before a call does one run unguarded, and
// only where exit status 2 says something is Python's for a missing script told.
func TestWhatAMissingProgramComesTo(t *testing.T) {
	for _, tt := range []struct{ event, bare, script string }{
		{"PreToolUse", `so the hook cannot start and, without onFailure "block", lets the call run`, "blocks every call (2)"},
		{"PermissionRequest", `cannot start and, without onFailure "block", leaves the request as it is`, "leaves the request as it is"},
		{"UserPromptSubmit", "so the hook cannot start", "drops every prompt (2)"},
		{"Stop", "so the hook cannot start", "never lets the turn end (2)"},
		{"PostToolBatch", "so the hook cannot start", "ends every turn (2)"},
		{"ConfigChange", "so the hook cannot start", "refuses every change (2)"},
		{"SessionStart", "so the hook cannot start", "so the hook fails at its start"},
		{"PostToolUse", "so the hook cannot start", "so the hook fails at its start"},
	} {
		for command, want := range map[string]string{"none": tt.bare, "/none.sh": tt.bare, "python3 /none.py": tt.script} {
			r := Check([]File{{Name: "f", Bytes: []byte(on(tt.event, `{"type":"command","command":"`+command+`"}`))}}, Options{Path: map[bool]string{true: "/none"}[command == "none"]})
			text := ""
			for _, f := range r.Findings {
				if f.Code == "command-missing" {
					text = f.Message
				}
			}
			require.Contains(t, text, want, tt.event+" "+command)
			if tt.event == "PreToolUse" {
				continue
			}
			for _, f := range r.Findings {
				require.NotContains(t, f.Message, "call", tt.event)
			}
		}
	}
}

// TestWhatAMissingProgramComesToBelowRun: whatever stands between, hooktrail run
// sees the failure, so nothing is said of a call that runs.
func TestWhatAMissingProgramComesToBelowRun(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"hooktrail", "timeout", "sh", "python3"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o700))
	}
	const failure = "; hooktrail run takes that for a failure"
	for command, want := range map[string]string{
		"none": failure, "/none/x.sh": failure, "timeout 5 /none/x.sh": failure, "sh -c 'timeout 5 none'": failure, "sh /none/x.sh": "; hooktrail run takes the interpreter's exit status",
		"python3 /none/x.py": "; hooktrail run takes the interpreter's exit status for a block (2) or a failure",
	} {
		q, _ := json.Marshal("hooktrail run -- " + command)
		r := Check([]File{{Name: "f", Bytes: []byte(pre(`{"type":"command","command":` + string(q) + `}`))}}, Options{Path: dir})
		require.Len(t, r.Findings, 1, command)
		require.Equal(t, "command-missing", r.Findings[0].Code)
		require.Contains(t, r.Findings[0].Message, want, command)
		require.NotContains(t, r.Findings[0].Message, "run it", command)
		require.NotContains(t, r.Findings[0].Message, "lets", command)
	}
}

// TestADeadHookFailsNeitherWay: of a hook that never runs, nothing is said of its
// failing.
func TestADeadHookFailsNeitherWay(t *testing.T) {
	for matcher, notes := range map[string]int{`Bash`: 1, `tool == \"Bash\" && tool_input.command matches \"make serve\"`: 0} {
		text := `{"hooks":{"PreToolUse":[{"matcher":"` + matcher + `","hooks":[{"type":"command","command":"x"}]}]}}`
		r := Check([]File{{Name: "f", Bytes: []byte(text)}}, Options{})
		require.Equal(t, notes, r.Count(Note), matcher)
		require.Equal(t, 1-notes, r.Count(Warning), matcher)
	}
}

// TestAUsersFileHasNoProject: a user's file lies in a folder .claude as a
// project's does, but serves every project.
func TestAUsersFileHasNoProject(t *testing.T) {
	text := []byte(pre(`{"type":"command","command":"\"${CLAUDE_PROJECT_DIR}/none.sh\"","onFailure":"block"}`))
	name := filepath.Join(t.TempDir(), ".claude", "settings.json")
	require.Empty(t, Check([]File{{Name: name, Layer: "user", Bytes: text}}, Options{}).Findings)
	require.Len(t, Check([]File{{Name: name, Layer: "project", Bytes: text}}, Options{}).Findings, 1)
}

// TestAPluginsFileKnowsItsFolder: what a plugin names below its own folder is
// looked for there; in another file nobody knows where that is.
func TestAPluginsFileKnowsItsFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "here.sh"), []byte("#!/bin/sh\n"), 0o700))
	for command, missing := range map[string]bool{`${CLAUDE_PLUGIN_ROOT}/here.sh`: false, `"$CLAUDE_PLUGIN_ROOT"/none.sh`: true, `bash "${CLAUDE_PLUGIN_ROOT}/none.sh"`: true, `$CLAUDE_PLUGIN_ROOTS/none.sh`: false, `$HOMES/none.sh`: false} {
		q, _ := json.Marshal(command)
		text := []byte(pre(`{"type":"command","command":` + string(q) + `,"onFailure":"block"}`))
		for layer, look := range map[string]bool{"plugin": missing, "user": false} {
			r := Check([]File{{Name: filepath.Join(dir, "hooks", "hooks.json"), Layer: layer, Bytes: text}}, Options{Home: dir})
			require.Equal(t, look, strings.Contains(codes(r), "command-missing"), "%s %s: %v", layer, command, r.Findings)
		}
	}
}

// TestReachingNames: each name is warned of in every layer, and its coming is a
// disarmament.
func TestReachingNames(t *testing.T) {
	for _, name := range strings.Fields("PATH GODEBUG GOTRACEBACK GOMEMLIMIT GOGC GOMAXPROCS SSL_CERT_FILE SSL_CERT_DIR HOME XDG_STATE_HOME HOOKTRAIL_LOG ZERTO_HOOK_LOG") {
		text := []byte(`{"env":{"` + name + `":"x"}}`)
		for _, layer := range []string{"", "user", "project", "local", "managed"} {
			r := Check([]File{{Name: "f", Layer: layer, Bytes: text}}, Options{})
			require.Equal(t, "warning env-injected /env/"+name, codes(r), layer)
			require.NotEmpty(t, r.Findings[0].Hint)
		}
		file := filepath.Join(t.TempDir(), "settings.json")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		require.Contains(t, Disarms(Reload{Source: "project_settings", File: file}), name)
	}
}
