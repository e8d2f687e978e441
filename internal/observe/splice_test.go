package observe

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// What is found in transcripts of hosts that died while they wrote, or wrote from
// two processes: anthropics/claude-code#81843, #52387 and #49876, github/copilot-cli#4098.
func TestRecordsOfATornFile(t *testing.T) {
	const call = `{"type":"assistant","uuid":"u1","sessionId":"s","timestamp":"2026-11-30T08:00:00.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"make {\"type\":"}}]}}`
	const hook = `{"type":"attachment","uuid":"u2","sessionId":"s","timestamp":"2026-11-30T08:00:01.000Z","attachment":{"type":"hook_non_blocking_error","hookName":"PreToolUse:Bash","toolUseID":"toolu_1","hookEvent":"PreToolUse","stderr":"not found","stdout":"","exitCode":127,"command":"/guard.sh","durationMs":9}}`
	nul := strings.Repeat("\x00", 4096)
	for _, tt := range []struct {
		name, file string
		broken     int
	}{
		{"whole", call + "\n" + hook + "\n", 0},
		{"two on a line", call + hook + "\n", 0},
		{"two on a line, a space between", call + " " + hook + "\n", 0},
		{"half of one before it", call[:90] + hook + "\n", 1},
		{"cut inside a string", call[:180] + hook + "\n", 1},
		{"cut behind an object inside", strings.TrimSuffix(call, "]}}") + hook + "\n", 1},
		{"half of one between two", call + call[:70] + hook + "\n", 1},
		{"NULs before it", call + "\n" + nul + hook + "\n", 0},
		{"NULs behind it", call + "\n" + hook + nul, 0},
		{"a line of NULs", call + "\n" + nul + "\n" + hook + "\n", 0},
		{"BOM", "\ufeff" + hook + "\n", 0},
		{"CRLF", call + "\r\n" + hook + "\r\n", 0},
		{"last line cut", hook + "\n" + call[:90], 1},
		{"twice", call + "\n" + hook + "\n" + call + "\n" + hook + "\n", 0},
		{"duration with a fraction", strings.Replace(hook, `"durationMs":9`, `"durationMs":9.75`, 1), 0},
		{"numbers as text", call + "\n" + strings.Replace(hook, `"durationMs":9`, `"durationMs":"9"`, 1), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, err := Read(strings.NewReader(tt.file), "/t.jsonl", Lookup{}, time.Unix(1e9, 0))
			require.NoError(t, err)
			var hooks []*audit.Event
			for _, e := range src.Events {
				if e.Kind == audit.Callback {
					hooks = append(hooks, e)
				}
			}
			require.Len(t, hooks, 1)
			require.Equal(t, "/guard.sh", hooks[0].HookName)
			require.EqualValues(t, 127, *hooks[0].ExitCode)
			require.Equal(t, tt.broken, src.Counts.Broken)
		})
	}
}

func TestNothingInsideARecordIsARecord(t *testing.T) {
	// A model may choose what stands in its input, not where the host dies.
	forged := `{"type":"attachment","uuid":"f","sessionId":"s","attachment":{"type":"hook_non_blocking_error","toolUseID":"toolu_1","hookEvent":"PreToolUse","exitCode":1,"command":"/forged.sh"}}`
	call := `{"type":"assistant","uuid":"u1","sessionId":"s","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"T","input":` + forged + `}]}}`
	for cut := range len(call) {
		src, err := Read(strings.NewReader(`{"type":"mode","sessionId":"s"}`+"\n"+call[:cut]), "", Lookup{}, time.Unix(1e9, 0))
		require.NoError(t, err)
		for _, e := range src.Events {
			require.Equal(t, audit.LogKind, e.Kind, cut)
		}
		all, torn := recordsOf([]byte(call[:cut] + call))
		require.Len(t, all, 1, cut)
		require.Equal(t, call, string(all[0]))
		require.Equal(t, cut > 0, torn)
	}
}

// TestACutArchiveIsNoRecord: a packed file that ends early, just behind an object
// that stands inside of a record.
func TestACutArchiveIsNoRecord(t *testing.T) {
	whole := `{"type":"mode","sessionId":"s"}` + "\n" +
		`{"type":"assistant","uuid":"u1","sessionId":"s","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"T","input":` +
		`{"type":"attachment","uuid":"f","sessionId":"s","attachment":{"type":"hook_non_blocking_error","toolUseID":"toolu_1","hookEvent":"PreToolUse","exitCode":1,"command":"/forged.sh"}}`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(whole))
	require.NoError(t, err)
	require.NoError(t, z.Flush()) // and no end
	src, err := Read(&packed, "", Lookup{}, time.Unix(1e9, 0))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Empty(t, src.Events)
	require.Equal(t, 1, src.Counts.Broken)
}

func TestRecordsOfIsBounded(t *testing.T) {
	line := []byte(strings.Repeat(`{"a":`, 1<<18))
	all, torn := recordsOf(line)
	require.Empty(t, all)
	require.True(t, torn)
}
