package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
