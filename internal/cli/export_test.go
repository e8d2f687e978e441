package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const logLine = `{"time":"2026-11-30T22:00:00.000000000Z","eventId":"0193800c-5a40-7000-8000-000000000001","kind":"log","action":"opened","layer":"none","decision":"none","reason":"observed","message":"the log was opened"}`

func TestExportStatus(t *testing.T) {
	sh := newShell(t)
	for _, tt := range []struct {
		name, in, args string
		status, lines  int
		says           string
	}{
		{"all is well", logLine + "\n", "--format ecs -", 0, 1, ""},
		{"the last line has no newline", logLine, "--format ecs -", 0, 1, ""},
		{"blank lines are nothing", "\n" + logLine + "\n\n", "--format ecs -", 0, 1, ""},
		{"half a line at the end", logLine + "\n" + logLine[:50], "--format cef -", 1, 1, "hooktrail export: -:2: the line is no event: is not strict JSON"},
		{"a line without an end", strings.Repeat("x", 1<<20) + "\n" + logLine + "\n", "--format cef -", 1, 1, "-:1: the line is no event: it has more than 16384 bytes"},
		{"control characters of a broken line stay escaped", "\x1b[31m\n", "--format ecs -", 1, 0, "-:1: the line is no event"},
		{"a time to come", logLine, "--format ecs --since -5h -", 2, 0, "in the future"},
		{"no format", "", "-", 2, 0, "ecs, ocsf, otlp and cef"},
		{"no such flag", "", "--format ecs --what -", 2, 0, "-what"},
		{"no such file", "", "--format ecs none.jsonl", 2, 0, "none.jsonl"},
		{"no log yet", "", "--format ecs", 2, 0, "there is no log at"},
		{"a condition that is none", "", "--format ecs --where x -", 2, 0, "field=value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, out, errs := sh.run(tt.in, append([]string{"export"}, strings.Fields(tt.args)...)...)
			require.Equal(t, tt.status, status)
			require.Equal(t, tt.lines, strings.Count(out, "\n"))
			require.Contains(t, errs, tt.says)
			require.NotContains(t, errs, "\x1b")
		})
	}
}

// TestExportWritesWhatItRead: what was read before a failure is written.
func TestExportWritesWhatItRead(t *testing.T) {
	sh := newShell(t)
	name := filepath.Join(sh.dir, "a.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(logLine+"\n"), 0o600))
	status, out, errs := sh.run("", "export", "--format", "otlp", name, name+".gone")
	require.Equal(t, 2, status)
	require.Equal(t, 1, strings.Count(out, "\n"))
	require.Contains(t, errs, "a.jsonl.gone")
}

// TestExportFollowsAPipe: an event is written before the next one is waited for.
func TestExportFollowsAPipe(t *testing.T) {
	sh := newShell(t)
	in, log := io.Pipe()
	records, out := io.Pipe()
	ended := make(chan int)
	go func() {
		s := sh.stdio("", out, io.Discard)
		s.In = in
		ended <- Main(context.Background(), []string{"export", "--format", "otlp", "-"}, s)
	}()
	r := bufio.NewReader(records)
	for range 3 {
		_, err := io.WriteString(log, logLine+"\n")
		require.NoError(t, err)
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, `"stringValue":"the log was opened"`)
	}
	require.NoError(t, log.Close())
	require.Equal(t, 0, <-ended)
}

// TestExportSaysThatItsReaderIsGone: a record that nobody took is a failure.
func TestExportSaysThatItsReaderIsGone(t *testing.T) {
	sh := newShell(t)
	r, out := io.Pipe()
	require.NoError(t, r.Close())
	var errs bytes.Buffer
	require.Equal(t, 2, Main(context.Background(), []string{"export", "--format", "ecs", "-"}, sh.stdio(logLine, out, &errs)))
	require.Contains(t, errs.String(), "closed pipe")
}
