// Package cli holds the commands: their flags, streams and exit statuses. It is
// the only package that prints and the only one that knows an exit status.
//
// Results go to standard output and everything else to standard error. Human
// commands exit 0 when all is well (warnings included, unless --strict), 1 when
// they found something, 2 on wrong usage or when they could not do their work.
// "hook" and "run" exit 0 or 2 and nothing else: hosts let a call run on any
// other status.
package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// The exit statuses of human commands. See blocked for those of hook and run.
const (
	exitOK       = 0
	exitFindings = 1
	exitFailure  = 2
)

// Version is the product's version. Releases set it when they are linked.
var Version = "0.1.0-dev"

// Stdio is what a command may touch of the world around it.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Environ  func() []string
	Now      func() time.Time
	// OutTerminal and ErrTerminal tell whether a person reads the stream.
	OutTerminal, ErrTerminal bool
}

// OS returns the process's own streams, environment and clock.
func OS() *Stdio {
	return &Stdio{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, //nolint:forbidigo // this is the place that hands them out
		Getenv: os.Getenv, Environ: os.Environ,
		Now:         time.Now,                             //nolint:forbidigo // this is the place that hands it out
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())), //nolint:forbidigo // as above
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())), //nolint:forbidigo // as above
	}
}

// Colour tells whether colours may be used on standard output.
func (s *Stdio) Colour() bool { return s.OutTerminal && s.Getenv("NO_COLOR") == "" }

// printf writes to standard output. Main asks whether that went well.
func (s *Stdio) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Out, format, args...)
}

// fail says on standard error what a command could not do, and returns the
// status for it.
func (s *Stdio) fail(cmd, format string, args ...any) int {
	if cmd != "" {
		cmd = " " + cmd
	}
	_, _ = fmt.Fprintf(s.Err, "hooktrail%s: %s\n", cmd, fmt.Sprintf(format, args...))
	return exitFailure
}

// A command is one verb of the program.
type command struct {
	name    string
	summary string
	run     func(context.Context, *Stdio, []string) int
}

// Main runs the command that args name and returns the exit status.
func Main(ctx context.Context, args []string, s *Stdio) int {
	if len(args) == 0 {
		usage(s.Err)
		return exitFailure
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		usage(s.Out)
		return exitOK
	case "-version", "--version", "version":
		s.printf("hooktrail %s\n", Version)
		return exitOK
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		if c.name == "hook" || c.name == "run" { // they answer for their output themselves
			return c.run(ctx, s, args[1:])
		}
		own, out := *s, &resultWriter{w: s.Out}
		own.Out = out
		status := c.run(ctx, &own, args[1:])
		if status == exitOK && out.err != nil {
			return s.fail(c.name, "%s", printable(out.err.Error()))
		}
		return status
	}
	return s.fail("", "no command %q; see hooktrail -h", args[0])
}

// A resultWriter keeps the first error: a result that nobody got is no success.
type resultWriter struct {
	w   io.Writer
	err error
}

func (r *resultWriter) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

func usage(w io.Writer) {
	var b strings.Builder
	b.WriteString("hooktrail guards the tool calls of AI coding agents and records them.\n\nusage: hooktrail COMMAND [FLAGS] [ARGS]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-12s %s\n", c.name, c.summary)
	}
	b.WriteString("\nhooktrail COMMAND -h tells more of a command.\n")
	_, _ = io.WriteString(w, b.String())
}

// newFlags returns the flag set of a command. synopsis is what stands after the
// command's name; about is the text under it.
func newFlags(s *Stdio, name, synopsis, about string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(s.Err)
	fs.Usage = func() {
		_, _ = fmt.Fprintf(fs.Output(), "usage: hooktrail %s %s\n\n%s\n", name, synopsis, strings.TrimSpace(about))
		any := false
		fs.VisitAll(func(*flag.Flag) { any = true })
		if any {
			_, _ = fmt.Fprintf(fs.Output(), "\nflags:\n")
			fs.PrintDefaults()
		}
	}
	return fs
}

// parse parses args; flags may stand behind other words. When it returns false,
// the command ends with the status: 0 for -h, whose text goes to standard output,
// 2 for wrong usage.
func parse(s *Stdio, fs *flag.FlagSet, args []string) (status int, ok bool) {
	for _, a := range args {
		if a == "--" {
			break
		}
		if a == "-h" || a == "-help" || a == "--help" {
			fs.SetOutput(s.Out)
			fs.Usage()
			return exitOK, false
		}
	}
	words := []string{"--"}
	for {
		if err := fs.Parse(args); err != nil {
			return exitFailure, false // flag has said what is wrong
		}
		rest := fs.Args()
		if len(rest) == 0 {
			break
		}
		if at := len(args) - len(rest); at > 0 && args[at-1] == "--" {
			words = append(words, rest...)
			break
		}
		words, args = append(words, rest[0]), rest[1:]
	}
	if err := fs.Parse(words); err != nil {
		return exitFailure, false
	}
	return exitOK, true
}
