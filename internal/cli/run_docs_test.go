package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestRunDocs reads the examples of docs/run.md as "run" does.
func TestRunDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/run.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	require.Len(t, blocks, 2)

	entry := gjson.ParseBytes(blocks[0][1])
	var args []string
	for _, a := range entry.Get("args").Array() {
		args = append(args, a.Str)
	}
	require.Equal(t, "run", args[0])
	var f runFlags
	require.NoError(t, f.read(f.flags(&Stdio{}), args[1:]))
	require.Equal(t, []string{"python3", "/home/me/guard.py"}, f.command)
	require.GreaterOrEqual(t, entry.Get("timeout").Int(), int64(f.timeout/time.Second)+3, "as the page asks")

	list := filepath.Join(t.TempDir(), "list.json")
	require.NoError(t, os.WriteFile(list, blocks[1][1], 0o600))
	hooks, err := listed(list, "block", time.Now())
	require.NoError(t, err)
	require.Len(t, hooks, 3)
	require.Equal(t, "continue", hooks[2].OnFailure)
}
