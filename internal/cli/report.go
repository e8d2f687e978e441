package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hooktrail/internal/report"
)

func reportAbout() string {
	var b strings.Builder
	b.WriteString("Answers the questions people ask of the audit log. NAME is one of:\n\n")
	for _, n := range report.Names() {
		fmt.Fprintf(&b, "  %-22s %s\n", n[0], n[1])
	}
	b.WriteString("\nIt reads the log, rotated and gzipped files included. ARG is a session for session, a tool use id for call.\n")
	b.WriteString("--by splits by one of: " + strings.Join(report.By(), ", ") + ".")
	return b.String()
}

func runReport(ctx context.Context, s *Stdio, args []string) int {
	var c common
	fs := newFlags(s, "report", "[NAME [ARG]] [--since 24h] [--by FIELD] [--json|--csv] [--log FILE]", reportAbout())
	c.register(fs)
	since := fs.String("since", "", "leave out events before this `time`: a duration such as 24h or 7d, or RFC 3339")
	by := fs.String("by", "", "split by a `field`")
	asJSON := fs.Bool("json", false, "print one JSON object")
	asCSV := fs.Bool("csv", false, "print CSV; tables are separated by an empty line")
	if status, ok := parse(s, fs, flagsFirst(args)); !ok {
		return status
	}
	if fs.NArg() > 2 || *asJSON && *asCSV {
		fs.Usage()
		return exitFailure
	}
	set, fault := c.load(s)
	if fault != nil && c.log == "" {
		return s.fail("report", "%v", fault)
	}
	o := report.Options{Name: fs.Arg(0), Arg: fs.Arg(1), By: *by, Now: s.Now()}
	var err error
	if o.Since, err = sinceTime(*since, s.Now()); err != nil {
		return s.fail("report", "%v", err)
	}
	if o.Since.IsZero() && o.Name == "" {
		o.Since = s.Now().Add(-24 * time.Hour) // a day's overview
	}
	if o.Files, err = report.Files(set.Log, nil); err != nil {
		return s.failLog("report", err)
	}
	res, err := report.Run(ctx, o)
	if err != nil {
		return s.fail("report", "%s", printable(err.Error()))
	}
	switch {
	case *asJSON:
		err = writeJSON(s.Out, reportJSON(res))
	case *asCSV:
		err = writeCSV(s, res)
	default:
		printReport(s, res)
	}
	if err != nil {
		return s.fail("report", "%v", err)
	}
	return exitOK
}

// sinceTime reads a duration, days included, or a time.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 100000 {
			return now.Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since is %q; it takes a duration such as 24h or 7d, or a time such as 2026-12-01T08:00:00Z", text)
}

func cellText(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func reportJSON(res *report.Result) any {
	type table struct {
		Title string           `json:"title"`
		Rows  []map[string]any `json:"rows"`
	}
	var tables []table
	for _, t := range res.Tables {
		jt := table{Title: t.Title, Rows: []map[string]any{}}
		for _, r := range t.Rows {
			m := map[string]any{}
			for i, c := range t.Columns {
				m[c] = r[i]
			}
			jt.Rows = append(jt.Rows, m)
		}
		tables = append(tables, jt)
	}
	return struct {
		Report  string  `json:"report"`
		Tables  []table `json:"tables"`
		Scanned any     `json:"scanned"`
	}{res.Name, tables, res.Scanned}
}

func writeCSV(s *Stdio, res *report.Result) error {
	w := csv.NewWriter(s.Out)
	for i, t := range res.Tables {
		if i > 0 {
			w.Flush()
			s.printf("\n")
		}
		if err := w.Write(t.Columns); err != nil {
			return err
		}
		for _, r := range t.Rows {
			cells := make([]string, len(r))
			for i, v := range r {
				cells[i] = harmless(printable(cellText(v)))
			}
			if err := w.Write(cells); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}

// harmless keeps a spreadsheet from taking a cell for a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t", rune(text[0])) {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return "'" + text
		}
	}
	return text
}

const maxCell = 64

func printReport(s *Stdio, res *report.Result) {
	for i, t := range res.Tables {
		if i > 0 {
			s.printf("\n")
		}
		s.printf("%s\n", printable(t.Title))
		if len(t.Rows) == 0 {
			s.printf("  (none)\n")
			continue
		}
		printTable(s, t)
	}
	if res.Scanned.Bad > 0 {
		s.printf("\n%d of %d lines could not be read; hooktrail verify tells which.\n", res.Scanned.Bad, res.Scanned.Lines)
	}
}

func printTable(s *Stdio, t report.Table) {
	bar, top := -1, 0.0
	width := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		width[i] = len(c)
		if c == t.Bar {
			bar = i
		}
	}
	rows := make([][]string, 0, len(t.Rows))
	for _, r := range t.Rows {
		cells := make([]string, len(r))
		for i, v := range r {
			cells[i] = oneLine(printable(cellText(v)), maxCell)
			width[i] = max(width[i], utf8.RuneCountInString(cells[i]))
		}
		if bar >= 0 {
			top = max(top, amount(r[bar]))
		}
		rows = append(rows, cells)
	}
	line := func(cells []string, tail string) {
		var b strings.Builder
		for i, c := range cells {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if _, number := t.Rows[0][i].(string); !number {
				c = pad + c
			} else {
				c += pad
			}
			b.WriteString("  " + c)
		}
		s.printf("%s\n", strings.TrimRight(b.String()+tail, " "))
	}
	line(t.Columns, "")
	for i, cells := range rows {
		tail := ""
		if bar >= 0 && top > 0 && s.OutTerminal {
			tail = "  " + strings.Repeat("█", int(20*amount(t.Rows[i][bar])/top+0.5))
		}
		line(cells, tail)
	}
}

func amount(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
