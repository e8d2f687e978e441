package supervise

import (
	"bytes"
	"sync"
)

// An Output is what was kept of one stream: all of it, or its beginning and its
// end.
type Output struct {
	// Head is the beginning. Tail is the end; it is nil unless something between
	// the two was dropped.
	Head, Tail []byte

	// Dropped counts the bytes between Head and Tail.
	Dropped int64

	// Brace says that an opening brace was among the dropped bytes, so that a
	// reader of answers knows whether one can have been lost.
	Brace bool
}

// A collector keeps the beginning and the end of a stream in bounded memory. One
// goroutine may add while another takes.
type collector struct {
	mu       sync.Mutex
	out      Output
	headMax  int
	tailMax  int
	finished bool
}

// newCollector keeps at most limit bytes, a quarter of them for the end.
func newCollector(limit int) *collector {
	return &collector{headMax: limit - limit/4, tailMax: limit / 4}
}

func (c *collector) add(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return
	}
	if n := min(len(p), c.headMax-len(c.out.Head)); n > 0 {
		c.out.Head = append(c.out.Head, p[:n]...)
		p = p[n:]
	}
	c.out.Tail = append(c.out.Tail, p...)
	// Twice the room, so that bytes are moved once for each one kept.
	if len(c.out.Tail) > 2*c.tailMax {
		c.trim()
	}
}

// trim drops what is too much of the tail.
func (c *collector) trim() {
	n := len(c.out.Tail) - c.tailMax
	if n <= 0 {
		return
	}
	c.out.Dropped += int64(n)
	c.out.Brace = c.out.Brace || bytes.IndexByte(c.out.Tail[:n], '{') >= 0
	c.out.Tail = append(c.out.Tail[:0], c.out.Tail[n:]...)
}

// take returns what was kept. Bytes that are added later are not.
func (c *collector) take() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished = true
	c.trim()
	if c.out.Dropped == 0 {
		c.out.Head, c.out.Tail = append(c.out.Head, c.out.Tail...), nil
	}
	return c.out
}
