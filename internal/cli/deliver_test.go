package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/answer"
)

func TestDeliverBlocksWhatNobodyReads(t *testing.T) {
	ask := answer.Encode("PreToolUse", answer.Verdict{Decision: answer.Ask, Message: "sure?"})
	nothing := answer.Encode("PreToolUse", answer.Verdict{Decision: answer.NoDecision})

	// The Go runtime puts the null device in the place of a closed stream.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = null.Close() }()
	require.Equal(t, 2, deliver(&Stdio{Out: null, Err: null}, ask))
	require.Equal(t, 0, deliver(&Stdio{Out: null, Err: null}, nothing), "there was nothing to read")
	require.Equal(t, 0, deliver(&Stdio{Out: new(bytes.Buffer), Err: null}, ask))

	var words bytes.Buffer
	require.Equal(t, 2, deliver(&Stdio{Out: null, Err: &words}, ask))
	require.Contains(t, words.String(), "standard output", "a host that sees only the status shows this")

	r, w := io.Pipe() // nobody reads from r
	defer func() { _ = r.Close() }()
	require.ErrorIs(t, handOver(w, []byte("x"), time.Millisecond), errNobodyReads)
	require.ErrorIs(t, handOver(null, []byte("x"), time.Minute), errNobodyReads)
	require.NoError(t, handOver(new(bytes.Buffer), []byte("x"), time.Minute))
}

// TestAnEmptyFileNameIsAMistake: it must not hand the choice to the environment,
// which a project's settings can fill.
func TestAnEmptyFileNameIsAMistake(t *testing.T) {
	for _, args := range [][]string{{"--config", ""}, {"--config="}, {"--log", ""}} {
		var c common
		require.Error(t, c.read(flag.NewFlagSet("hook", flag.ContinueOnError), args), "%q", args)
	}
	var c common
	require.NoError(t, c.read(flag.NewFlagSet("hook", flag.ContinueOnError), []string{"--config", "a", "--log=b"}))
	require.Equal(t, common{config: "a", log: "b"}, c)
}

// TestAnAnswerThatMayBeLost: the blocking status at Stop forces the agent on, and
// at PostToolBatch ends its turn.
func TestAnAnswerThatMayBeLost(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = null.Close() }()
	var said bytes.Buffer
	require.Equal(t, 0, deliver(&Stdio{Out: null, Err: &said}, answer.Reply{Stdout: []byte(`{}`), MayBeLost: true}))
	require.Contains(t, said.String(), "the answer is lost")
	require.Equal(t, 2, deliver(&Stdio{Out: null, Err: &said}, answer.Reply{Stdout: []byte(`{}`)}))
	require.Equal(t, 2, deliver(&Stdio{Out: null, Err: &said}, answer.Reply{Stderr: "no", Blocked: true, MayBeLost: true}))
}

// TestSettingsThatCannotBeReadInTime: a configuration on a file system that hangs
// must not hang the host.
func TestSettingsThatCannotBeReadInTime(t *testing.T) {
	for _, tt := range []struct{ command, limit string }{
		{"hook --log LOG", "5s"}, {"run --log LOG -- true", "5s"}, {"hook", "5s"},
		{"run --log LOG --timeout 1s -- true", "1s"}, // the host waits a little longer only
		{"run --log LOG --timeout 1ns -- true", "500ms"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "a.jsonl")
			args := strings.Fields(strings.Replace(tt.command, "LOG", log, 1))
			var out, said bytes.Buffer
			s := &Stdio{
				In:  strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`),
				Out: &out, Err: &said, Environ: os.Environ, Now: time.Now,
				Getenv: func(string) string { select {} },
			}
			require.Equal(t, 2, Main(context.Background(), args, s))
			require.Contains(t, out.String(), `"permissionDecision":"deny"`)
			require.Contains(t, out.String(), "it took more than "+tt.limit)
			if args[0] == tt.command {
				return // no log is named, and which it is cannot be known
			}
			b, err := os.ReadFile(log)
			require.NoError(t, err)
			require.Contains(t, string(b), `"decision":"blocked","reason":"config_invalid"`)
		})
	}
}

// TestAProviderThatHangsBlocks: a secret on a dead file system must not hold the
// hook until the host lets the call run. The event is in the configuration's log.
func TestAProviderThatHangsBlocks(t *testing.T) {
	dir := t.TempDir()
	conf, log := filepath.Join(dir, "c.json"), filepath.Join(dir, "named.jsonl")
	require.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, `{"audit": {"log": %q}, "guard": {"rules": [{"tools": ["x"], "class": "readOnly"}]},
		"zerto": {"url": "https://127.0.0.1:1", "auth": {"clientId": "c", "clientSecretEnv": "HANGS"}}}`, log), 0o600))
	var out, said bytes.Buffer
	s := &Stdio{
		In:  strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`),
		Out: &out, Err: &said, Environ: os.Environ, Now: time.Now,
		Getenv: func(name string) string {
			if name == "HANGS" {
				select {}
			}
			return ""
		},
	}
	require.Equal(t, 2, Main(context.Background(), []string{"hook", "--config", conf}, s))
	require.Contains(t, out.String(), "could not be read within 3s")
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(b), `"decision":"blocked","reason":"config_invalid"`)
}
