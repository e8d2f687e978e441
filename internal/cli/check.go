package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

	"hooktrail/internal/audit"
	hookset "hooktrail/internal/settings"
)

const checkAbout = `
Look at hooks settings and say what is wrong in them and what really happens
when one of their hooks fails. Nothing is run and nothing is written. Without a
FILE the layers that the host merges are looked at together: user, project,
local, managed, and the plugins that are switched on. The FILE - is standard
input.

Exit status: 0 no errors, 1 errors, 2 wrong usage or a file that cannot be read.`

func runCheck(ctx context.Context, s *Stdio, args []string) int {
	fs := newFlags(s, "check", "[FLAGS] [FILE...]", checkAbout)
	asJSON := fs.Bool("json", false, "print the findings as a JSON array")
	sarif := fs.Bool("sarif", false, "print the findings as SARIF 2.1.0")
	entries := fs.Bool("entries", false, "also list every hook entry and what its failure comes to; with --json an object")
	strict := fs.Bool("strict", false, "exit 1 on warnings, too")
	client := fs.String("client", "", "version of the host to foretell for, such as 2.1.290 (default: the installed one, else "+hookset.NewestClient+")")
	project := fs.String("project", "", "the project's directory, when no FILE is given (default: the current one)")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if *client != "" && !regexp.MustCompile(`^\d+\.\d+\.\d+`).MatchString(*client) {
		return s.fail("check", "%q is no version such as 2.1.290", *client)
	}
	var files []hookset.File
	for _, name := range fs.Args() {
		if name == "-" {
			b, err := readInput(s, name, hookset.MaxBytes)
			files = append(files, hookset.File{Name: name, Bytes: b, Err: err})
			continue
		}
		files = append(files, hookset.Load(name, ""))
	}
	if fs.NArg() == 0 {
		dir, err := filepath.Abs(*project)
		if err != nil {
			return s.fail("check", "%v", err)
		}
		*project = dir
		files = hookset.Layers(places(s, dir))
		if len(files) == 0 {
			return s.fail("check", "there are no settings files here; name one")
		}
	}
	if *client == "" {
		*client = hookset.Client(ctx, s.Getenv("PATH"))
	}
	r := hookset.Check(files, hookset.Options{Client: *client, Home: s.Getenv("HOME"), Project: *project, Path: s.Getenv("PATH"), Budget: hookset.ConfigBudget})
	var err error
	switch {
	case *sarif:
		err = writeIndented(s.Out, r.SARIF(Version))
	case *asJSON && *entries:
		err = writeIndented(s.Out, r)
	case *asJSON:
		err = writeIndented(s.Out, r.Findings)
	default:
		err = writeCheck(s.Out, r, len(files))
	}
	if err != nil {
		return s.fail("check", "%v", err)
	}
	return checkStatus(r, *strict)
}

func checkStatus(r hookset.Report, strict bool) int {
	status := exitOK
	for _, f := range r.Findings {
		switch {
		case f.Code == "unreadable":
			return exitFailure
		case f.Severity == hookset.Error || strict && f.Severity == hookset.Warning:
			status = exitFindings
		}
	}
	return status
}

// places returns where the host looks for settings of the project at dir.
func places(s *Stdio, dir string) hookset.Places {
	config := s.Getenv("CLAUDE_CONFIG_DIR")
	if config == "" && s.Getenv("HOME") != "" {
		config = filepath.Join(s.Getenv("HOME"), ".claude")
	}
	return hookset.Places{ConfigDir: config, Project: dir, Managed: hookset.ManagedFile()}
}

func writeIndented(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(audit.EscapeJSON(b.Bytes()))
	return err
}

func writeCheck(w io.Writer, r hookset.Report, files int) error {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintln(&b, printable(f.String()))
		if f.Hint != "" {
			fmt.Fprintln(&b, "    hint: "+printable(f.Hint))
		}
	}
	if len(r.Entries) > 0 {
		if len(r.Findings) > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintf(&b, "If a hook fails on host %s:\n", printable(r.Client))
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(t, "  WHERE\tEVENT\tMATCHER\tTYPE\tMODE\tTIMEOUT\tBRANCH\tHOOK")
		for _, e := range r.Entries {
			_, _ = fmt.Fprintf(t, "  %s:%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable(e.File), e.Line, printable(e.Event), cell(e.Matcher, "*"), cell(e.Type, "?"), e.Mode,
				timeouts(e), branch(e), cell(e.Command, "?"))
		}
		_ = t.Flush()
		for _, e := range r.Entries {
			fmt.Fprintf(&b, "  %s:%d: %s\n", printable(e.File), e.Line, printable(e.Why))
		}
	}
	fmt.Fprintf(&b, "%s, %s, %s in %s; %s\n", count(r.Count(hookset.Error), "error"), count(r.Count(hookset.Warning), "warning"),
		count(r.Count(hookset.Note), "note"), count(files, "file"), summary(r))
	_, err := io.WriteString(w, b.String())
	return err
}

func summary(r hookset.Report) string {
	if r.Halts != "" {
		return printable(r.Halts)
	}
	guards, blocking := 0, 0
	for _, e := range r.Entries {
		if e.Event == "PreToolUse" {
			guards++
			if e.Blocks {
				blocking++
			}
		}
	}
	if guards == 0 {
		return "no hook stands before tool calls"
	}
	return fmt.Sprintf("%d of %s before tool calls block when they fail", blocking, count(guards, "hook"))
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func timeouts(e hookset.Entry) string {
	switch {
	case e.Timeout == 0:
		return "-"
	case e.Budget > 0:
		return fmt.Sprintf("%gs (own %gs)", e.Timeout, e.Budget)
	default:
		return fmt.Sprintf("%gs", e.Timeout)
	}
}

func branch(e hookset.Entry) string {
	if !e.Runs {
		return string(e.Branch) + " (does not run)"
	}
	return string(e.Branch)
}

func cell(s, empty string) string {
	if s == "" {
		return empty
	}
	if r := []rune(s); len(r) > 48 {
		s = string(r[:47]) + "…"
	}
	return printable(s)
}
