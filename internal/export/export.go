// Package export writes events of the log in the formats of SIEMs: ECS, OCSF,
// OTLP and CEF. docs/export.md has the mapping.
//
// Each event becomes one record, and each record or batch of them one line. The
// same event always gives the same bytes. Nothing of an event is lost on the
// way but what CEF has no room for, which is marked; nothing is guessed, and
// nothing empty is written. The package reads lines and does not check the
// chain; that is audit.Verify.
package export

import (
	"fmt"
	"io"
)

// Formats returns the names that New takes.
func Formats() []string { return []string{"ecs", "ocsf", "otlp", "cef"} }

// A format appends the record of one event, with its newline where a record is
// a line.
type format interface {
	record(dst []byte, e *Event) []byte
}

// A Writer writes records. It holds back what is not yet worth a write: call
// Flush before waiting for more events, and at the end.
type Writer struct {
	out    io.Writer
	format format
	buf    []byte
}

// enough is how many bytes are worth a write.
const enough = 64 << 10

// New returns a writer of the named format.
func New(out io.Writer, name string) (*Writer, error) {
	w := &Writer{out: out}
	switch name {
	case "ecs":
		w.format = lines{ecs{}}
	case "ocsf":
		w.format = lines{ocsf{}}
	case "otlp":
		w.format = &otlp{}
	case "cef":
		w.format = lines{cef{}}
	default:
		return nil, fmt.Errorf("no format %q; there are ecs, ocsf, otlp and cef", name)
	}
	return w, nil
}

// Write writes one event, which Parse has read.
func (w *Writer) Write(e *Event) error {
	w.buf = w.format.record(w.buf, e)
	if len(w.buf) < enough {
		return nil
	}
	return w.write()
}

// Flush ends an open batch and writes what was held back.
func (w *Writer) Flush() error {
	if f, ok := w.format.(*otlp); ok {
		w.buf = f.end(w.buf)
	}
	return w.write()
}

func (w *Writer) write() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// lines is a format whose records are lines.
type lines struct{ format }

func (l lines) record(dst []byte, e *Event) []byte {
	return append(l.format.record(dst, e), '\n')
}
