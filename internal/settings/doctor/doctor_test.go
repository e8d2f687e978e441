//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings"
)

func fixedNow() time.Time { return time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC) }

// guardScript stands for the program: it records what it understands and blocks
// what it does not.
const guardScript = `#!/bin/sh
read -r event
case $event in
*'"tool_use_id":"mark"'*) echo '{"time":"2026-12-01T08:59:59Z","toolUseId":"mark"}' >>LOG ;;
*) echo broken >&2; exit 2 ;;
esac
`

// A bench is an installation in a folder, whose parts tests break.
type bench struct {
	t   *testing.T
	dir string
	o   Options
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, text string, mode os.FileMode) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(b.path(name), []byte(strings.ReplaceAll(text, "LOG", b.o.Log)), mode))
	require.NoError(b.t, os.Chmod(b.path(name), mode))
}

// edit changes the settings file; old must stand in it.
func (b *bench) edit(old, text string) {
	b.t.Helper()
	f := &b.o.Files[0]
	require.Contains(b.t, string(f.Bytes), old)
	f.Bytes = []byte(strings.Replace(string(f.Bytes), old, text, 1))
}

func newBench(t *testing.T, url string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.o = Options{
		Log: b.path("log/audit.jsonl"), Client: "2.1.328", Env: os.Environ(), Now: fixedNow, Mark: "mark",
		Budget: func(string) (time.Duration, error) { return time.Minute, nil },
		Config: func(string) error { return nil },
		Verify: func(context.Context, string) ([]string, []string) { return nil, nil },
		Locked: func(context.Context, string) error { return nil },
	}
	require.NoError(t, os.Mkdir(b.path("log"), 0o700))
	b.write("log/audit.jsonl", `{"time":"2026-12-01T08:00:00Z"}`+"\n", 0o600)
	b.write("hooktrail", guardScript, 0o700)
	events, _ := settings.Events("all")
	text, err := settings.Install([]byte("{}"), settings.InstallOptions{
		Binary: b.path("hooktrail"), Config: b.path("config.json"), Events: events, Timeout: 180, URL: url, TokenEnv: "HOOK_TOKEN",
	})
	require.NoError(t, err)
	b.o.Files = []settings.File{{Name: "settings.json", Layer: "user", Bytes: text}}
	return b
}

// requireCheck requires that a check of a state say something, and what to do
// unless it is ok.
func requireCheck(t *testing.T, all []Check, name string, state State, detail string) {
	t.Helper()
	for _, c := range all {
		if c.Name == name && c.State == state && strings.Contains(c.Detail, detail) {
			require.True(t, state == OK || c.Do != "", "%s does not say what to do", name)
			return
		}
	}
	t.Fatalf("no %s %s: %q in %+v", state, name, detail, all)
}

