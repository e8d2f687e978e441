package export

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkExport gives the megabytes of log a second.
func BenchmarkExport(b *testing.B) {
	log, size := cases(), 0
	for _, line := range log {
		size += len(line) + 1
	}
	for _, name := range Formats() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
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
