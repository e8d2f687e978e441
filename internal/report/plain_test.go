package report

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlainReadsAsLooseDoes: the quick reader reads the log's own lines, and gives
// what the thorough one gives.
func TestPlainReadsAsLooseDoes(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample-audit.jsonl")
	require.NoError(t, err)
	quick, all := 0, 0
	for line := range bytes.SplitSeq(append(month(3000), sample...), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var a, b Row
		all++
		if a.plain(string(line)) {
			quick++
			b.loose(string(line))
			require.Equal(t, b, a, "%s", line)
		}
	}
	require.Greater(t, quick, all*99/100)
}

// FuzzPlain changes lines: what the quick reader takes for an event, the
// thorough one takes for the same event.
func FuzzPlain(f *testing.F) {
	for line := range bytes.SplitSeq(month(40), []byte("\n")) {
		f.Add(string(line))
	}
	for _, s := range []string{
		`{"time":"t","kind":"k","input":{"a":[1,"}"]},"seq":1}`, `{"time":"t","kind":"k","x":null,"y":-1.5e3,"seq":7}`, `{"time":"t\\","kind":"\"k","timedOut":true}`,
		`{"time":"t","kind":"k","exitCode":-1}`, `{"time":"t","kind":"k","seq":1.5}`, `{"time":"t","kind":"k"} `, `{"time":"t","kind":"k","host":null}`, `{"kind":"a","kind":"b","time":"t"}`,
		`{"time":"t","kind":"k","seq":"1"}`, `{"time":"t","kind":"k","message":"\ud83d\ude00"}`, `{}`, `{"time":"t","kind":"k","a":tru}`, `{"time":"t","kind":"k",}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var a, b Row
		if !a.plain(line) || a.Kind == "" || a.Time == "" {
			return
		}
		if !b.loose(line) {
			t.Fatalf("only the quick reader takes %q", line)
		}
		if a != b {
			t.Fatalf("%q\nquick    %+v\nthorough %+v", line, a, b)
		}
	})
}
