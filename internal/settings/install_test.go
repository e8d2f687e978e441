package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var installed = InstallOptions{Binary: "/opt/hooktrail/bin/hooktrail", Config: "/etc/hooktrail/config.json"}

// samples are the settings files that the tests of installing walk: made up
// ones, and those in the shapes of public ones (testdata/seen/README.md).
func samples(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for dir, least := range map[string]int{"install": 15, "seen": 20} {
		names, err := filepath.Glob("testdata/" + dir + "/*.json")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(names), least)
		for _, n := range names {
			b, err := os.ReadFile(n)
			require.NoError(t, err)
			all[dir+"/"+filepath.Base(n)] = b
		}
	}
	return all
}

// without returns a tree without our groups, and without what is empty under
// hooks.
func without(n *Node) *Node { return prune(n, false) }

func prune(n *Node, hooks bool) *Node {
	c := *n
	c.Members, c.Items = nil, nil
	for _, m := range n.Members {
		in := hooks || m.Name == "hooks"
		v := prune(m.Value, in)
		if in && (v.IsList() || v.IsObject()) && len(v.Items)+len(v.Members) == 0 {
			continue
		}
		c.Members = append(c.Members, Member{Name: m.Name, Value: v})
	}
	for _, i := range n.Items {
		if !oursGroup(i) {
			c.Items = append(c.Items, prune(i, hooks))
		}
	}
	return &c
}

// emptyInside are the samples with empty brackets in the way of ours: without a
// record nobody knows what space was in them.
var emptyInside = []string{
	"install/01-empty-object.json", "install/02-empty-object-newline.json", "install/03-empty-object-open.json", "install/10-bom.json",
	"install/11-empty-lists.json", "seen/07-expressions-as-matchers.json", "seen/14-milliseconds.json",
}

func TestInstallChangesOnlyOurPart(t *testing.T) {
	for name, before := range samples(t) {
		for _, events := range []string{"all", "guard"} {
			t.Run(name+" "+events, func(t *testing.T) {
				o := installed
				o.Events, _ = Events(events)
				after, err := Install(before, o)
				require.NoError(t, err)

				was, err := Parse(before)
				require.NoError(t, err)
				is, err := Parse(after)
				require.NoError(t, err)
				require.True(t, equal(without(was), without(is)), "%s", after)
				for _, e := range o.Events {
					found := 0
					for _, g := range is.Get("hooks").Get(e).items() {
						if oursGroup(g) {
							found++
						}
					}
					require.Equal(t, 1, found, e)
				}
				// Every byte that was there is still there, in its order; only
				// the space inside of brackets that were empty may go.
				require.True(t, subsequence(strings.Fields(string(before)), string(after)))

				again, err := Install(after, o)
				require.NoError(t, err)
				require.Equal(t, string(after), string(again), "twice is once")

				back, err := Uninstall(after)
				require.NoError(t, err)
				if !slices.Contains(emptyInside, name) {
					require.Equal(t, string(before), string(back))
				}
				gone, err := Parse(back)
				require.NoError(t, err)
				require.True(t, equal(without(was), without(gone)), "%s", back)
				require.NotContains(t, string(back), "hooktrail")
				require.Equal(t, errorsIn(before), errorsIn(after), "installing is no fault")
			})
		}
	}
}

// errorsIn counts the errors that check finds.
func errorsIn(b []byte) int {
	return Check([]File{{Name: "f", Bytes: b}}, Options{}).Count(Error)
}

// subsequence tells whether the words stand in s, one after the other.
func subsequence(words []string, s string) bool {
	all := strings.Join(words, "")
	i := 0
	for j := 0; i < len(all) && j < len(s); j++ {
		if all[i] == s[j] {
			i++
		}
	}
	return i == len(all)
}

func TestInstallEntry(t *testing.T) {
	after, err := Install([]byte("{\n  \"model\": \"opus\"\n}\n"), InstallOptions{Binary: "/b/hooktrail", Config: "/c.json", Events: []string{"PreToolUse"}})
	require.NoError(t, err)
	require.Equal(t, `{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/b/hooktrail",
            "args": [
              "hook",
              "--config",
              "/c.json"
            ],
            "timeout": 180,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
`, string(after))
}

func TestOnFailureStandsOnlyWhereItHasEffect(t *testing.T) {
	bin, err := os.Executable()
	require.NoError(t, err)
	after, err := Install(nil, InstallOptions{Binary: bin, Config: installed.Config})
	require.NoError(t, err)
	r := Check([]File{{Name: "f", Bytes: after}}, Options{})
	require.Empty(t, r.Findings)
	for _, e := range r.Entries {
		require.Equal(t, e.Event == "PreToolUse" || e.Event == "PermissionRequest", e.Mode == "block", e.Event)
		require.NotContains(t, []string{"WorktreeCreate", "MessageDisplay"}, e.Event)
	}
	require.Equal(t, 30, len(r.Entries))
}

