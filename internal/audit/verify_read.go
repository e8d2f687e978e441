package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"
	"sync"
)

// chunkSize is how much of a file is looked at in one piece. A longer line is
// no event, so memory does not grow with what the file holds.
const chunkSize = 1 << 20

// A verified is what was found out about one line alone.
type verified struct {
	seq     uint64
	prev    []byte // hex; good until the next chunk
	sum     digest
	ok      bool // a strict object with a place in the chain
	long    bool
	torn    bool
	logLine bool
	text    []byte // of a log event, for its message
}

type chunk struct {
	buf   []byte
	lines []verified
	long  bool // the chunk is one line that is too long for it
	torn  bool // the last line has no newline
	done  chan struct{}
}

// readLines reads r in chunks of whole lines, has them parsed and hashed by all
// processors, and hands them to fn in their order.
func readLines(ctx context.Context, r io.Reader, fn func(*verified)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *chunk, workers+2)
	for range cap(free) {
		free <- &chunk{buf: make([]byte, 0, chunkSize)}
	}
	jobs := make(chan *chunk, cap(free))
	order := make(chan *chunk, cap(free))
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for c := range jobs {
				c.parse()
				close(c.done)
			}
		})
	}
	var readErr error
	group.Go(func() {
		defer close(order)
		defer close(jobs)
		readErr = cut(ctx, r, free, func(c *chunk) {
			c.done = make(chan struct{})
			jobs <- c
			order <- c
		})
	})
	for c := range order {
		<-c.done
		for i := range c.lines {
			fn(&c.lines[i])
		}
		free <- c
	}
	group.Wait()
	return readErr
}

// cut reads r into chunks that end with a line.
func cut(ctx context.Context, r io.Reader, free <-chan *chunk, send func(*chunk)) error {
	var rest []byte // the beginning of a line that the last chunk did not hold
	skip := false   // inside a line that is too long
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var c *chunk
		select {
		case c = <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		c.buf, c.long, c.torn = append(c.buf[:0], rest...), false, false
		n, err := io.ReadFull(r, c.buf[len(c.buf):cap(c.buf)])
		c.buf = c.buf[:len(c.buf)+n]
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return err
		}
		if skip {
			i := bytes.IndexByte(c.buf, '\n')
			if i < 0 {
				i = len(c.buf) - 1
			} else {
				skip = false
			}
			c.buf = append(c.buf[:0], c.buf[i+1:]...)
		}
		nl := bytes.LastIndexByte(c.buf, '\n')
		switch {
		case end:
			c.torn = len(c.buf) > 0 && nl != len(c.buf)-1
			send(c)
			return nil
		case nl < 0 && len(c.buf) == cap(c.buf):
			c.long, skip, rest = true, true, nil
		case nl < 0:
			rest = append([]byte(nil), c.buf...)
			c.buf = c.buf[:0]
		default:
			rest = append([]byte(nil), c.buf[nl+1:]...)
			c.buf = c.buf[:nl+1]
		}
		send(c)
	}
}

func (c *chunk) parse() {
	c.lines = c.lines[:0]
	if c.long {
		c.lines = append(c.lines, verified{long: true})
		return
	}
	for b := c.buf; len(b) > 0; {
		nl := bytes.IndexByte(b, '\n')
		line, torn := b, nl < 0
		if torn {
			b = nil
		} else {
			line, b = b[:nl], b[nl+1:]
		}
		v := verified{sum: sha256.Sum256(line), long: len(line) >= MaxLine, torn: torn}
		if _, v.seq, v.prev, v.ok = rawPlace(line); v.ok {
			v.ok = Plain(line)
		} else if p, ok := slowPlace(line); ok && strictLine(line) {
			v.seq, v.prev, v.ok = p.seq, []byte(p.prev), true
		}
		if v.ok && bytes.Contains(line, []byte(`,"kind":"log",`)) {
			v.logLine, v.text = true, append([]byte(nil), line...)
		}
		c.lines = append(c.lines, v)
	}
}
