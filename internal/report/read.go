package report

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"hooktrail/internal/audit"
)

// Totals say what was read.
type Totals struct {
	Events, Broken int64 // lines that were events, and lines that were none
	Bytes          int64
	First, Last    string // times of the first and last event
}

// Each reads the named files in their order and gives every event that is not
// older than since, which may be zero, to fn. "-" is standard input, in. The row
// is fn's only until it returns.
func Each(ctx context.Context, in io.Reader, files []string, since time.Time, fn func(*Row)) (Totals, error) {
	return EachOf(since, fn, func(line func([]byte)) error {
		for _, name := range files {
			if err := Lines(ctx, in, name, func(l audit.Line) error { line(l.Bytes); return nil }); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
		}
		return nil
	})
}

// EachOf is Each for lines from wherever read takes them. read gives them to
// line one by one, and its error is returned.
func EachOf(since time.Time, fn func(*Row), read func(line func([]byte)) error) (Totals, error) {
	var (
		t    Totals
		r    Row
		from string
		last []byte // a copy: the row's strings would keep their whole lines
	)
	if !since.IsZero() {
		from = since.UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	err := read(func(line []byte) {
		t.Bytes += int64(len(line)) + 1
		if !r.parse(line) {
			t.Broken++
			return
		}
		if r.Time < from { // fixed width, UTC: as text it is in order
			return
		}
		t.Events++
		if t.First == "" || r.Time < t.First {
			t.First = strings.Clone(r.Time)
		}
		if r.Time > string(last) {
			last = append(last[:0], r.Time...)
		}
		fn(&r)
	})
	t.Last = string(last)
	return t, err
}

// Lines gives every line of the named file that is not empty to fn, and ends with
// fn's first error. "-" is standard input, in; a name that ends in .gz is
// unpacked.
func Lines(ctx context.Context, in io.Reader, name string, fn func(audit.Line) error) error {
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user's own choice
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		defer func() { _ = z.Close() }()
		in = z
	}
	n := 0
	return audit.Scan(in, func(l audit.Line) error {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(l.Bytes) == 0 {
			return nil
		}
		return fn(l)
	})
}
