//go:build unix

package settings

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestACommandThatIsAFIFO: a project names the commands of its hooks, and we look
// at them when its settings change. Opening one of them would hold up that look.
func TestACommandThatIsAFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "hook")
	require.NoError(t, syscall.Mkfifo(fifo, 0o700))
	require.NoError(t, syscall.Chmod(fifo, 0o700))
	for _, command := range []string{fifo, "sh " + fifo, "env " + fifo, "bash -c '" + fifo + "'"} {
		text := fmt.Sprintf(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":%q}]}]}}`, command)
		done := make(chan Report, 1)
		go func() { done <- Check([]File{{Name: "settings.json", Bytes: []byte(text)}}, Options{}) }()
		select {
		case r := <-done:
			require.Len(t, r.Entries, 1, command)
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: it waits for a writer", command)
		}
	}
}
