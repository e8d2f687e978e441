package settings

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnFailureIsThatOfTheSettingsInForce(t *testing.T) {
	user := File{Name: "user.json", Layer: "user", Bytes: []byte(`{"hooks": {
		"PreToolUse": [
			{"matcher": "Bash", "hooks": [{"type": "command", "command": "a.sh", "onFailure": "block"}, {"type": "command", "command": "plain.sh"}]},
			{"matcher": "Write|Edit", "hooks": [{"type": "command", "command": "a.sh", "onFailure": "continue"}]},
			{"matcher": "^mcp__vs.*$", "hooks": [{"type": "command", "command": "mcp.sh", "onFailure": "block"}]},
			{"hooks": [{"type": "command", "command": "/bin/sh", "args": ["-c", "exit 1"], "onFailure": "block"}]},
			{"hooks": [{"type": "http", "url": "http://127.0.0.1:9/", "onFailure": "block"}, {"type": "prompt", "prompt": "well?"}]},
			{"hooks": [{"type": "command", "command": "beside.sh", "onFailure": "block", "async": true}]}
		],
		"Stop": [{"hooks": [{"type": "command", "command": "stop.sh", "onFailure": "block"}]}]
	}}`)}
	project := File{Name: "project.json", Layer: "project", Bytes: []byte(`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "two.sh", "onFailure": "block"}]}]}}`)}
	local := File{Name: "local.json", Layer: "local", Bytes: []byte(`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "two.sh"}]}]}}`)}
	void := File{Name: "void.json", Layer: "managed", Bytes: []byte(`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "void.sh", "onFailure": "Block"}]}]}}`)}
	h := InForce([]File{user, project, local, void}, Options{})
	for _, tt := range []struct {
		name, event, tool, command, want string
		unknown                          bool
	}{
		{"written", "PreToolUse", "Bash", "a.sh", "block", false},
		{"another matcher, another mode", "PreToolUse", "Edit", "a.sh", "continue", false},
		{"no tool to choose by", "PreToolUse", "", "a.sh", "", true},
		{"left out", "PreToolUse", "Bash", "plain.sh", "continue", false},
		{"its matcher is another's", "PreToolUse", "Write", "plain.sh", "", true},
		{"an expression", "PreToolUse", "mcp__vsphere__stop", "mcp.sh", "block", false},
		{"an expression that does not fit", "PreToolUse", "Bash", "mcp.sh", "", true},
		{"exec form", "PreToolUse", "Bash", "/bin/sh -c exit 1", "block", false},
		{"http", "PreToolUse", "Bash", "http://127.0.0.1:9/", "block", false},
		{"a type without the key", "PreToolUse", "Bash", "well?", "", true},
		{"in the background it has no effect", "PreToolUse", "Bash", "beside.sh", "continue", false},
		{"on Stop it has no effect", "Stop", "", "stop.sh", "continue", false},
		{"two files that differ", "PreToolUse", "Bash", "two.sh", "", true},
		{"a file that the host throws away", "PreToolUse", "Bash", "void.sh", "", true},
		{"nobody knows it", "PreToolUse", "Bash", "none.sh", "", true},
		{"another event", "PostToolUse", "Bash", "plain.sh", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := h.OnFailure(tt.event, tt.tool, tt.command)
			require.Equal(t, tt.want, got)
			require.Equal(t, !tt.unknown, ok)
		})
	}
	require.Equal(t, []string{"two.sh", "/bin/sh -c exit 1", "http://127.0.0.1:9/", "well?", "beside.sh"}, h.Commands("PreToolUse", "Read"))

	off := File{Name: "off.json", Layer: "project", Bytes: []byte(`{"disableAllHooks": true}`)}
	_, ok := InForce([]File{user, off}, Options{}).OnFailure("PreToolUse", "Bash", "a.sh")
	require.False(t, ok, "a hook that is switched off does not run")
}

// TestAHookLooksAtNoProgram: a name in a project's settings may lie on a file
// system that does not answer.
func TestAHookLooksAtNoProgram(t *testing.T) {
	files := []File{{Name: "settings.json", Bytes: []byte(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/gone/away.sh","onFailure":"block"}]}]}}`)}}
	looks := func(o Options) bool {
		return slices.ContainsFunc(Check(files, o).Findings, func(f Finding) bool { return f.Code == "command-missing" })
	}
	require.True(t, looks(Options{}))
	require.False(t, looks(Options{watched: true}))
	mode, ok := InForce(files, Options{}).OnFailure("PreToolUse", "Bash", "/gone/away.sh")
	require.True(t, ok)
	require.Equal(t, "block", mode)
}
