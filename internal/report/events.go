package report

import (
	"bytes"
	"context"
	"errors"

	"github.com/tidwall/gjson"

	"hooktrail/internal/audit"
)

// errStop ends a scan early.
var errStop = errors.New("enough")

// Has tells whether a line holds a text.
func Has(line []byte, text string) bool { return bytes.Contains(line, []byte(text)) }

// Events calls fn for the events of the log at path, oldest first. keep looks at
// a line before it is decoded; nil keeps all.
func Events(ctx context.Context, path string, keep func(line []byte) bool, fn func(audit.Event) error) error {
	files, err := audit.Files(path)
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := eventsOf(ctx, name, keep, fn); err != nil {
			return err
		}
	}
	return nil
}

func eventsOf(ctx context.Context, name string, keep func([]byte) bool, fn func(audit.Event) error) error {
	r, err := audit.Open(name)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	return audit.Scan(r, func(l audit.Line) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.Torn || l.Long || keep != nil && !keep(l.Bytes) {
			return nil
		}
		e, err := audit.Decode(l.Bytes)
		if err != nil {
			return nil //nolint:nilerr // verify reports such lines
		}
		return fn(e)
	})
}

// Field returns a field of a line as text, such as "layer" or "checkpoint.vm";
// empty when it is not there.
func Field(line []byte, path string) string { return gjson.GetBytes(line, path).String() }
