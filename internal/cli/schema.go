package cli

import (
	"context"

	"hooktrail/internal/audit"
	"hooktrail/internal/schema"
)

const schemaAbout = `Prints an embedded JSON Schema (draft 2020-12). Without NAME, lists the names.`

func runSchema(_ context.Context, s *Stdio, args []string) int {
	fs := newFlags(s, "schema", "[NAME]", schemaAbout)
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	switch fs.NArg() {
	case 0:
		for _, n := range schema.Names() {
			s.printf("%s\n", n)
		}
		return exitOK
	case 1:
		text, err := schema.Text(fs.Arg(0))
		if err != nil {
			return s.fail("schema", "%v; hooktrail schema lists the names", err)
		}
		_, _ = s.Out.Write(text)
		return exitOK
	default:
		return s.fail("schema", "takes one NAME at the most")
	}
}

// printable makes a text from outside safe for a terminal.
func printable(s string) string { return audit.Printable(s) }
