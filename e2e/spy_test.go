//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/answer"
	"hooktrail/internal/event"
	"hooktrail/internal/schema"
)

// An overheard is one run of a hook as the client saw it.
type overheard struct {
	Stdin, Stdout, Stderr []byte
	Status                int
}

// spy stands between the client and a hook: it hands on what both say and keeps
// it in dir. How is what it does to the event on its way: nothing, or one of
// the ways below.
func spy(dir, how string, command []string) int {
	var o overheard
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 3
	}
	o.Stdin = in
	switch how {
	case "half":
		in = in[:len(in)/2]
	case "empty":
		in = nil
	case "twice":
		in = append(in, in...)
	case "nameless":
		in = bytes.Replace(in, []byte(`"tool_name":`), []byte(`"toolname":`), 1)
	case "listed":
		in = bytes.Replace(in, []byte(`"tool_input":{`), []byte(`"tool_input":[],"was":{`), 1)
	}
	cmd := exec.Command(command[0], command[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errs
	err = cmd.Run()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		return 3
	}
	o.Stdout, o.Stderr, o.Status = out.Bytes(), errs.Bytes(), cmd.ProcessState.ExitCode()
	b, _ := json.Marshal(o)
	if os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", os.Getpid())), b, 0o600) != nil {
		return 3
	}
	_, _ = os.Stdout.Write(o.Stdout)
	_, _ = os.Stderr.Write(o.Stderr)
	return o.Status
}

// spied puts a spy before every command of the session's user settings and
// takes onFailure away: what holds a call back is then our answer alone.
func spied(t *testing.T, s *session, how string) (dir string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir = t.TempDir()
	s.User = reword(t, s.User, func(all obj) {
		for name, groups := range all["hooks"].(obj) {
			way := "as it is"
			if name == "PreToolUse" {
				way = how
			}
			for _, g := range groups.([]any) {
				for _, e := range g.(obj)["hooks"].([]any) {
					e := e.(obj)
					args := append([]any{"spy", dir, way, e["command"]}, e["args"].([]any)...)
					e["command"], e["args"] = self, args
					delete(e, "onFailure")
				}
			}
		}
	})
	return dir
}

// heard returns what the spy kept of the runs on an event.
func heard(t *testing.T, dir, hookEvent string) []overheard {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	var all []overheard
	for _, n := range names {
		var o overheard
		b, err := os.ReadFile(n)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &o))
		if o.event() == hookEvent || hookEvent == "" {
			all = append(all, o)
		}
	}
	return all
}

func (o overheard) event() string {
	var e struct {
		Name string `json:"hook_event_name"`
	}
	_ = json.Unmarshal(o.Stdin, &e)
	return e.Name
}

// sound requires what the host asks of an answer: exit status 0 or 2 and no
// other, on standard output nothing or exactly one object that is valid for the
// event, and with status 2 a word on standard error.
func (o overheard) sound(t *testing.T) {
	t.Helper()
	require.Contains(t, []int{0, 2}, o.Status, "%s", o.Stderr)
	require.NotEqual(t, "PostToolBatch 2", fmt.Sprint(o.event(), " ", o.Status), "an observer must not end the turn")
	if o.Status == 2 {
		require.NotEmpty(t, strings.TrimSpace(string(o.Stderr)), "a deliberate block says why")
	}
	require.False(t, bytes.ContainsFunc(o.Stdout, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }), "%q", o.Stdout)
	require.False(t, bytes.ContainsFunc(o.Stderr, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }), "%q", o.Stderr)
	if len(o.Stdout) == 0 {
		require.NotEqual(t, "PreToolUse 2", fmt.Sprint(o.event(), " ", o.Status), "a deny is JSON, too")
		return
	}
	require.True(t, utf8.Valid(o.Stdout))
	require.Equal(t, byte('{'), o.Stdout[0], "nothing stands before the object")
	v, err := event.Decode(bytes.TrimSuffix(o.Stdout, []byte("\n")), 20)
	require.NoError(t, err, "%q", o.Stdout)
	require.Empty(t, schema.Validate("answer", v), "%s", o.Stdout)
	special, _ := v.(map[string]any)["hookSpecificOutput"].(map[string]any)
	require.Equal(t, o.event(), special["hookEventName"])
	if o.event() != event.PreToolUse {
		return
	}
	said := answer.Parse(answer.Child{Event: event.PreToolUse, Stdout: o.Stdout})
	require.Empty(t, said.Fault)
	require.Equal(t, o.Status == 2, said.Decision == answer.Deny, "status and JSON say the same")
	if said.Decision == answer.Deny {
		require.NotEmpty(t, said.Message)
		require.LessOrEqual(t, utf8.RuneCountInString(said.Message), 2000)
	}
}
