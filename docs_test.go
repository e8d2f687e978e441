package hooktrail_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

// TestReasonsPage holds docs/reasons.md against the code, both ways.
func TestReasonsPage(t *testing.T) {
	page, err := os.ReadFile("docs/reasons.md")
	require.NoError(t, err)
	got := map[reason.Code]reason.Layer{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\| [^|]+ \\|$").FindAllStringSubmatch(string(page), -1) {
		got[reason.Code(m[1])] = reason.Layer(m[2])
	}
	require.Equal(t, reason.Codes(), got)
}
