package cli

import (
	"context"
	"fmt"

	"hooktrail/internal/audit"
	"hooktrail/internal/ship"
)

const verifyAbout = `Checks the audit log: that each line is whole, that each follows the one before
it (seq counts up, prev is the SHA-256 of the line before), through all files of
the log, and that the log ends where its head file says. Without FILE these are
the log's own files; with FILE the named ones, without a head file.

What is found stands one a line, FILE:LINE first. Notes say what is worth knowing
and no fault. Exit status: 0 sound, 1 findings, 2 something could not be read.

The chain has no key. Who may write the log can compute a new chain from any
place on; --nats compares each line with the shipped copy and finds that out, and
a tail that was cut, and a log that was lost.`

func runVerify(ctx context.Context, s *Stdio, args []string) int {
	var c common
	fs := newFlags(s, "verify", "[--json] [--strict] [--nats] [--log FILE] [FILE...]", verifyAbout)
	c.register(fs)
	asJSON := fs.Bool("json", false, "print the result as one JSON object")
	strict := fs.Bool("strict", false, "take notes for findings")
	nats := fs.Bool("nats", false, "compare with the stream as well")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	var (
		r      *audit.Report
		stream *ship.Comparison
		err    error
	)
	if fs.NArg() > 0 {
		if *nats {
			return s.fail("verify", "--nats compares the log itself, not single files")
		}
		r, err = audit.VerifyFiles(ctx, fs.Args()...)
	} else {
		set, fault := c.load(s)
		if set.Log == "" {
			return s.fail("verify", "the audit log has no place: set --log or HOME")
		}
		if fault != nil && c.log == "" {
			return s.fail("verify", "%v", fault)
		}
		if r, err = audit.Verify(ctx, set.Log); err == nil && *nats {
			stream, err = compareStream(ctx, s, &set)
		}
	}
	if err != nil {
		return s.fail("verify", "%s", printable(err.Error()))
	}
	if *asJSON {
		result := verifyResult(r)
		result.Stream = stream
		if err := writeJSON(s.Out, result); err != nil {
			return s.fail("verify", "%v", err)
		}
	} else {
		printVerify(s, r)
		if stream != nil {
			printComparison(s, stream)
		}
	}
	if !r.Sound() || stream != nil && !stream.Sound() || *strict && len(r.Notes) > 0 {
		return exitFindings
	}
	return exitOK
}

func printVerify(s *Stdio, r *audit.Report) {
	for _, f := range r.Notes {
		s.printf("note: %s\n", printable(f.String()))
	}
	for _, f := range r.Findings {
		s.printf("%s\n", printable(f.String()))
	}
	what := fmt.Sprintf("%d events, seq %d–%d, %d files", r.Events, r.First, r.Last, len(r.Files))
	if r.LastHash != "" {
		what += ", last SHA-256 " + r.LastHash
	}
	if r.Sound() {
		s.printf("ok: %s\n", what)
		return
	}
	s.printf("NOT SOUND: %d findings in %s\n", len(r.Findings), what)
}

type verifyJSON struct {
	Sound    bool          `json:"sound"`
	Events   int64         `json:"events"`
	First    uint64        `json:"first"`
	Last     uint64        `json:"last"`
	LastHash string        `json:"lastHash"`
	Files    []string      `json:"files"`
	Findings []findingJSON `json:"findings"`
	Notes    []findingJSON `json:"notes"`

	Stream *ship.Comparison `json:"stream,omitempty"` // with --nats
}

type findingJSON struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func verifyResult(r *audit.Report) verifyJSON {
	list := func(found []audit.Finding) []findingJSON {
		out := make([]findingJSON, 0, len(found))
		for _, f := range found {
			out = append(out, findingJSON{f.File, f.Line, f.Code, f.Message})
		}
		return out
	}
	return verifyJSON{
		Sound: r.Sound(), Events: r.Events, First: r.First, Last: r.Last, LastHash: r.LastHash,
		Files: append([]string{}, r.Files...), Findings: list(r.Findings), Notes: list(r.Notes),
	}
}
