package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// A followed is a log that a follower reads, look by look.
type followed struct {
	t    *testing.T
	path string
	fo   follower
	got  []string
}

func follow(t *testing.T) *followed {
	t.Helper()
	f := &followed{t: t, path: filepath.Join(t.TempDir(), "audit.jsonl")}
	f.fo = follower{path: f.path, take: func(line []byte) error { f.got = append(f.got, string(line)); return nil }}
	t.Cleanup(f.fo.close)
	return f
}

func eventLine(n int) string {
	return fmt.Sprintf(`{"time":"2026-12-01T09:00:00.000000000Z","eventId":"00000000-0000-7000-8000-%012d","seq":%d,"prev":"","kind":"invocation"}`, n, n)
}

func (f *followed) write(text string) {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(f.t, err)
	_, err = file.WriteString(text)
	require.NoError(f.t, err)
	require.NoError(f.t, file.Close())
}

func (f *followed) add(from, to int) {
	f.t.Helper()
	for n := from; n <= to; n++ {
		f.write(eventLine(n) + "\n")
	}
}

func (f *followed) rename(to string) {
	f.t.Helper()
	require.NoError(f.t, os.Rename(f.path, f.path+to))
}

// copytruncate copies the log and cuts it, as logrotate does.
func (f *followed) copytruncate(to string) {
	f.t.Helper()
	b, err := os.ReadFile(f.path)
	require.NoError(f.t, err)
	require.NoError(f.t, os.WriteFile(f.path+to, b, 0o600))
	require.NoError(f.t, os.Truncate(f.path, 0))
}

func (f *followed) look() {
	f.t.Helper()
	for again := true; again; {
		var err error
		again, err = f.fo.step()
		require.NoError(f.t, err)
	}
}

// shows requires that the events up to n were shown, each once and in order.
func (f *followed) shows(n int) {
	f.t.Helper()
	var want []string
	for i := 1; i <= n; i++ {
		want = append(want, eventLine(i))
	}
	require.Equal(f.t, want, f.got)
}

// TestFollow: whatever becomes of the file between two looks, each event is
// shown once.
func TestFollow(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*followed)
	}{
		{"the log comes later", func(f *followed) { f.look(); f.add(1, 9) }},
		{"half a line is waited for", func(f *followed) {
			f.add(1, 8)
			f.write(eventLine(9)[:20])
			f.look()
			f.look()
			f.write(eventLine(9)[20:] + "\n")
		}},
		{"renamed", func(f *followed) { f.add(1, 3); f.look(); f.add(4, 5); f.rename(".1"); f.add(6, 9) }},
		{"renamed, and nothing new yet", func(f *followed) { f.add(1, 5); f.look(); f.rename(".1"); f.look(); f.add(6, 9) }},
		{"renamed, and written to by somebody who is late", func(f *followed) {
			f.add(1, 5)
			f.look()
			was := f.path
			f.rename(".1")
			f.path += ".1"
			f.add(6, 7)
			f.path = was
			f.look()
			f.add(8, 9)
		}},
		{"rotated by size twice between two looks", func(f *followed) {
			f.add(1, 3)
			f.look()
			f.add(4, 4)
			f.rename(".000000000001")
			f.add(5, 6)
			f.rename(".000000000005")
			f.add(7, 9)
		}},
		{"renamed and compressed", func(f *followed) {
			f.add(1, 5)
			f.look()
			require.NoError(f.t, os.Remove(f.path)) // its .gz is not what we had open
			f.add(6, 9)
		}},
		{"cut after it was copied", func(f *followed) { f.add(1, 5); f.look(); f.copytruncate(".1"); f.add(6, 9) }},
		{"cut after it was copied, with lines in between", func(f *followed) { f.add(1, 3); f.look(); f.add(4, 5); f.copytruncate(".1"); f.add(6, 9) }},
		{"cut after it was copied, and still empty", func(f *followed) {
			f.add(1, 3)
			f.look()
			f.add(4, 5)
			f.copytruncate(".1")
			f.look()
			f.add(6, 9)
		}},
		{"cut, and removed at once", func(f *followed) {
			f.add(1, 5)
			f.look()
			require.NoError(f.t, os.Truncate(f.path, 0))
			require.NoError(f.t, os.Remove(f.path))
			f.look()
			f.add(6, 9)
		}},
		{"cut, and longer than before at once", func(f *followed) { f.add(1, 1); f.look(); f.copytruncate(".1"); f.add(2, 9) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := follow(t)
			tt.do(f)
			f.look()
			f.look()
			f.shows(9)
		})
	}
}

