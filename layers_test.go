// Package hooktrail_test holds the tests of the repository as a whole.
package hooktrail_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers is the architecture: each package may import only what is listed.
// Read it top to bottom and you have read the flow from the inside out.
// internal/cli may import all of internal/; bench and e2e stand beside the program.
var layers = map[string][]string{
	"schemas":                  {},
	"internal/reason":          {},
	"internal/regular":         {},
	"internal/event":           {"internal/reason"},
	"internal/schema":          {"schemas", "internal/event"},
	"internal/config":          {"internal/reason", "internal/regular", "internal/event", "internal/schema"},
	"internal/gate":            {"internal/reason", "internal/schema", "internal/event"},
	"internal/answer":          {"internal/reason", "internal/event"},
	"internal/guard":           {"internal/reason", "internal/config", "internal/answer"},
	"internal/audit":           {"internal/reason"},
	"internal/supervise":       {},
	"internal/snapshot":        {"internal/reason", "internal/config", "internal/event", "internal/guard", "internal/supervise"},
	"internal/settings":        {"internal/regular", "internal/config", "internal/event", "internal/schema", "internal/gate"},
	"internal/settings/doctor": {"internal/regular", "internal/settings"},

	"internal/zerto":           {"internal/regular", "internal/reason", "internal/config", "internal/guard"},
	"internal/zerto/zertotest": {},
	"internal/hook":            {"internal/reason", "internal/event", "internal/schema", "internal/guard", "internal/gate", "internal/answer", "internal/audit", "internal/supervise"},
	"internal/observe":         {"internal/regular", "internal/reason", "internal/event", "internal/gate", "internal/audit"},
	"internal/report":          {"internal/audit"},
	"internal/export":          {"internal/audit"},
	"internal/ship":            {"internal/regular", "internal/audit"},
	"internal/natsd":           {},
	"internal/serve":           {"internal/regular", "internal/reason", "internal/answer", "internal/audit", "internal/ship"},
	"cmd/hooktrail":            {"internal/cli"},
}

const module = "hooktrail/"

func TestImportsGoDownwardsOnly(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		if pkg == "internal/cli" || strings.HasPrefix(pkg, "bench") || strings.HasPrefix(pkg, "e2e") {
			return nil
		}
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		allowed, listed := layers[pkg]
		require.True(t, listed, "package %s is not in the table of layers", pkg)
		for _, imp := range f.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			if ours, ok := strings.CutPrefix(p, module); ok {
				require.True(t, slices.Contains(allowed, ours), "%s imports %s, which the table does not allow", path, ours)
			}
		}
		return nil
	})
	require.NoError(t, err)
	page, err := os.ReadFile("docs/design.md")
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(page), "\n## Packages\n")
	list, _, _ := strings.Cut(after, "\n## ")
	for pkg := range layers {
		require.True(t, seen[pkg], "the table has a package %s that does not exist", pkg)
		require.Contains(t, list, "`"+pkg+"`", "docs/design.md")
	}
}