// staysOpen are commands in the samples that wrap does not make block: one is
// for another shell, and the author of the other wants it to go on.
var staysOpen = []string{
	`& 'C:\Program Files\Cleaner\files.exe' --strict`,
	`/opt/hooktrail/bin/hooktrail run --on-failure continue --timeout 4s --config /etc/hooktrail/config.json -- /bin/sh -c "${CLAUDE_PLUGIN_ROOT}/bin/shield.sh"`,
}

func TestWrapAndUnwrap(t *testing.T) {
	for name, before := range samples(t) {
		t.Run(name, func(t *testing.T) {
			o := installed
			o.Wrap, o.Events = true, []string{"PreToolUse"}
			after, err := Install(before, o)
			require.NoError(t, err)
			r := Check([]File{{Name: "f", Bytes: after}}, Options{})
			require.Equal(t, errorsIn(before), r.Count(Error), "%v", r.Findings)
			for _, e := range r.Entries {
				if e.Event == "PreToolUse" && e.Type == "command" && e.Runs && !slices.Contains(staysOpen, e.Command) {
					require.True(t, e.Blocks, "%+v", e)
				}
			}
			again, err := Install(after, o)
			require.NoError(t, err)
			require.Equal(t, string(after), string(again))

			back, err := Uninstall(after)
			require.NoError(t, err)
			was, _ := Parse(before)
			is, err := Parse(back)
			require.NoError(t, err)
			require.True(t, equal(without(was), without(is)), "%s", back)
		})
	}
}

