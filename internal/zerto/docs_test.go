package zerto

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
)

// TestDocs reads the configuration of docs/zerto.md.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/zerto.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "```json\n")
	require.True(t, ok)
	block, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	c, err := config.Parse([]byte(block))
	require.NoError(t, err)
	require.Equal(t, "https://zvm.example", c.Zerto.URL)
}