// TestFollowRefusesWhatIsNoFile: it must not wait for the other end of a pipe.
func TestFollowRefusesWhatIsNoFile(t *testing.T) {
	f := follow(t)
	require.NoError(t, os.Mkdir(f.path, 0o700))
	_, err := f.fo.step()
	require.ErrorContains(t, err, "not a regular file")
}

// output is what a command has printed so far, line by line.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// TestTailFollowsTheProductsLog: through its own rotations, beginning with a
// line that is still being written, with all filters, from file and from NATS.
func TestTailFollowsTheProductsLog(t *testing.T) {
	for _, nats := range []bool{false, true} {
		t.Run(map[bool]string{false: "file", true: "nats"}[nats], func(t *testing.T) {
			sh := newShell(t)
			sh.env["HOOKTRAIL_CONFIG"] = filepath.Join(sh.dir, "c.json")
			require.NoError(t, os.WriteFile(sh.env["HOOKTRAIL_CONFIG"], []byte(`{"audit":{"rotateBytes":3000}}`), 0o600))
			args := []string{"tail", "-f", "-n", "1", "--where", "kind=invocation,tool=Bash|Write", "--jq", `.toolUseId, .command`}
			call := func(n int) {
				status, _, errs := sh.run(strings.ReplaceAll(strings.ReplaceAll(bashEvent, "toolu_1", fmt.Sprintf("toolu_%d", n)), "go test", `\u001b[31m\u202Ered`), "hook")
				require.Equal(t, 0, status, errs)
			}
			if nats {
				sh.tokenServer()
				args = append(args, "--nats")
			}
			call(0)
			call(1)
			if nats {
				sh.run("", "ship", "--create-stream")
				status, _, errs := sh.run("", "ship")
				require.Equal(t, 0, status, errs)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out, errs output
			done := make(chan int, 1)
			go func() { done <- Main(ctx, args, sh.stdio("", &out, &errs)) }()
			require.Eventually(t, func() bool { return strings.Contains(out.String(), "toolu_1\n") }, 20*time.Second, 5*time.Millisecond, errs.String())
			for n := 2; n < 12; n++ {
				call(n)
			}
			if nats {
				status, _, errs := sh.run("", "ship")
				require.Equal(t, 0, status, errs)
			}
			require.Eventually(t, func() bool { return strings.Contains(out.String(), "toolu_11\n") }, 20*time.Second, 5*time.Millisecond)
			cancel()
			require.Equal(t, 0, <-done)
			var want strings.Builder
			for n := 1; n < 12; n++ {
				fmt.Fprintf(&want, "toolu_%d\n%s ./...\n", n, `\u001b[31m\u202ered`)
			}
			require.Equal(t, want.String(), out.String())
			require.Empty(t, errs.String())
			files, err := audit.Files(sh.env["HOOKTRAIL_LOG"])
			require.NoError(t, err)
			require.Greater(t, len(files), 2, "it was rotated")
		})
	}
}

// TestTailBesideAWriter: a line that is being written when tail begins is shown
// when it is whole, and nothing is shown twice.
func TestTailBesideAWriter(t *testing.T) {
	f := follow(t)
	f.add(1, 3)
	f.write(eventLine(4)[:30])
	sh := newShell(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out output
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, []string{"tail", "-f", "--log", f.path, "--jq", ".seq"}, sh.stdio("", &out, io.Discard))
	}()
	require.Eventually(t, func() bool { return out.String() == "1\n2\n3\n" }, 20*time.Second, 5*time.Millisecond)
	f.write(eventLine(4)[30:] + "\n")
	require.Eventually(t, func() bool { return out.String() == "1\n2\n3\n4\n" }, 20*time.Second, 5*time.Millisecond)
	cancel()
	require.Equal(t, 0, <-done)
}

