package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/export"
	"hooktrail/internal/report"
)

const exportAbout = `Writes the events of the log in the format of a SIEM, one record a line; otlp
writes requests of many records, each a line. Without FILE it reads all files of
the log, rotated and compressed ones included; "-" is standard input. --where
takes conditions of the form field=value, with commas; all must hold, and value
may be several with "|" between them.

formats:
  ecs   Elastic Common Schema 9.4, JSON lines
  ocsf  OCSF 1.8.0, classes 1007 and 6003, JSON lines
  otlp  OpenTelemetry log records, JSON lines of ExportLogsServiceRequest
  cef   Common Event Format 0, lines of at most 7,680 bytes

Exit status: 0 all was exported, 1 a line was no event and is left out, 2 wrong
usage or a file that could not be read.`

func runExport(ctx context.Context, s *Stdio, args []string) int {
	var c common
	fl := newFlags(s, "export", "--format ecs|ocsf|otlp|cef [--since TIME] [--where FIELD=VALUE,…] [--log FILE] [FILE...]", exportAbout)
	c.register(fl)
	format := fl.String("format", "", "`format` of the records: ecs, ocsf, otlp or cef")
	since := fl.Duration("since", 0, "only events of this last `time`, such as 24h (default: all)")
	where := fl.String("where", "", "only events that meet these `conditions`")
	if status, ok := parse(s, fl, args); !ok {
		return status
	}
	w, err := export.New(s.Out, *format)
	if err != nil {
		return s.fail("export", "--format: %v", err)
	}
	x := exporter{s: s, w: w}
	if x.where, err = conditions(*where); err != nil {
		return s.fail("export", "%v", err)
	}
	if x.from, err = s.ago(*since); err != nil {
		return s.fail("export", "--since: %v", err)
	}
	files, err := c.source(s, false, fl.Args()).names()
	if err != nil {
		return s.fail("export", "%s", printable(err.Error()))
	}
	for _, name := range files {
		if err = x.file(ctx, name); err != nil {
			err = fmt.Errorf("read %s: %w", name, err)
			break
		}
	}
	if e := w.Flush(); err == nil { // what was read is written all the same
		err = e
	}
	if err != nil {
		return s.fail("export", "%s", printable(err.Error()))
	}
	if x.broken {
		return exitFindings
	}
	return exitOK
}

// An exporter takes the lines of logs to a writer.
type exporter struct {
	s      *Stdio
	w      *export.Writer
	from   time.Time
	where  []condition
	event  export.Event
	broken bool // a line was no event
}

func (x *exporter) file(ctx context.Context, name string) error {
	return report.Lines(ctx, flushing{x.s.In, x.w}, name, func(l audit.Line) error {
		if err := x.parse(l); err != nil {
			x.broken = true
			_, _ = fmt.Fprintf(x.s.Err, "hooktrail export: %s:%d: the line is no event: %s\n", printable(name), l.Number, printable(err.Error()))
			return nil
		}
		if x.event.Time().Before(x.from) || !meets(x.where, l.Bytes) {
			return nil
		}
		return x.w.Write(&x.event)
	})
}

func (x *exporter) parse(l audit.Line) error {
	if l.Long {
		return fmt.Errorf("it has more than %d bytes", audit.MaxLine)
	}
	return x.event.Parse(l.Bytes)
}

// flushing is standard input that writes out all that was read before it waits
// for more, so that a followed log is exported as it grows.
type flushing struct {
	io.Reader
	w *export.Writer
}

func (f flushing) Read(p []byte) (int, error) {
	if err := f.w.Flush(); err != nil {
		return 0, err
	}
	return f.Reader.Read(p)
}
