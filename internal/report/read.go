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
	var (
		t    Totals
		r    Row
		from string
	)
	if !since.IsZero() {
		from = since.UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	for _, name := range files {
		err := Lines(ctx, in, name, func(l audit.Line) error {
			t.Bytes += int64(len(l.Bytes)) + 1
			if !r.parse(l.Bytes) {
				t.Broken++
				return nil
			}
			if r.Time < from { // fixed width, UTC: as text it is in order
				return nil
			}
			t.Events++
			if t.First == "" || r.Time < t.First {
				t.First = strings.Clone(r.Time)
			}
			if r.Time > t.Last {
				t.Last = r.Time
			}
			fn(&r)
			return nil
		})
		if err != nil {
			return t, fmt.Errorf("read %s: %w", name, err)
		}
		t.Last = strings.Clone(t.Last)
	}
	return t, nil
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
