package ship

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// Watch calls fn for each event that is written to the log from now on, over
// rotations, until ctx ends. first is told of the event that is last at the
// start, if there is one. It has nothing to do with any server.
func Watch(ctx context.Context, path string, poll time.Duration, first, fn func(Meta)) {
	r := openEnd(path, first)
	for {
		if r == nil {
			// No log yet. What the first line is about is new.
			if o, _, err := openReader(path, Position{}); err == nil {
				r = o
			}
		}
		for r != nil {
			l, err := r.next()
			if err == nil {
				if l.ok {
					fn(l.meta)
				}
				continue
			}
			if !errors.Is(err, io.EOF) {
				r.close()
				r = openEnd(path, func(Meta) {})
			}
			break
		}
		if !sleep(ctx, poll) {
			r.close()
			return
		}
	}
}

// openEnd opens the log behind its last finished line. It is nil when there is
// no log.
func openEnd(path string, last func(Meta)) *reader {
	f, err := openLogFile(path)
	if err != nil {
		return nil
	}
	end, line, err := lastLine(f)
	if err == nil {
		err = f.seek(end)
	}
	if err != nil {
		f.close()
		return nil
	}
	r := &reader{path: path, cur: f}
	if m, ok := ParseMeta(line); ok {
		r.last = m.Seq
		last(m)
	}
	return r
}

// lastLine returns the offset behind the last newline and the line in front of
// it, which is nil when it is too long to be one of ours.
func lastLine(f *logFile) (int64, []byte, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return 0, nil, err
	}
	from := max(0, fi.Size()-maxLine)
	b, err := io.ReadAll(io.NewSectionReader(f.f, from, fi.Size()-from))
	if err != nil {
		return 0, nil, err
	}
	i := bytes.LastIndexByte(b, '\n')
	if i < 0 {
		return from, nil, nil
	}
	end := from + int64(i) + 1
	b = b[:i]
	if j := bytes.LastIndexByte(b, '\n'); j >= 0 || from == 0 {
		return end, b[j+1:], nil
	}
	return end, nil, nil
}

// ReadCursor returns what shipping last wrote down; the zero Cursor when there
// is nothing.
func ReadCursor(o Options) Cursor {
	if o.Cursor == "" {
		o.Cursor = DefaultCursor(o.Log)
	}
	c, err := loadCursor(o.Cursor)
	if err != nil {
		return Cursor{}
	}
	return c
}
