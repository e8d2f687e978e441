//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

const aCall = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`

// TestALogThatTheHostReads: an event on a stream of the answer's would make plain
// text of it, and the call would run.
func TestALogThatTheHostReads(t *testing.T) {
	for _, args := range [][]string{
		{"hook", "--log", "OUT"}, {"hook", "--log", "LINK"}, {"hook", "--log", "/dev/stdout"}, {"hook", "--log", "/dev/fd/1"},
		{"run", "--log", "OUT", "--", "true"}, {"hook", "--log", "ERR"},
	} {
		p := newPlace(t)
		out, link := filepath.Join(p.dir, "out"), filepath.Join(p.dir, "link")
		require.NoError(t, os.Symlink(out, link))
		stdout, err := os.Create(out)
		require.NoError(t, err)
		stderr, err := os.Create(filepath.Join(p.dir, "err"))
		require.NoError(t, err)
		words := append([]string(nil), args...)
		for i, w := range words {
			switch w {
			case "OUT":
				words[i] = out
			case "LINK":
				words[i] = link
			case "ERR":
				words[i] = stderr.Name()
			}
		}
		cmd := p.command(words...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader([]byte(aCall)), stdout, stderr
		require.Equal(t, 2, status(cmd.Run()), args)
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		require.True(t, gjson.ValidBytes(b), "%v: %s", args, b)
		require.Equal(t, "deny", gjson.GetBytes(b, "hookSpecificOutput.permissionDecision").Str, args)
		require.NoError(t, stdout.Close())
		require.NoError(t, stderr.Close())
	}
}

// TestSignalsWhileTheEventIsRead: none ends the hook in a way that lets the call
// run, and none costs the record.
func TestSignalsWhileTheEventIsRead(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE} {
		p := newPlace(t)
		var out, said lines
		cmd := p.command("hook")
		cmd.Stdout, cmd.Stderr = &out, &said
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		// A pipe that is filled is read, so the signal handlers are set by then.
		big := bytes.Repeat([]byte(" "), 1<<20)
		_, err = in.Write(big)
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(sig))
		_, _ = io.WriteString(in, aCall)
		require.NoError(t, in.Close())
		code := status(cmd.Wait())
		require.Contains(t, []int{0, 2}, code, "%v: %s", sig, said.String())
		require.NotContains(t, said.String(), "goroutine", sig)
		events := p.events()
		require.Equal(t, "invocation", string(events[len(events)-1].Kind), sig)
	}
}
