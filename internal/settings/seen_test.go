package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ways are the kinds of installation that there are.
func ways() map[string]InstallOptions {
	all := map[string]InstallOptions{}
	for _, name := range []string{"all", "guard", "wrap", "http", "all, wrap and http"} {
		o := installed
		o.Events, _ = Events("guard")
		if strings.HasPrefix(name, "all") {
			o.Events = nil
		}
		o.Wrap = strings.Contains(name, "wrap")
		if strings.Contains(name, "http") {
			o.URL, o.TokenEnv = "http://127.0.0.1:8787/hook", "HOOK_TOKEN"
		}
		all[name] = o
	}
	return all
}

// TestNoByteOfOthersMoves builds a file's first bytes from what Install made of
// it, by leaving out what is ours, and by no means of Uninstall's.
func TestNoByteOfOthersMoves(t *testing.T) {
	for name, before := range samples(t) {
		for way, o := range ways() {
			t.Run(name+" "+way, func(t *testing.T) {
				after := must(Install(before, o))
				s := stripper{t, before, after}
				was, is := must(Parse(before)), must(Parse(after))
				require.Equal(t, string(before), string(after[:is.Pos])+s.strip(was, is, 0)+string(after[is.End:]))
				require.Equal(t, string(after), string(must(Install(after, o))), "twice is once")
				require.Equal(t, lineEnds(before), lineEnds(after))

				back := must(Uninstall(after))
				if !slices.Contains(emptyInside, name) {
					require.Equal(t, string(before), string(back), "without a record")
				}
			})
		}
	}
}

// lineEnds names the kinds of line ends in a text. A text on one line has those
// that it would get.
func lineEnds(b []byte) string {
	all, windows := strings.Count(string(b), "\n"), strings.Count(string(b), "\r\n")
	switch windows {
	case 0:
		return "LF"
	case all:
		return "CRLF"
	}
	return "mixed"
}

type stripper struct {
	t             testing.TB
	before, after []byte
}

// strip returns the bytes of a value without what is ours. Depth counts the
// values around it: the file, hooks, an event, a group, its hooks.
func (s stripper) strip(was, is *Node, depth int) string {
	if bytes := string(s.after[is.Pos:is.End]); bytes == string(s.before[was.Pos:was.End]) {
		return bytes
	}
	require.Equal(s.t, was.Kind, is.Kind)
	if words, exec := argv(is); depth == 5 && exec && len(words) > 2 && words[1] == "run" {
		return s.unwrap(was, is)
	}
	olds, news := inside(was), inside(is)
	require.GreaterOrEqual(s.t, len(news), len(olds))
	for _, ours := range news[len(olds):] {
		require.Contains(s.t, []int{0, 1, 2}, depth, "something new stands inside of a group of others")
		require.Contains(s.t, string(s.after[ours.Pos:ours.End])+s.key(is, ours), map[int]string{0: `"hooks"`, 1: "hook", 2: "hook"}[depth])
	}
	if len(olds) == 0 {
		space := s.before[was.Pos+1 : was.End-1]
		require.Empty(s.t, strings.TrimSpace(string(space)), "only space may go")
		return string(s.before[was.Pos:was.End])
	}
	text, at := "", is.Pos
	for i := range olds {
		text += string(s.after[at:news[i].Pos]) + s.strip(olds[i], news[i], depth+1)
		at = news[i].End
	}
	return text + string(s.after[news[len(news)-1].End:is.End])
}

// unwrap returns the bytes that an entry had before it was put under "hooktrail
// run", once all that is not its command has been seen to be as it was.
func (s stripper) unwrap(was, is *Node) string {
	alone := is.Get("args").Items[1].Text == "--timeout" // the entry had no onFailure
	require.True(s.t, !alone || was.Get("onFailure") == nil)
	own := func(m Member) bool {
		return m.Name == "command" || m.Name == "args" || m.Name == "onFailure" && alone
	}
	rest := func(n *Node, b []byte) (all []string) {
		for _, m := range n.Members {
			if !own(m) {
				all = append(all, string(b[m.Pos:m.Value.End]))
			}
		}
		return all
	}
	require.Equal(s.t, rest(was, s.before), rest(is, s.after))
	raw := string(s.before[was.Get("command").Pos:was.Get("command").End])
	require.Contains(s.t, string(s.after[is.Get("args").Pos:is.Get("args").End]), raw, "the command as it was written")
	return string(s.before[was.Pos:was.End])
}

