package report

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"

	"hooktrail/internal/audit"
)

const chunkSize = 1 << 20

// A chunk is a run of whole lines and what was read from them.
type chunk struct {
	data  []byte
	rows  []row
	lines [][]byte
	bad   int
	done  chan struct{}
}

// readRows hands the rows of files to fn in their order. Lines are read by
// several goroutines at once; fn runs in the caller's.
func readRows(ctx context.Context, files []string, fn func(r *row, line []byte)) (scanned, error) {
	var sc scanned
	workers := max(runtime.GOMAXPROCS(0), 1)
	work := make(chan *chunk)
	order := make(chan *chunk, workers)
	free := make(chan *chunk, workers+3)
	for range cap(free) {
		free <- &chunk{data: make([]byte, 0, chunkSize+audit.MaxLine)}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range workers {
		go func() {
			for c := range work {
				c.parse()
				close(c.done)
			}
		}()
	}
	var readErr error
	go func() {
		defer close(order)
		defer close(work)
		for _, name := range files {
			if readErr = feed(ctx, name, free, work, order); readErr != nil {
				return
			}
		}
	}()
	for c := range order {
		<-c.done
		for i := range c.rows {
			fn(&c.rows[i], c.lines[i])
		}
		sc.Lines += len(c.rows) + c.bad
		sc.Bad += c.bad
		sc.Bytes += int64(len(c.data))
		free <- c
	}
	return sc, readErr
}

// scanned says what a report was made from.
type scanned struct {
	Lines int   `json:"lines"`
	Bad   int   `json:"badLines"`
	Bytes int64 `json:"bytes"`
}

func feed(ctx context.Context, name string, free <-chan *chunk, work, order chan<- *chunk) error {
	r, err := audit.Open(name)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	var rest []byte
	for eof := false; !eof; {
		var c *chunk
		select {
		case c = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		c.data = append(c.data[:0], rest...)
		at := len(c.data)
		c.data = c.data[:min(cap(c.data), at+chunkSize)]
		if len(c.data) == at { // a line longer than a chunk is none of ours
			at = 0
			c.data = c.data[:chunkSize]
		}
		n, err := io.ReadFull(r, c.data[at:])
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			eof = true
		case err != nil:
			return err
		}
		c.data = c.data[:at+n]
		rest = nil
		if !eof {
			cut := bytes.LastIndexByte(c.data, '\n') + 1
			rest = append(rest, c.data[cut:]...)
			c.data = c.data[:cut]
		}
		c.done = make(chan struct{})
		order <- c
		work <- c
	}
	return nil
}

func (c *chunk) parse() {
	c.rows, c.lines, c.bad = c.rows[:0], c.lines[:0], 0
	for b := c.data; len(b) > 0; {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if len(line) == 0 {
			continue
		}
		if len(c.rows) < cap(c.rows) {
			c.rows = c.rows[:len(c.rows)+1]
		} else {
			c.rows = append(c.rows, row{})
		}
		if !c.rows[len(c.rows)-1].scan(line) {
			c.rows = c.rows[:len(c.rows)-1]
			c.bad++
			continue
		}
		c.lines = append(c.lines, line)
	}
}
