package export

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkExport gives the megabytes of log a second.
func BenchmarkExport(b *testing.B) {
	sample, err := os.ReadFile("../report/testdata/sample-audit.jsonl")
	require.NoError(b, err)
	log := bytes.Split(bytes.TrimSpace(sample), []byte("\n"))
	for _, name := range Formats() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(sample)))
			w, err := New(io.Discard, name)
			require.NoError(b, err)
			var e Event
			for b.Loop() {
				for _, line := range log {
					require.NoError(b, e.Parse(line))
					require.NoError(b, w.Write(&e))
				}
			}
		})
	}
}