func (s stripper) key(parent, value *Node) string {
	for _, m := range parent.Members {
		if m.Value == value {
			return string(s.after[m.Pos:value.Pos])
		}
	}
	return ""
}

// inside returns the values in an object or a list.
func inside(n *Node) (values []*Node) {
	for _, m := range n.Members {
		values = append(values, m.Value)
	}
	return append(values, n.Items...)
}

// TestRefusedFilesStay: what the host does not read, or reads as something
// else, is not edited, and the user is told why.
func TestRefusedFilesStay(t *testing.T) {
	for name, says := range map[string]string{
		"01-comments.json":                "line 1, column 1: a comment is not JSON",
		"02-list-of-hooks.json":           "hooks is not an object but a list",
		"03-event-as-object.json":         "hooks.SessionStart is not a list but an object",
		"04-comments-and-last-comma.json": "line 4, column 3: a comment is not JSON",
	} {
		before, err := os.ReadFile(filepath.Join("testdata/seen/refused", name))
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "settings.json")
		require.NoError(t, os.WriteFile(file, before, 0o600))
		s := Store{Dir: t.TempDir(), Now: fixedNow}
		for way, o := range ways() {
			_, err = s.Plan(file, o)
			require.ErrorIs(t, err, ErrRefused, way)
			require.ErrorContains(t, err, says, way)
		}
		_, err = s.PlanRemoval(file)
		require.ErrorIs(t, err, ErrRefused)
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
		require.NotZero(t, Check([]File{{Name: name, Bytes: before}}, Options{}).Count(Error), "check knows it, too")
	}
}

// TestWrapKeepsTheCommandAsItIsWritten: without a record, too, unwrapping gives
// back escapes, arguments and the space between them.
func TestWrapKeepsTheCommandAsItIsWritten(t *testing.T) {
	for _, entry := range []string{
		`{"type":"command","command":"a \u2014 b\/c \ud83d\ude00"}`,
		"{\"type\":\"command\",\"command\":\"bad \xff utf-8\"}",
		`{"command" : "x" , "type":"command"}`,
		`{"type":"command","command":"/bin/guard","args":[]}`,
		`{"type":"command","command":"/bin/guard","args":[ ]}`,
		"{\"type\":\"command\",\"command\":\"/bin/guard\",\"args\":[\n  \"--x\",\n  \"\\u0041\"\n]}",
		`{"args":["x",  "y"],"type":"command","command":"/bin/gu\u0061rd"}`,
		`{"type":"command","command":"/bin/sh","args":["-c","exit 2"]}`,
		`{"type":"command","command":"/bin/sh","args":[ "-c" , "exit 2" ]}`,
		`{"type":"command","command":"exit 2"}`,
		`{"type":"command","command":"# why\nexit 2","timeout":5,"onFailure":"continue"}`,
	} {
		before := []byte(pre(entry))
		o := installed
		o.Wrap, o.Events = true, []string{"Stop"}
		after := must(Install(before, o))
		is := must(Parse(after)).Get("hooks").Get("PreToolUse").Items[0].Get("hooks").Items[0]
		was := must(Parse(before)).Get("hooks").Get("PreToolUse").Items[0].Get("hooks").Items[0]
		words, exec := argv(is)
		require.True(t, exec)
		want, exec := argv(was)
		if !exec {
			want = []string{"/bin/sh", "-c", was.Get("command").Text}
		}
		require.Equal(t, want, words[9:], entry)
		require.Equal(t, string(before), string(must(Uninstall(after))), entry)
	}
}
