package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDisarms(t *testing.T) {
	dir := t.TempDir()
	user := filepath.Join(dir, "settings.json")
	other := filepath.Join(dir, "project.json")
	after, err := Install([]byte("{\n  \"model\": \"opus\"\n}\n"), installed)
	require.NoError(t, err)
	events, _ := Events("all")
	record := Record{File: user, Events: events, Binary: installed.Binary, Config: installed.Config}
	swap := func(old, with string) string {
		require.Contains(t, string(after), old)
		return string(bytes.Replace(after, []byte(old), []byte(with), 1))
	}
	for _, tt := range []struct{ name, file, text, says string }{
		{"nothing of ours changes", user, swap(`"opus"`, `"sonnet"`), ""},
		{"another hook is added", user, swap(`"hooks": {`, `"hooks": {"Stop2": [],`), ""},
		{"cut", user, "{", "cannot load"},
		{"empty", user, "", "cannot load"},
		{"a comment", user, "// x\n" + string(after), "cannot load"},
		{"our entries removed", user, "{\n  \"model\": \"opus\"\n}\n", "PreToolUse has been removed"},
		{"another program of the same name", user, swap(`"command": "/opt/hooktrail/bin/hooktrail"`, `"command": "/tmp/hooktrail"`), "removed or changed"},
		{"another configuration", user, swap(`/etc/hooktrail/config.json`, `/tmp/c.json`), "removed or changed"},
		{"a matcher on our entry", user, swap(`"hooks": [`, `"matcher": "Write", "hooks": [`), "removed or changed"},
		{"a condition on our entry", user, swap(`"timeout": 180,`, `"timeout": 180, "if": "Bash(ls)",`), "removed or changed"},
		{"in the background", user, swap(`"timeout": 180,`, `"timeout": 180, "async": true,`), "removed or changed"},
		{"no onFailure", user, swap(`"timeout": 180,`+"\n            \"onFailure\": \"block\"", `"timeout": 180`), "let failures through"},
		{"onFailure continue", user, swap(`"onFailure": "block"`, `"onFailure": "continue"`), "let failures through"},
		{"a wrong onFailure voids the file", user, swap(`"onFailure": "block"`, `"onFailure": "Block"`), "cannot load"},
		{"disableAllHooks", user, swap(`"model"`, `"disableAllHooks": true, "model"`), "disableAllHooks"},
		{"disableAllHooks false", user, swap(`"model"`, `"disableAllHooks": false, "model"`), ""},
		{"disableAllHooks elsewhere", other, `{"disableAllHooks": true}`, "disableAllHooks"},
		{"a project's env", other, `{"env": {"BASH_ENV": "/tmp/x"}}`, "BASH_ENV"},
		{"ours in a project's env", other, `{"env": {"HOOKTRAIL_CONFIG": "/tmp/x"}}`, "HOOKTRAIL_CONFIG"},
		{"env in force already", other, `{"env": {"PATH": "/the/path"}}`, ""},
		{"harmless env", other, `{"env": {"EDITOR": "vi"}}`, ""},
		{"an unknown mode voids the file", other, `{"permissions": {"defaultMode": "nope"}}`, "cannot load"},
		{"a project without ours", other, `{"hooks": {}}`, ""},
		{"the file is gone", user, "-", "is gone"},
		{"a file without ours is gone", other, "-", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.text == "-" {
				require.NoError(t, os.Remove(tt.file))
			} else {
				require.NoError(t, os.WriteFile(tt.file, []byte(tt.text), 0o600))
			}
			how := Disarms(Reload{
				Source: "user_settings", File: tt.file, Records: []Record{record},
				Getenv: func(n string) string { return map[string]string{"PATH": "/the/path"}[n] },
			})
			if tt.says == "" {
				require.Empty(t, how)
			} else {
				require.Contains(t, how, tt.says)
			}
		})
	}
	require.Empty(t, Disarms(Reload{Source: "policy_settings", File: other}))
}

func TestDisarmsFindsTheFileByItsSource(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".claude"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".claude", "settings.local.json"), []byte(`{"disableAllHooks":true}`), 0o600))
	p := Places{Project: dir, ConfigDir: filepath.Join(dir, "none")}
	require.NotEmpty(t, Disarms(Reload{Source: "local_settings", Places: p}))
	require.Empty(t, Disarms(Reload{Source: "project_settings", Places: p}))
	require.Empty(t, Disarms(Reload{Source: "user_settings", Places: p}))
}