// TestPlantedFaults: each is named by a check of its own. A sound bench has
// nothing but ok.
func TestPlantedFaults(t *testing.T) {
	script := func(text string) func(*bench) { return func(b *bench) { b.write("hooktrail", text, 0o700) } }
	for _, tt := range []struct {
		name  string
		plant func(*bench)
		check string
		state State
		want  string
	}{
		{"nothing", func(*bench) {}, "record", OK, "stands in the log"},
		{"nothing in the log yet", func(b *bench) {
			require.NoError(b.t, os.RemoveAll(b.path("log")))
			require.NoError(b.t, os.Mkdir(b.path("log"), 0o700))
		}, "record", OK, "stands in the log"},

		{"an exit status on which calls run", script("#!/bin/sh\ncat >/dev/null; echo gone >&2; exit 1\n"), "answer", Failed, "exit status 1, on which the host lets calls run: gone"},
		{"death by a signal", script("#!/bin/sh\ncat >/dev/null; kill -9 $$\n"), "answer", Failed, "on which the host lets calls run"},
		{"a harmless event is blocked", script("#!/bin/sh\ncat >/dev/null; echo no >&2; exit 2\n"), "answer", Failed, "a harmless event is blocked: no"},
		{"a banner before the answer", script("#!/bin/sh\ncat >/dev/null; echo hello; echo '{}'\n"), "answer", Failed, "not one JSON object: hello {}"},
		{"no program", func(b *bench) { require.NoError(b.t, os.Remove(b.path("hooktrail"))) }, "answer", Failed, "cannot be run"},
		{"nothing is recorded", script("#!/bin/sh\ngrep -q tool_use_id || exit 2\n"), "record", Failed, "does not stand in"},
		{"a broken event is let through", script(strings.Replace(guardScript, "exit 2", "exit 0", 1)), "fails closed", Failed, "it was let through"},
		{"a broken event kills it", script(strings.Replace(guardScript, "exit 2", "kill -9 $$", 1)), "fails closed", Failed, "on which the host lets calls run"},

		{"a log that others can read", func(b *bench) { require.NoError(b.t, os.Chmod(b.o.Log, 0o644)) }, "log", Warning, "mode 0644"},
		{"a folder that others can write", func(b *bench) { require.NoError(b.t, os.Chmod(b.path("log"), 0o777)) }, "log", Warning, "can be written by others"},
		{"a folder in the log's place", func(b *bench) {
			require.NoError(b.t, os.Remove(b.o.Log))
			require.NoError(b.t, os.Mkdir(b.o.Log, 0o700))
		}, "log", Failed, "not a regular file"},
		{"a file in the folder's place", func(b *bench) { b.o.Log = b.path("hooktrail/audit.jsonl") }, "log", Failed, "is not a folder"},
		{"no place for the log", func(b *bench) { b.o.Log = "" }, "log", Failed, "has no place"},
		{"a lock that is held", func(b *bench) {
			b.o.Locked = func(context.Context, string) error { return errors.New("another process holds it") }
		}, "lock", Failed, "another process holds it"},
		{"a log that was changed", func(b *bench) {
			b.o.Verify = func(context.Context, string) ([]string, []string) { return []string{"line 3", "line 4"}, nil }
		}, "chain", Failed, "(2 findings), the first: line 3"},
		{"a log without its head", func(b *bench) {
			b.o.Verify = func(context.Context, string) ([]string, []string) { return nil, []string{"there is no head"} }
		}, "chain", Warning, "there is no head"},

		{"a clock in the past", func(b *bench) { b.o.Now = func() time.Time { return time.Unix(0, 0) } }, "clock", Failed, "1970"},
		{"a clock behind the log", func(b *bench) { b.write("log/audit.jsonl", `{"time":"2026-12-01T11:00:00Z"}`+"\n", 0o600) }, "clock", Warning, "in the future"},

		{"a client that is too old", func(b *bench) { b.o.Client = "2.1.290" }, "client", Warning, "ignores onFailure"},
		{"no client", func(b *bench) { b.o.Client = "" }, "client", Warning, "no claude program"},
		{"not installed", func(b *bench) { b.o.Files = nil }, "entry", Failed, "before no tool call"},
		{"the key on the group instead of the entry", func(b *bench) {
			b.edit(`"onFailure": "block"`, `"statusMessage": "x"`)
			b.edit(`"hooks": [`, `"onFailure": "block", "hooks": [`)
		}, "entry", Failed, "onFailure"},
		{"a program that others can write", func(b *bench) { require.NoError(b.t, os.Chmod(b.path("hooktrail"), 0o777)) }, "program", Warning, "can be written by others"},
		{"a broken configuration", func(b *bench) { b.o.Config = func(string) error { return errors.New("unknown key rulez") } }, "config", Failed, "rulez"},
		{"a budget above the host's timeout", func(b *bench) { b.o.Budget = func(string) (time.Duration, error) { return 3 * time.Minute, nil } }, "budget", Failed, "cancels it after 180s"},
		{"a sibling that fails open", func(b *bench) {
			b.o.Files = append(b.o.Files, settings.File{Name: "project.json", Layer: "project", Bytes: []byte(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/bin/true"}]}]}}`)})
		}, "siblings", Warning, "/bin/true"},
		{"a probe that found something", func(b *bench) {
			b.o.Probes = []Probe{func(context.Context) []Check { return []Check{{"nats", Failed, "gone", "start it"}} }}
		}, "nats", Failed, "gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, "")
			tt.plant(b)
			all := Run(t.Context(), b.o)
			requireCheck(t, all, tt.check, tt.state, tt.want)
			if tt.state == OK {
				require.Equal(t, OK, Worst(all), "%+v", all)
			} else {
				require.NotEqual(t, OK, Worst(all))
			}
		})
	}
}

// TestFeedOverHTTP gives the entry's URL what the host would.
func TestFeedOverHTTP(t *testing.T) {
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	for _, tt := range []struct {
		name   string
		sound  string // what it answers to the sound event
		broken string
		status int
		env    string
		check  string
		state  State
		want   string
	}{
		{"all is well", "", deny, 200, "HOOK_TOKEN=t", "fails closed", OK, ""},
		{"it answers with an object", "{}", `{"decision":"block","reason":"broken"}`, 200, "HOOK_TOKEN=t", "fails closed", OK, ""},
		{"it lets broken events through", "", "", 200, "HOOK_TOKEN=t", "fails closed", Failed, "it was let through"},
		{"it blocks everything", deny, deny, 200, "HOOK_TOKEN=t", "answer", Failed, "a harmless event is blocked"},
		{"it is another server", "<html>", "<html>", 200, "HOOK_TOKEN=t", "answer", Failed, "not one JSON object: <html>"},
		{"it answers with a status on which calls run", deny, deny, 500, "HOOK_TOKEN=t", "answer", Failed, "HTTP 500, on which the host lets calls run"},
		{"the token is not set", "", deny, 200, "HOOK_TOKEN=", "answer", Failed, "$HOOK_TOKEN, which is not set here"},
		{"a wrong token", "", deny, 200, "HOOK_TOKEN=other", "answer", Failed, "HTTP 401"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b *bench
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text := make([]byte, 4096)
				n, _ := r.Body.Read(text)
				switch {
				case r.Header.Get("Authorization") != "Bearer t":
					w.WriteHeader(http.StatusUnauthorized)
				case strings.Contains(string(text[:n]), `"tool_use_id":"mark"`):
					b.write("log/audit.jsonl", `{"toolUseId":"mark"}`+"\n", 0o600)
					w.WriteHeader(tt.status)
					_, _ = fmt.Fprint(w, tt.sound)
				default:
					w.WriteHeader(tt.status)
					_, _ = fmt.Fprint(w, tt.broken)
				}
			}))
			defer srv.Close()
			b = newBench(t, srv.URL)
			b.o.Env = append(b.o.Env, tt.env)
			requireCheck(t, Run(t.Context(), b.o), tt.check, tt.state, tt.want)
		})
	}
	b := newBench(t, "http://127.0.0.1:1/hook")
	b.o.Env = append(b.o.Env, "HOOK_TOKEN=t")
	requireCheck(t, Run(t.Context(), b.o), "answer", Failed, "the server cannot be asked")
}

// TestFilledIn: only variables that the entry lists reach a server.
func TestFilledIn(t *testing.T) {
	env := []string{"A=old", "A=new", "B=secret"}
	got, missing := filledIn("x $A ${A} $B", []string{"A"}, env)
	require.Equal(t, "x new new ", got)
	require.Empty(t, missing)
	_, missing = filledIn("$C", []string{"C"}, env)
	require.Equal(t, "C", missing)
	_, missing = filledIn("$A", []string{"A"}, append(env, "A="))
	require.Equal(t, "A", missing, "the last one counts")
}

func TestRoom(t *testing.T) {
	for free, want := range map[uint64]State{0: Failed, 49 << 20: Failed, 50 << 20: Warning, 499 << 20: Warning, 500 << 20: OK} {
		require.Equal(t, want, room("/", free).State, free)
	}
}

// TestTheZeroStateIsAFailure: a check that somebody forgot to fill in.
func TestTheZeroStateIsAFailure(t *testing.T) {
	require.Equal(t, Failed, Worst([]Check{{State: OK}, {}}))
	require.Equal(t, Warning, Worst([]Check{{State: OK}, {State: Warning}, {State: OK}}))
	require.Equal(t, OK, Worst(nil))
}
