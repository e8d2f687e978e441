package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
	"hooktrail/internal/report"
)

const reportAbout = `Answers a question about the audit log; without NAME, the picture of the last day.
Without FILE it reads all files of the log, rotated and compressed ones included;
"-" is standard input. With --nats it reads what is in the stream at the start:
the events of all hosts that ship to it, each once.

reports:
`

func runReport(ctx context.Context, s *Stdio, args []string) int {
	var c common
	about := strings.Builder{}
	about.WriteString(reportAbout)
	for _, r := range report.Reports() {
		fmt.Fprintf(&about, "  %-24s %s\n", strings.TrimSpace(r.Name+" "+r.Arg), r.Question)
	}
	fl := newFlags(s, "report", "[NAME [ARG]] [FLAGS] [FILE...]", about.String())
	c.register(fl)
	since := fl.Duration("since", 0, "only events of this last `time`, such as 24h (default: all; 24h for the overview)")
	by := fl.String("by", "", "group by these `fields` instead, with commas: hookName, host, hour, …")
	asJSON := fl.Bool("json", false, "print JSON: one object a row, with its section")
	asCSV := fl.Bool("csv", false, "print CSV")
	nats := fl.Bool("nats", false, "read the stream instead of the log: all hosts that ship to it")
	name, arg, rest := reportWords(args)
	if status, ok := parse(s, fl, rest); !ok {
		return status
	}
	run, err := report.New(name, arg, fields(*by))
	if err != nil {
		return s.fail("report", "%s", printable(err.Error()))
	}
	if name == "" && *since == 0 && fl.NArg() == 0 {
		*since = 24 * time.Hour
	}
	from, err := s.ago(*since)
	if err != nil {
		return s.fail("report", "--since: %v", err)
	}
	totals, err := c.source(s, *nats, fl.Args()).each(ctx, from, name != "integrity", run.Add)
	if err != nil {
		return s.fail("report", "%s", printable(err.Error()))
	}
	switch {
	case *asJSON:
		err = reportJSON(s, run.Sections())
	case *asCSV:
		err = reportCSV(s, run.Sections())
	default:
		err = s.table(run.Sections(), totals)
	}
	if err != nil {
		return s.fail("report", "%s", printable(err.Error()))
	}
	if totals.Broken > 0 {
		_, _ = fmt.Fprintf(s.Err, "hooktrail report: %d lines were no events and are left out; hooktrail verify says which\n", totals.Broken)
	}
	return exitOK
}

// reportWords takes the report's name and argument off the front: flags may
// stand behind them. What is a file is no name and no argument.
func reportWords(args []string) (name, arg string, rest []string) {
	word := func() bool {
		if len(args) == 0 || args[0] == "" || strings.HasPrefix(args[0], "-") {
			return false
		}
		_, err := os.Stat(args[0])
		return err != nil
	}
	if !word() {
		return "", "", args
	}
	name, args = args[0], args[1:]
	for _, r := range report.Reports() {
		if r.Name == name && r.Arg != "" && word() {
			return name, args[0], args[1:]
		}
	}
	return name, "", args
}

func fields(by string) []string {
	if by == "" {
		return nil
	}
	return strings.Split(by, ",")
}

// maxCell bounds a cell of a table, in characters.
const maxCell = 60

// table prints sections for people.
func (s *Stdio) table(sections []report.Section, t report.Totals) error {
	s.printf("%d events, %s to %s\n", t.Events, cmp.Or(t.First, "-"), cmp.Or(t.Last, "-"))
	for _, sec := range sections {
		s.printf("\n%s\n", s.bold(printable(sec.Title)))
		if len(sec.Rows) == 0 {
			s.printf("  none\n")
			continue
		}
		w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(sec.Columns, "\t"))
		top := highest(sec)
		for _, row := range sec.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = tableCell(v)
			}
			if s.OutTerminal && top > 0 {
				v, _ := strconv.ParseFloat(row[sec.Bar], 64)
				cells = append(cells, strings.Repeat("█", int(v/top*20)))
			}
			_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(cells, "\t"))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func highest(sec report.Section) (top float64) {
	if sec.Bar < 0 || len(sec.Rows) < 2 {
		return 0
	}
	for _, row := range sec.Rows {
		v, _ := strconv.ParseFloat(row[sec.Bar], 64)
		top = max(top, v)
	}
	return top
}

func tableCell(v string) string {
	v = strings.ReplaceAll(printable(v), "\t", " ")
	if utf8.RuneCountInString(v) > maxCell {
		v = string([]rune(v)[:maxCell-1]) + "…"
	}
	return cmp.Or(v, "-")
}

func (s *Stdio) bold(text string) string {
	if s.Colour() {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// numbers are the columns that are numbers in JSON, or missing: a filter such as
// .n > 3 holds for every text.
var numbers = [...]string{
	"n", "sessions", "users", "calls", "runs", "p95Ms", "deadlineMs", "durationMs", "exitCode", "stopped", "blocked", "rate", "missing", "doubles", "seq",
}

// reportJSON prints one object a row: its section first, then its columns in
// their order.
func reportJSON(s *Stdio, sections []report.Section) error {
	var out bytes.Buffer
	for _, sec := range sections {
		for _, row := range sec.Rows {
			e := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true))
			err := errors.Join(e.WriteToken(jsontext.BeginObject), e.WriteToken(jsontext.String("section")), e.WriteToken(jsontext.String(sec.Title)))
			for i, c := range sec.Columns {
				switch v := jsontext.Value(row[i]); {
				case !slices.Contains(numbers[:], c):
					err = errors.Join(err, e.WriteToken(jsontext.String(c)), e.WriteToken(jsontext.String(row[i])))
				case v.Kind() == '0' && v.IsValid():
					err = errors.Join(err, e.WriteToken(jsontext.String(c)), e.WriteValue(v))
				}
			}
			if err = errors.Join(err, e.WriteToken(jsontext.EndObject)); err != nil {
				return err
			}
		}
	}
	_, err := s.Out.Write(audit.EscapeJSON(out.Bytes()))
	return err
}

// reportCSV prints one table after the other, each with its heading. A cell that
// a spreadsheet would take for a formula is quoted with an apostrophe.
func reportCSV(s *Stdio, sections []report.Section) error {
	for i, sec := range sections {
		if i > 0 {
			s.printf("\n")
		}
		w := csv.NewWriter(s.Out)
		if err := w.Write(sec.Columns); err != nil {
			return err
		}
		for _, row := range sec.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				v = printable(v)
				if v != "" && strings.ContainsRune("=+-@", rune(v[0])) && !isNumber(v) {
					v = "'" + v
				}
				cells[i] = v
			}
			if err := w.Write(cells); err != nil {
				return err
			}
		}
		w.Flush()
		if err := w.Error(); err != nil {
			return err
		}
	}
	return nil
}

func isNumber(v string) bool {
	_, err := strconv.ParseFloat(v, 64)
	return err == nil
}
