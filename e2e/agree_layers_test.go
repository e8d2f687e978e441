//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings"
)

// A placed is a failing hook on an event, in a layer, with what stands in other
// layers beside it.
type placed struct {
	name   string
	event  string
	layer  string // user, project, local, managed, drop-in, plugin, installed
	text   string
	beside map[string]string // text by layer
	late   bool              // the hook fails by its time
}

// command is what the hook that fails runs.
func (p placed) command() string {
	switch {
	case p.late:
		return failing["times out"]
	case strings.Contains(p.text, failing["cannot start"]):
		return failing["cannot start"]
	}
	return failing["exit 1"]
}

// layered returns settings for the hook alone.
func layered(event string, entry obj, more obj) string {
	all := obj{"hooks": obj{event: []any{obj{"hooks": []any{entry}}}}}
	for k, v := range more {
		all[k] = v
	}
	return string(object(all))
}

var inLayers = []string{"user", "project", "local", "managed", "drop-in", "plugin", "installed"}

func placements() []placed {
	var all []placed
	add := func(p placed) { all = append(all, p) }
	modes := []struct {
		name string
		keys obj
	}{{"block", obj{"onFailure": "block"}}, {"continue", obj{"onFailure": "continue"}}, {"no key", nil}, {"Block", obj{"onFailure": "Block"}}}

	for _, layer := range inLayers {
		for _, m := range modes {
			if m.name != "continue" {
				add(placed{name: m.name + " in " + layer, event: "PreToolUse", layer: layer, text: layered("PreToolUse", entryOf("exit 1", m.keys), nil)})
			}
		}
	}
	good := layered("PreToolUse", entryOf("exit 1", obj{"onFailure": "block"}), nil)
	void := layered("PreToolUse", entryOf("exit 1", obj{"onFailure": "Block"}), nil)
	for _, layer := range inLayers {
		for _, other := range []string{"user", "project", "local", "managed", "drop-in"} {
			if other != layer {
				add(placed{name: "disableAllHooks in " + other + ", the hook in " + layer, event: "PreToolUse", layer: layer, text: good, beside: map[string]string{other: `{"disableAllHooks":true}`}})
			}
		}
		only := "managed"
		if layer == only {
			only = "drop-in"
		}
		add(placed{name: "allowManagedHooksOnly in " + only + ", the hook in " + layer, event: "PreToolUse", layer: layer, text: good, beside: map[string]string{only: `{"allowManagedHooksOnly":true}`}})
	}
	for _, layer := range []string{"user", "managed"} {
		add(placed{name: "disableAllHooks beside the hook in " + layer, event: "PreToolUse", layer: layer, text: layered("PreToolUse", entryOf("exit 1", obj{"onFailure": "block"}), obj{"disableAllHooks": true})})
		add(placed{name: "allowManagedHooksOnly beside the hook in " + layer, event: "PreToolUse", layer: layer, text: layered("PreToolUse", entryOf("exit 1", obj{"onFailure": "block"}), obj{"allowManagedHooksOnly": true})})
	}
	for _, other := range []string{"user", "project", "local"} {
		add(placed{name: "allowManagedHooksOnly in " + other + ", the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{other + "?": `{"allowManagedHooksOnly":true}`}})
	}
	for _, f := range [][2]string{{"not JSON", "{"}, {"empty", ""}, {"a list", "[]"}, {"a setting of a wrong type", `{"model":1}`}, {"a void hook", void}} {
		name, text := f[0], f[1]
		for _, where := range []string{"managed", "drop-in"} {
			other := map[string]string{"managed": "drop-in", "drop-in": "managed"}[where]
			add(placed{name: where + ", " + name + ", the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{where: text}})
			add(placed{name: where + ", " + name + ", the hook in " + other, event: "PreToolUse", layer: other, text: good, beside: map[string]string{where: text}})
		}
	}
	for _, hooks := range []string{`[]`, `"x"`, `[{"hooks":[{"type":"command","command":"exit 1","onFailure":"block"}]}]`} {
		add(placed{name: "managed, hooks " + hooks[:2] + ", the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{"managed": `{"hooks":` + hooks + `}`}})
	}
	add(placed{name: "managed empty, a void drop-in, the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{"managed": "", "drop-in": void}})
	add(placed{name: "managed without anything, a void drop-in, the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{"managed": "{}", "drop-in": void}})
	for _, f := range managedFaults(good) {
		add(placed{name: "managed, " + f[0] + ", the hook in it", event: "PreToolUse", layer: "managed", text: f[1]})
	}
	add(placed{name: "both managed files void, the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{"managed": void, "drop-in": "{"}})
	add(placed{name: "a managed file that is dropped only in part, the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{"managed": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","onFailure":"Block"}]}]}}`}})
	add(placed{name: "a void plugin, the hook in user", event: "PreToolUse", layer: "user", text: good, beside: map[string]string{"plugin": void}})
	add(placed{name: "a void user file, the hook in a plugin", event: "PreToolUse", layer: "plugin", text: good, beside: map[string]string{"user": void}})
	add(placed{name: "a void file that switches off, the hook in managed", event: "PreToolUse", layer: "managed", text: good, beside: map[string]string{"user": strings.Replace(void, "{", `{"disableAllHooks":true,`, 1)}})

	for _, event := range []string{"PermissionRequest", "PostToolUse", "PostToolBatch", "UserPromptSubmit", "Stop", "SessionStart"} {
		for _, m := range modes {
			for _, failure := range []string{"exit 1", "times out", "cannot start"} {
				if failure == "cannot start" && m.name != "block" || failure == "times out" && m.name == "Block" {
					continue
				}
				add(placed{name: event + ", " + m.name + ", " + failure, event: event, layer: "user", text: layered(event, entryOf(failure, m.keys), nil), late: failure == "times out"})
			}
		}
	}
	return all
}

// managedFaults are faults that void a user's file, put into a managed one that
// holds a guard.
func managedFaults(good string) [][2]string {
	top := func(more string) string { return strings.Replace(good, "{", "{"+more+",", 1) }
	return [][2]string{
		{"model 1", top(`"model":1`)}, {"a schema of 1", top(`"$schema":1`)}, {"env a string", top(`"env":"x"`)}, {"env null", top(`"env":null`)},
		{"a deny rule that is no list", top(`"permissions":{"deny":"Write"}`)}, {"an unknown default mode", top(`"permissions":{"defaultMode":"nope"}`)},
		{"disableAllHooks a string", top(`"disableAllHooks":"true"`)}, {"allowManagedHooksOnly a string", top(`"allowManagedHooksOnly":"x"`)},
		{"a comment", "// ours\n" + good}, {"a byte order mark", "\ufeff" + good},
		{"a matcher of a wrong type beside", strings.Replace(good, `"PreToolUse":[`, `"PreToolUse":[{"matcher":1,"hooks":[]},`, 1)},
		{"an unknown type beside", strings.Replace(good, `"PreToolUse":[`, `"PreToolUse":[{"hooks":[{"type":"banana"}]},`, 1)},
		{"Block on Stop beside", strings.Replace(good, `"PreToolUse":[`, `"Stop":[{"hooks":[{"type":"command","command":"x","onFailure":"Block"}]}],"PreToolUse":[`, 1)},
		{"a guard at the top beside", top(`"PermissionRequest":[{"hooks":[]}]`)},
		{"a guard in hooks in hooks beside", strings.Replace(good, `"hooks":{`, `"hooks":{"hooks":{"PermissionRequest":[{"hooks":[]}]},`, 1)},
		{"PermissionRequest an object beside", strings.Replace(good, `"hooks":{`, `"hooks":{"PermissionRequest":{},`, 1)},
		{"PermissionRequest null beside", strings.Replace(good, `"hooks":{`, `"hooks":{"PermissionRequest":null,`, 1)},
		{"Stop a string beside", strings.Replace(good, `"hooks":{`, `"hooks":{"Stop":"x",`, 1)},
		{"a flat entry beside", strings.Replace(good, `"PreToolUse":[`, `"PreToolUse":[{"type":"command","command":"x"},`, 1)},
		{"an unknown setting", top(`"frobnicate":1`)}, {"two of a name", top(`"hooks":{}`)},
	}
}

// TestCheckAgreesOnLayersAndEvents foretells whether a failure counts as a block
// and whether it holds something back, and compares both with the client.
func TestCheckAgreesOnLayersAndEvents(t *testing.T) {
	client(t)
	var mu sync.Mutex
	rows := map[string]string{}
	all := placements()
	t.Run("all", func(t *testing.T) {
		for _, p := range all {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				row := agreePlaced(t, p)
				mu.Lock()
				rows[p.name] = row
				mu.Unlock()
			})
		}
	})
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.name
	}
	writeTable(t, "-layers", "| the hook | runs | foretold | the failure | holds back |\n|---|---|---|---|---|\n", names, rows)
}

func agreePlaced(t *testing.T, p placed) string {
	s := session{Turns: []turn{bash("touch ran")}, Args: bypass}
	if p.event == "PermissionRequest" {
		s.Args = nil // elsewhere nobody is asked
	}
	put := map[string]string{p.layer: p.text}
	for layer, text := range p.beside {
		put[strings.TrimSuffix(layer, "?")] = text
	}
	if p.beside["user?"] != "" {
		put["user"] = strings.Replace(p.text, "{", `{"allowManagedHooksOnly":true,`, 1)
	}
	files := lay(t, &s, put)
	foretold := settings.Check(files, settings.Options{Client: version(t)})
	e := settings.Entry{Why: foretold.Halts}
	for _, x := range foretold.Entries {
		if x.File == p.layer && x.Event == p.event && (x.Command == p.command()) {
			e = x
		}
	}
	branch := e.Branch
	if p.late {
		branch = e.TimeoutBranch
	}

	s.MayNotStart = s.Inside != ""
	r := play(t, s)
	if p.layer == "installed" {
		layers := settings.Layers(settings.Places{ConfigDir: filepath.Join(r.Home, ".claude"), Project: r.Project})
		require.True(t, slices.ContainsFunc(layers, func(f settings.File) bool { return f.Layer == "plugin" && string(f.Bytes) == p.text }), "check finds the installed plugin, too")
	}
	halted := s.MayNotStart && r.asked == 0 && r.Exit != 0
	t.Logf("foretold: %s; measured: started %v %s", e.Why, !halted, r.Stderr)
	require.Equal(t, strings.Contains(e.Why, "does not start"), halted, "does the client start?")
	if halted {
		require.False(t, r.made("ran"))
		return fmt.Sprintf("| %s | no | %s | the host does not start | all |\n", p.name, branch)
	}
	const words = "blocking because onFailure is"
	told, _ := r.result(0, 0)
	counted := r.recorded(t, words)
	var held bool
	switch p.event {
	case "PreToolUse":
		held = !r.made("ran")
	case "PermissionRequest":
		if r.made("ran") && settings.Older(version(t), settings.SinceOnFailure) {
			t.Skip("this client asks nobody about the command, so no PermissionRequest hook runs")
		}
		held = strings.Contains(told.Text, words)
		require.False(t, r.made("ran"))
	case "PostToolBatch":
		held = r.asked == 1
		counted = held // the words are nowhere
	case "UserPromptSubmit":
		held = r.asked == 0
	default:
		held = r.asked != 2 || !r.made("ran")
	}
	if counted && p.event != "PostToolBatch" {
		require.Equal(t, p.late, r.recorded(t, "timed out; "+words))
	}
	t.Logf("foretold: runs %v, branch %s, blocks %v (%s); measured: counted %v, held %v", e.Runs, branch, e.Blocks, e.Why, counted, held)
	row := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", p.name, yes(e.Runs, "yes", "no"), branch, yes(counted, "counts as a block", "is let through"), yes(held, "yes", "no"))
	require.Equal(t, e.Runs && e.Blocks, held, "does the failure hold something back?")
	require.Equal(t, branch == "block" || branch == "timeout_block", counted, "does the failure count as a block?")
	return row
}

// recorded tells whether a text is in what the client sent to the model, printed,
// or wrote into its transcript.
func (r *run) recorded(t *testing.T, text string) bool {
	t.Helper()
	all := r.Stdout + r.last
	names, err := filepath.Glob(filepath.Join(r.Home, ".claude", "projects", "*", "*.jsonl"))
	require.NoError(t, err)
	for _, n := range names {
		b, err := os.ReadFile(n)
		require.NoError(t, err)
		all += string(b)
	}
	return strings.Contains(all, text)
}
