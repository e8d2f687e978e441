package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// FuzzExport: what the log's own reader takes, every format writes; every record
// passes its judge; and texts are the same on both sides.
func FuzzExport(f *testing.F) {
	for i, line := range cases() {
		if i%23 == 0 {
			f.Add(line)
		}
	}
	f.Add(fieldsOf{"new": fieldsOf{"a": []any{1.5, "x", nil, true}}, "n=|\\": "\x1b", "big": 1e300}.line())
	f.Add([]byte(`{"time":"2026-11-30T22:00:00Z","eventId":"\ud83d\ude00","kind":"log","seq":-0,"new":1e1000001,"nil":null,"command":"\u2028\/"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var e Event
		err := e.Parse(line)
		known, bad := audit.Decode(line)
		if year := known.Time.UTC().Year(); bad == nil && !known.Time.IsZero() && year >= 0 && year < 10000 {
			require.NoError(t, err)
		}
		if err != nil || len(line) >= audit.MaxLine {
			return
		}
		flat := checkECS(t, exported(t, "ecs", line))
		checkOCSF(t, exported(t, "ocsf", line))
		log := checkOTLP(t, exported(t, "otlp", line))[0]
		cef := checkCEF(t, exported(t, "cef", line))
		if bad != nil {
			return
		}
		require.Equal(t, known.EventID, flat["event.id"])
		if known.Command != "" {
			require.Equal(t, known.Command, flat["process.command_line"])
			require.Equal(t, known.Command, log["hooktrail.command"])
		}
		if r := shown(string(known.Reason)); r != "" && len(r) < 100 {
			require.Equal(t, r, cef["reason"])
		}
	})
}
