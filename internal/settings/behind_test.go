package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramsBehindWrappers: what is missing or cannot be executed is found
// behind the programs that start it, and nothing is said where it is not certain
// what runs.
func TestProgramsBehindWrappers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range strings.Fields("timeout env nice nohup setsid stdbuf sh bash node python3 bun deno npx ruby hooktrail here") {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700))
	}
	for name, text := range map[string]string{"plain.sh": "#!/bin/sh\n", "crlf.sh": "#!/bin/sh\r\n", "crlf.py": "#!/usr/bin/python3\r\n", "guard.js": "", "data": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "package"), 0o700))
	const missing, plain, crlf = "command-missing", "command-not-executable", "command-crlf"
	for _, tt := range []struct{ command, want string }{
		// The wrappers, with what they take.
		{"timeout 5 @/here", ""}, {"timeout 5 @/none", missing}, {"timeout 5 none", missing}, {"timeout 5 here", ""}, {"timeout 5 @/plain.sh", plain},
		{"timeout -s KILL -k 2 --preserve-status 5s none", missing}, {"timeout --signal=KILL --kill-after 2 5s here", ""}, {"timeout --unknown 5 none", ""},
		{"timeout -k2 5 -- none", ""}, {"timeout -- 5 none", missing}, {"timeout 5", ""}, {"timeout", ""}, {"none 5 here", missing}, {"timeout 5 $GUARD", ""}, {"timeout 5 ./none", ""},
		{"timeout 5 source x", missing}, {"/usr/no/timeout 5 here", missing},
		{"env A=b none", missing}, {"env A=b here", ""}, {"env none", missing}, {"env -u X none", ""}, {"env -u X @/none", missing}, {"env -i none", ""}, {"env -i @/none", missing},
		{"env PATH=/x none", ""}, {"env PATH=/x @/none", missing}, {"env -S 'none x'", ""}, {"env - none", ""}, {"env", ""}, {"env -C /x ./none", ""}, {"env -C /x @/none", missing},
		{"nice none", missing}, {"nice -n 5 none", missing}, {"nice -n5 here", ""}, {"nice -5 none", missing}, {"nice --adjustment=5 none", missing}, {"nice -x none", ""},
		{"nohup none", missing}, {"setsid -w none", missing}, {"setsid --wait here", ""}, {"stdbuf -oL none", missing}, {"stdbuf -o L --error=0 here", ""},
		{"hooktrail run -- none", missing}, {"hooktrail run --timeout 5s --name x -- @/plain.sh", plain}, {"hooktrail run -- here", ""}, {"hooktrail run none", ""},
		{"hooktrail hook -- none", ""}, {"hooktrail run --all @/none", ""}, {"hooktrail run -- sh -c 'none'", missing}, {"hooktrail run --", ""},

		// One behind the other.
		{"env A=b timeout 5 nice none", missing}, {"nice timeout 5 env A=b here", ""}, {"A=b exec timeout 5 none", missing}, {"timeout 5 sh -c 'exec none'", missing},
		{"timeout 5 python3 @/none.py", missing}, {"env A=b bash @/none.sh", missing}, {"hooktrail run -- node @/none.js", missing},

		// Scripts in line.
		{"sh -c 'none'", missing}, {"sh -c 'here | none'", ""}, {"bash -c @/plain.sh", plain}, {"sh -c 'none || true'", missing}, {"sh -c '[ -x none ] && none'", ""},
		{"sh -c 'cd /x && none'", ""}, {`sh -c '"$1"' x none`, ""}, {"sh -c 'f() { true; }; f'", ""}, {"sh -c '(none)'", ""}, {"sh -c 'A=b none'", missing}, {"sh -c 'PATH=/x none'", ""},
		{"bash -lc none", ""}, {"bash -lc @/none", missing}, {"bash -o pipefail -c none", ""}, {"bash -euc none", missing}, {"sh -c", ""}, {"sh -c 'command -v none'", ""}, {"sh -c 'if none; then x; fi'", ""},
		{"sh -c 'none'; true", missing}, {"sh -c \"timeout 5 none\"", missing}, {"sh -c '# a note\nnone'", missing}, {"# a note\nnone", missing}, {"none \\\n  --flag", missing}, {"here \\\n  --flag", ""},
		{"f() { true; }; f", ""}, {"(none)", ""}, {"PATH=/x:$PATH none", ""}, {"PATH=/x exec none", ""}, {"PATH=/x @/none", missing},

		// Interpreters and their scripts.
		{"bash @/none.sh", missing}, {"bash @/plain.sh", ""}, {"bash -x @/none.sh", missing}, {"bash none.sh", ""}, {"bash @/crlf.sh", crlf}, {"bash @/package", missing}, {"bash --norc @/none.sh", ""},
		{"python3 @/none.py", missing}, {"python3 -u @/none.py", missing}, {"python3 @/package", ""}, {"python3 @/crlf.py", ""}, {"python3 -m none", ""}, {"python3 -W ignore @/none.py", ""}, {"python3.12 @/none.py", missing + " " + missing},
		{"node @/none.js", missing}, {"node @/guard", ""}, {"node @/guard.js", ""}, {"node @/package", ""}, {"node --require @/none.js x", ""}, {"node -e @/none", ""}, {"ruby @/none.rb", missing},
		{"deno run -A @/none.ts", ""}, {"bun run none", ""}, {"bun @/none.ts", missing}, {"npx none", ""}, {"npx -y @scope/none", ""}, {"npm exec none", missing},

		// Places that only the host knows.
		{`"$CLAUDE_PROJECT_DIR"/none.sh`, missing}, {`"$CLAUDE_PROJECT_DIR"/here`, ""}, {`"${CLAUDE_PROJECT_DIR}"/plain.sh`, plain}, {`timeout 5 "$CLAUDE_PROJECT_DIR"/none.sh`, missing},
		{`bash "$CLAUDE_PROJECT_DIR/none.sh"`, missing}, {`bash "$CLAUDE_PROJECT_DIR/plain.sh"`, ""}, {`sh -c '"$CLAUDE_PROJECT_DIR"/none.sh'`, missing}, {`timeout 5 "${CLAUDE_PLUGIN_ROOT}"/none.sh`, ""}, {"timeout 5 ~/none.sh", ""},
	} {
		t.Run(tt.command, func(t *testing.T) {
			q, _ := json.Marshal(strings.ReplaceAll(tt.command, "@", dir))
			r := Check([]File{{Name: "f", Bytes: []byte(pre(`{"type":"command","command":` + string(q) + `,"onFailure":"block"}`))}}, Options{Path: dir, Project: dir})
			var got []string
			for _, f := range r.Findings {
				if strings.HasPrefix(f.Code, "command-") {
					got = append(got, f.Code)
				}
			}
			require.Equal(t, tt.want, strings.Join(got, " "), r.Findings)
		})
	}
}

// TestProgramsBehindWrappersInExecForm: the same without a shell, whose words
// are then programs like others.
func TestProgramsBehindWrappersInExecForm(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"timeout", "sh", "env"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o700))
	}
	for args, want := range map[string]bool{
		`"timeout","args":["5","none"]`: true, `"timeout","args":["5","sh","-c","true; none"]`: false, `"sh","args":["-c","none x"]`: true, `"sh","args":["-c","if x; then y; fi"]`: false,
		`"env","args":["A=b","cd"]`: true, `"env","args":["A=b","none y"]`: true, `"exec","args":["none"]`: true, `"timeout","args":[]`: false,
	} {
		r := Check([]File{{Name: "f", Bytes: []byte(pre(`{"type":"command","command":` + args + `,"onFailure":"block"}`))}}, Options{Path: dir})
		require.Equal(t, want, strings.Contains(codes(r), "command-missing"), "%s: %v", args, r.Findings)
	}
}
