package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheGuardsTimeIsANumberOfSeconds: what is none stops every call, NaN
// included, which is neither above nor below any bound.
func TestTheGuardsTimeIsANumberOfSeconds(t *testing.T) {
	for value, status := range map[string]int{"": 0, "5": 0, "2.5": 0, "0": 2, "-1": 2, "NaN": 2, "Inf": 2, "1e9": 2, "5s": 2, "soon": 2} {
		env := map[string]string{"HOOKTRAIL_LOG": filepath.Join(t.TempDir(), "audit.jsonl"), "ZERTO_HOOK_GUARD_TIMEOUT": value}
		in := strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`)
		var errs bytes.Buffer
		got := Main(context.Background(), []string{"hook"}, &Stdio{In: in, Out: new(bytes.Buffer), Err: &errs, Getenv: func(n string) string { return env[n] }, Now: time.Now})
		require.Equal(t, status, got, "%q: %s", value, errs.String())
	}
}
