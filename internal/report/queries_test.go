package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// TestQueriesPage runs every query of docs/queries.md on the sample log and
// holds it to what the page says it printed.
func TestQueriesPage(t *testing.T) {
	for _, tool := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed; CI installs it", tool)
		}
	}
	page, err := os.ReadFile("../../docs/queries.md")
	require.NoError(t, err)
	sample, err := os.ReadFile("testdata/sample-audit.jsonl")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "audit.jsonl"), sample, 0o600))
	blocks := regexp.MustCompile("(?s)## ([^\n]+)\n.*?```sh\n(.*?)```\n\n```text\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 19)
	for _, b := range blocks {
		t.Run(b[1], func(t *testing.T) {
			c := exec.Command("bash", "-c", b[2])
			c.Dir = dir
			out, err := c.Output()
			require.NoError(t, err)
			require.NotEmpty(t, out)
			require.Equal(t, b[3], strings.ReplaceAll(string(out), "\t", "  "))
		})
	}
	for _, r := range Reports() {
		require.Contains(t, string(page), "`hooktrail report "+r.Name+"`", "the page names every report")
	}
}

// TestTheChainWithoutOurProgram runs the page's loop on a log as it was written,
// and on one with an edited line.
func TestTheChainWithoutOurProgram(t *testing.T) {
	for _, tool := range []string{"bash", "jq", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed; CI installs it", tool)
		}
	}
	page, err := os.ReadFile("../../docs/queries.md")
	require.NoError(t, err)
	loop := regexp.MustCompile("(?s)## The chain, without our program\n.*?```sh\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, loop)
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	log, err := audit.New(audit.Options{Path: path, Now: func() time.Time { return time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC) }})
	require.NoError(t, err)
	for range 4 {
		require.NoError(t, log.Record(t.Context(), &audit.Event{Kind: audit.Invocation, SessionID: "s", HookEvent: "Stop", Layer: "none", Decision: "none", Reason: "observed", Message: "before"}))
	}
	run := func() string {
		c := exec.Command("bash", "-c", string(loop[1]))
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err)
		return string(out)
	}
	require.Empty(t, run())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(b), "\n")
	lines[2] = strings.Replace(lines[2], "before", "after!", 1)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	require.Equal(t, "line 4 does not follow line 3\n", run())
}