// TestWrappedEntriesBlockWithoutUs: where a failure of theirs blocks, so does the
// loss of hooktrail itself; what the author wrote stays, and unwrapping gives the
// first bytes back.
func TestWrappedEntriesBlockWithoutUs(t *testing.T) {
	for _, tt := range []struct{ name, event, entry, want string }{
		{"no key", "PreToolUse", `{"type":"command","command":"x"}`, `"args": ["run","--timeout","25s","--on-failure","block","--config","/etc/ht.json","--","/bin/sh","-c","x"], "onFailure": "block"}`},
		{"no key, exec form", "PermissionRequest", `{"type":"command","args":[],"command":"x"}`, `"args":["run","--timeout","25s","--on-failure","block","--config","/etc/ht.json","--","x"], "onFailure": "block","command":"/opt/hooktrail"}`},
		{"block", "PreToolUse", `{"onFailure":"block","type":"command","command":"x"}`, `{"onFailure":"block","type":"command","command":"/opt/hooktrail", "args": ["run","--on-failure","block","--timeout","25s","--config","/etc/ht.json","--","/bin/sh","-c","x"]}`},
		{"continue", "PreToolUse", `{"type":"command","command":"x","onFailure":"continue"}`, `"args": ["run","--on-failure","continue","--timeout","25s","--config","/etc/ht.json","--","/bin/sh","-c","x"],"onFailure":"continue"}`},
		{"a prompt", "UserPromptSubmit", `{"type":"command","command":"x"}`, `"args": ["run","--on-failure","continue","--timeout","25s","--config","/etc/ht.json","--","/bin/sh","-c","x"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := InstallOptions{Binary: "/opt/hooktrail", Config: "/etc/ht.json", Wrap: true, Events: []string{"Stop"}}
			before := `{"hooks":{"` + tt.event + `":[{"hooks":[` + tt.entry + `]}]}}`
			after, err := Install([]byte(before), o)
			require.NoError(t, err)
			require.Contains(t, string(after), tt.want)
			back, err := Uninstall(after)
			require.NoError(t, err)
			require.Equal(t, before, string(back))
		})
	}
}

func TestInstallRefuses(t *testing.T) {
	for _, tt := range []struct{ name, in, says string }{
		{"comments", "{\n// c\n}", "line 2"},
		{"a trailing comma", `{"a":1,}`, "comma"},
		{"cut", `{"hooks":{`, "ends"},
		{"a list", `[]`, "object"},
		{"hooks a list", `{"hooks":[]}`, "hooks is not an object"},
		{"an event no list", `{"hooks":{"PreToolUse":{}}}`, "PreToolUse"},
		{"hooks twice", `{"hooks":{},"hooks":{}}`, "2 times"},
		{"an event twice", `{"hooks":{"Stop":[],"Stop":[]}}`, "more than once"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "UTF-16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Install([]byte(tt.in), installed)
			require.ErrorContains(t, err, tt.says)
			require.ErrorIs(t, err, ErrRefused)
		})
	}
	_, err := Install(nil, InstallOptions{Binary: "hooktrail", Config: "/c"})
	require.ErrorContains(t, err, "absolute")
}

// TestIdle: an installed guard that the host would not run is told of.
func TestIdle(t *testing.T) {
	for before, why := range map[string]string{
		`{}`:                       "",
		`{"disableAllHooks":true}`: "it does not run: disableAllHooks is set in f",
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x","onFailure":"Block"}]}]}}`: "the host throws the whole file away: hooks.PreToolUse[0].hooks[0].onFailure cannot be loaded",
		`{"permissions":{"defaultMode":"yolo"}}`:                                                      "the host throws the whole file away: permissions.defaultMode is unknown",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}}`:                                         "",
	} {
		got := Idle(File{Name: "f", Bytes: must(Install([]byte(before), installed))})
		require.Equal(t, why == "", got == "", "%s: %s", before, got)
		require.Contains(t, got, why)
	}
}

func fixedNow() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }

func TestApplyAndRemoveGiveTheFirstBytesBack(t *testing.T) {
	for name, before := range samples(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "settings.json")
			require.NoError(t, os.WriteFile(file, before, 0o640))
			require.NoError(t, os.Chmod(file, 0o640))
			link := filepath.Join(dir, "link.json")
			require.NoError(t, os.Symlink(file, link))
			s := Store{Dir: filepath.Join(dir, "state", "installed"), Now: fixedNow}
			o := installed
			o.Wrap = true
			for range 2 {
				c, err := s.Plan(link, o)
				require.NoError(t, err)
				require.NoError(t, s.Apply(c, o))
			}
			info, err := os.Lstat(link)
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&os.ModeSymlink, "the link stays a link")
			info, err = os.Stat(file)
			require.NoError(t, err)
			if runtime.GOOS != "windows" {
				require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
			}
			backup, err := os.ReadFile(s.Backup(file))
			require.NoError(t, err)
			require.Equal(t, string(before), string(backup))

			c, err := s.PlanRemoval(link)
			require.NoError(t, err)
			require.NoError(t, s.Remove(c))
			back, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(before), string(back))
			left, err := os.ReadDir(s.Dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestRemoveAfterSomebodyElseEdited(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	require.NoError(t, os.WriteFile(file, []byte("{\n  \"model\": \"opus\"\n}\n"), 0o600))
	s := Store{Dir: filepath.Join(dir, "state"), Now: fixedNow}
	c, err := s.Plan(file, installed)
	require.NoError(t, err)
	require.NoError(t, s.Apply(c, installed))
	edited := bytes.Replace(c.After, []byte(`"opus"`), []byte(`"sonnet"`), 1)
	require.NoError(t, os.WriteFile(file, edited, 0o600))
	c, err = s.PlanRemoval(file)
	require.NoError(t, err)
	require.Equal(t, "{\n  \"model\": \"sonnet\"\n}\n", string(c.After))
}

func TestANewFileGoesAwayAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".claude", "settings.json")
	s := Store{Dir: filepath.Join(dir, "state"), Now: fixedNow}
	c, err := s.Plan(file, installed)
	require.NoError(t, err)
	require.NoError(t, s.Apply(c, installed))
	c, err = s.PlanRemoval(file)
	require.NoError(t, err)
	require.NoError(t, s.Remove(c))
	require.NoFileExists(t, file)
}

func TestApplyRefusesWhenSomebodyWasFaster(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	s := Store{Dir: filepath.Join(dir, "state"), Now: fixedNow}
	c, err := s.Plan(file, installed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(`{"model":"opus"}`), 0o600))
	require.ErrorIs(t, s.Apply(c, installed), ErrRefused)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, `{"model":"opus"}`, string(b))
}

// TestAnotherName: a program that was installed under another name finds its
// own entries again, and one under its usual name takes them over.
func TestAnotherName(t *testing.T) {
	other := installed
	other.Binary = "/opt/ht"
	few, fewUsual := other, installed
	few.Events, _ = Events("guard")
	fewUsual.Events = few.Events
	for name, before := range samples(t) {
		t.Run(name, func(t *testing.T) {
			after, err := Install(before, few)
			require.NoError(t, err)
			again, err := Install(after, few)
			require.NoError(t, err)
			require.Equal(t, string(after), string(again), "twice is once")
			back, err := Uninstall(after, other.Binary)
			require.NoError(t, err)
			usual, err := Uninstall(must(Install(before, fewUsual)))
			require.NoError(t, err)
			require.Equal(t, string(usual), string(back))
		})
	}
	file := filepath.Join(t.TempDir(), "settings.json")
	s := Store{Dir: t.TempDir(), Now: time.Now}
	for _, o := range []InstallOptions{other, installed, other} {
		c, err := s.Plan(file, o)
		require.NoError(t, err)
		require.NoError(t, s.Apply(c, o))
		r := Check([]File{Load(file, "user")}, Options{})
		found := 0
		for _, e := range r.Entries {
			own, ok := Ours([]File{Load(file, "user")}, e, o.Binary)
			require.True(t, ok, e)
			require.Equal(t, o.Binary, own.Words[0])
			if e.Event == "PreToolUse" {
				found++
			}
		}
		require.Equal(t, 1, found, "one guard, whatever it was called before")
	}
	require.Empty(t, Disarms(Reload{Source: "user_settings", File: file, Records: s.All()}))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(b), "/opt/ht", "/opt/hu")), 0o600))
	require.NotEmpty(t, Disarms(Reload{Source: "user_settings", File: file, Records: s.All()}))
	require.False(t, isOurs(must(Parse([]byte(`{"type":"command","command":"","args":["hook"]}`))), ""), "an unnamed program is nobody's")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
