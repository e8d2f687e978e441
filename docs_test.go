package hooktrail_test

import (
	"os"
	"path/filepath"
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

// TestLinksLeadSomewhere follows every relative link of the documents.
func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	pages = append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "hooks/README.md", "hooks/catalogues/README.md")
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), m[1]))
			require.NoError(t, err, "%s links to %s", page, m[1])
		}
	}
}
