package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/reason"
)

const gateAbout = `Classifies callback results: one JSON object, or one on each line. Each gives one
line: its branch of hook_failure_gate (schema, not_block_mode, timeout_block,
allow, block). Without FILE, standard input is read.

A callback result has exactly the members hookName, onFailure (block, continue),
exitCode (an integer) and timedOut (a boolean).`

// maxGate bounds what gate reads, in bytes.
const maxGate = 256 << 20

func runGate(_ context.Context, s *Stdio, args []string) int {
	fs := newFlags(s, "gate", "[--json] [--exit-code] [FILE]", gateAbout)
	asJSON := fs.Bool("json", false, "print the audit fields of each as a JSON line")
	byStatus := fs.Bool("exit-code", false, "exit 1 if any result blocks")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if fs.NArg() > 1 {
		return s.fail("gate", "takes one FILE at the most")
	}
	in, err := readInput(s, fs.Arg(0), maxGate)
	if err != nil {
		return s.fail("gate", "%v", err)
	}
	status := exitOK
	for _, doc := range documents(in) {
		o := gate.Classify(doc)
		if *byStatus && o.Decision == reason.Blocked {
			status = exitFindings
		}
		var err error
		if *asJSON {
			err = printOutcome(s.Out, o)
		} else {
			_, err = fmt.Fprintln(s.Out, gateLine(o))
		}
		if err != nil {
			return s.fail("gate", "%v", err)
		}
	}
	return status
}

// gateLine is the branch, and for a shape fault what is wrong.
func gateLine(o gate.Outcome) string {
	if len(o.Violations) == 0 {
		return string(o.Branch)
	}
	return string(o.Branch) + "  " + printable(o.Violations[0].String())
}

// documents splits the input: one value, or one on each line as soon as one line
// alone is a value. What is neither is one document, with one fault.
func documents(in []byte) [][]byte {
	if _, err := event.Decode(in, 64); err == nil {
		return [][]byte{in}
	}
	var lines [][]byte
	whole := false
	for line := range bytes.Lines(in) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] == '{' || line[0] == '[' {
			if _, err := event.Decode(line, 64); err == nil {
				whole = true
			}
		}
		lines = append(lines, line)
	}
	if !whole || len(lines) < 2 {
		return [][]byte{in}
	}
	return lines
}

type outcomeJSON struct {
	HookName     string            `json:"hookName,omitempty"`
	OnFailure    string            `json:"onFailure,omitempty"`
	ExitCode     *int64            `json:"exitCode,omitempty"`
	TimedOut     *bool             `json:"timedOut,omitempty"`
	Gate         gate.Branch       `json:"gate"`
	Layer        reason.Layer      `json:"layer"`
	Decision     reason.Decision   `json:"decision"`
	Reason       reason.Code       `json:"reason"`
	SchemaErrors []schemaErrorJSON `json:"schemaErrors,omitempty"`
}

type schemaErrorJSON struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func printOutcome(w io.Writer, o gate.Outcome) error {
	j := outcomeJSON{Gate: o.Branch, Layer: o.Reason.Layer(), Decision: o.Decision, Reason: o.Reason}
	if o.Branch != gate.Schema {
		r := o.Result
		j.HookName, j.OnFailure, j.ExitCode, j.TimedOut = r.HookName, r.OnFailure, &r.ExitCode, &r.TimedOut
	}
	for _, v := range o.Violations {
		j.SchemaErrors = append(j.SchemaErrors, schemaErrorJSON{v.Path, v.Message})
	}
	return writeJSON(w, j)
}

// writeJSON writes v as one line, or indented when opts say so.
func writeJSON(w io.Writer, v any, opts ...json.Options) error {
	opts = append(opts, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	b, err := json.Marshal(v, opts...)
	if err != nil {
		return err
	}
	_, err = w.Write(append(audit.EscapeJSON(b), '\n'))
	return err
}

// readInput reads a file, or standard input for "" and "-", up to limit bytes.
func readInput(s *Stdio, path string, limit int64) ([]byte, error) {
	in := s.In
	if path != "" && path != "-" {
		f, err := os.Open(path) //nolint:gosec // the user names the file
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("the input is larger than %d bytes", limit)
	}
	return b, nil
}
