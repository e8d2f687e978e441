package event

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Limits bound the reading of one event. The zero value of each field means
// its default.
type Limits struct {
	MaxBytes int64         // 64 MiB
	MaxDepth int           // 128 nested objects and lists
	Timeout  time.Duration // to a complete value; 3 s
	Grace    time.Duration // for the end of input after a complete value; 50 ms
}

func (l Limits) withDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = 64 << 20
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = 128
	}
	if l.Timeout <= 0 {
		l.Timeout = 3 * time.Second
	}
	if l.Grace <= 0 {
		l.Grace = 50 * time.Millisecond
	}
	return l
}

// ErrNotRead is what Read's faults wrap. What was read until then is returned
// beside it.
var ErrNotRead = errors.New("the event was not read")

// lull is how long input may pause before Read looks whether what it has is
// complete. Looking costs a pass over the bytes, so it is not done for input
// that simply ends.
const lull = 5 * time.Millisecond

type chunk struct {
	data []byte
	err  error
}

// Read returns what r holds: to its end, or, since a host may never close its
// side, to a complete JSON value that is followed by silence for l.Grace. It
// reads at most l.MaxBytes and returns after l.Timeout at the latest if no value
// has become complete by then.
//
// After a fault, or when the end never came, one goroutine stays blocked in
// r.Read; it holds nothing else and ends with r or with the process.
func Read(r io.Reader, l Limits) ([]byte, error) {
	l = l.withDefaults()
	chunks := make(chan chunk, 2) // the event and its end, with nobody waiting for the other
	done := make(chan struct{})
	defer close(done)
	go pump(r, chunks, done)

	var (
		buf      []byte
		scan     completeness
		scanned  int
		complete bool
	)
	deadline := time.NewTimer(l.Timeout)
	defer deadline.Stop()
	pause := time.NewTimer(lull)
	defer pause.Stop()
	for {
		select {
		case c := <-chunks:
			if buf == nil {
				buf = c.data // an event in one piece is not copied
			} else {
				buf = append(buf, c.data...)
			}
			complete = false
			if int64(len(buf)) > l.MaxBytes {
				return buf[:l.MaxBytes], fmt.Errorf("%w: it is larger than %d bytes", ErrNotRead, l.MaxBytes)
			}
			if errors.Is(c.err, io.EOF) {
				return buf, nil
			}
			if c.err != nil {
				return buf, fmt.Errorf("%w: %w", ErrNotRead, c.err)
			}
			pause.Reset(lull)
		case <-pause.C:
			if complete {
				return buf, nil
			}
			complete = scan.feed(buf[scanned:])
			scanned = len(buf)
			if complete {
				pause.Reset(l.Grace)
			}
		case <-deadline.C:
			if scan.feed(buf[scanned:]) || complete {
				return buf, nil
			}
			return buf, fmt.Errorf("%w: no complete object on standard input after %v (%d bytes so far)", ErrNotRead, l.Timeout, len(buf))
		}
	}
}

func pump(r io.Reader, out chan<- chunk, done <-chan struct{}) {
	size := 4 << 10 // most events fit
	b := make([]byte, size)
	for {
		n, err := r.Read(b)
		select {
		case out <- chunk{b[:n:n], err}:
		case <-done:
			return
		}
		if err != nil {
			return
		}
		if b = b[n:]; len(b) > 0 {
			continue
		}
		if size < 1<<20 {
			size *= 2 // large events come in few pieces
		}
		b = make([]byte, size)
	}
}

// completeness notices the end of the first object or list in a stream of
// bytes. It checks brackets and strings only; whether the value is sound is the
// decoder's business.
type completeness struct {
	depth          int
	inString, esc  bool
	opened, closed bool
}

func (c *completeness) feed(b []byte) bool {
	for _, x := range b {
		switch {
		case c.inString:
			switch {
			case c.esc:
				c.esc = false
			case x == '\\':
				c.esc = true
			case x == '"':
				c.inString = false
			}
		case x == '"':
			c.inString = true
		case x == '{' || x == '[':
			c.depth++
			c.opened = true
		case x == '}' || x == ']':
			c.depth--
			if c.opened && c.depth <= 0 {
				c.closed = true
			}
		}
	}
	return c.closed && c.depth <= 0
}