// TestTailJQ: what an expression may do at an event, and what is made of it.
func TestTailJQ(t *testing.T) {
	f := follow(t)
	f.write(`{"eventId":"a","kind":"invocation","n":1,"s":"x\u001b[31m","o":{"k":[1,null]}}` + "\n" + `{"eventId":"b","kind":"invocation","n":"two"}` + "\n")
	for _, tt := range []struct {
		name, expr  string
		status      int
		out, errors string
	}{
		{"text without quotes", ".eventId", 0, "a\nb\n", ""},
		{"what is no text is JSON", ".n, .o, .none", 0, "1\n{\"k\":[1,null]}\nnull\ntwo\nnull\nnull\n", ""},
		{"nothing", "empty", 0, "", ""},
		{"escapes are shown", `.s // empty, "\u202e\n\t"`, 0, `x\u001b[31m` + "\n" + `\u202e\n\t` + "\n" + `\u202e\n\t` + "\n", ""},
		{"it fails at one event", ".n + 1", 2, "2\n", "--jq: event b: "},
		{"and the others are shown", "if .eventId == \"a\" then error(\"mine\") else .n end", 2, "two\n", "--jq: event a: error: mine"},
		{"it does not end", "def f: f; f", 2, "", "no end within 1s for event a"},
		{"it does not end, and prints", "repeat(1)", 2, strings.Repeat("1\n", 10000), "more than 10000 results for event a"},
		{"it wants no more", `.eventId, halt`, 0, "a\n", ""},
		{"it ends with words", `"no" | halt_error`, 2, "", "no"},
		{"no way out", "env | length, ($ENV | length)", 0, "0\n0\n0\n0\n", ""},
		{"no expression", ".[", 2, "", "--jq: "},
		{"no such function", "input", 2, "", "--jq: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sh := newShell(t)
			status, out, errs := sh.run("", "tail", "--log", f.path, "--jq", tt.expr)
			require.Equal(t, tt.status, status, errs)
			require.Equal(t, tt.out, out)
			require.Contains(t, errs, tt.errors)
			require.Equal(t, tt.errors == "", errs == "")
		})
	}
}

// TestTailWhere: all conditions hold, values are alternatives, an absent field is
// an empty one, and a path leads into objects.
func TestTailWhere(t *testing.T) {
	f := follow(t)
	f.write(`{"eventId":"a","layer":"permission","decision":"denied","input":{"bytes":7}}` + "\n" +
		`{"eventId":"b","layer":"guard","decision":"blocked","timedOut":true}` + "\n" + `no event` + "\n")
	for where, want := range map[string]string{
		"layer=permission,decision=denied":  "a\n",
		"layer=permission,decision=blocked": "",
		"decision=denied|blocked":           "a\nb\n",
		"timedOut=":                         "a\n",
		"timedOut=true":                     "b\n",
		"input.bytes=7":                     "a\n",
		"":                                  "a\nb\n",
	} {
		status, out, errs := newShell(t).run("", "tail", "--log", f.path, "--where", where, "--jq", ".eventId")
		require.Equal(t, 0, status, errs)
		require.Equal(t, want, out, where)
	}
}

// TestTailPretty shows what happened in a line, in colour on a terminal only,
// and nothing that a terminal would act on.
func TestTailPretty(t *testing.T) {
	f := follow(t)
	f.write(`{"time":"2026-12-01T09:00:00.123Z","kind":"invocation","hookEvent":"PreToolUse","tool":"Bash","command":"a\u001b]0;x\u0007\u202Eb\nc","layer":"guard","decision":"blocked","reason":"guard_rule_denied","gate":"allow"}` + "\n")
	const line = `2026-12-01T09:00:00 invocation PreToolUse Bash a\u001b]0;x\u0007\u202eb\nc guard blocked guard_rule_denied allow`
	for _, terminal := range []bool{false, true} {
		sh := newShell(t)
		var out bytes.Buffer
		s := sh.stdio("", &out, io.Discard)
		s.OutTerminal = terminal
		require.Equal(t, 0, Main(t.Context(), []string{"tail", "--log", f.path, "--pretty"}, s))
		want := line + "\n"
		if terminal {
			want = "\x1b[31m" + line + "\x1b[0m\n"
		}
		require.Equal(t, want, out.String())
	}
}
