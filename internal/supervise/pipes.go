package supervise

import (
	"os"
	"time"
)

// pipes are the three streams of a child, ours and theirs.
type pipes struct {
	theirs   [3]*os.File
	stdin    *os.File
	out, err stream
	fed      chan struct{} // closed when the input is written, or nobody wants it
}

// A stream is an output of a child that is being read.
type stream struct {
	r    *os.File
	kept *collector
	done chan struct{} // closed at the end of the stream
}

func openPipes(limit int) (*pipes, error) {
	p := &pipes{fed: make(chan struct{})}
	for i := range p.theirs {
		r, w, err := os.Pipe()
		if err != nil {
			p.abandon()
			p.closeTheirs()
			return nil, err
		}
		switch i {
		case 0:
			p.theirs[i], p.stdin = r, w
		case 1:
			p.theirs[i], p.out = w, stream{r, newCollector(limit), make(chan struct{})}
		case 2:
			p.theirs[i], p.err = w, stream{r, newCollector(limit), make(chan struct{})}
		}
	}
	return p, nil
}

// closeTheirs closes the child's ends in this process.
func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close() // also fine for a nil file
	}
}

// abandon closes our ends when no child was started.
func (p *pipes) abandon() {
	_ = p.stdin.Close()
	_ = p.out.r.Close()
	_ = p.err.r.Close()
}

// start feeds the input and reads the outputs until they end.
func (p *pipes) start(input []byte) {
	go func() {
		defer close(p.fed)
		// A child that does not read all, or closes its input, is none of our
		// business: the exit status decides.
		_, _ = p.stdin.Write(input)
		_ = p.stdin.Close()
	}()
	go p.out.read()
	go p.err.read()
}

func (s stream) read() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.r.Read(buf)
		s.kept.add(buf[:n])
		if err != nil {
			return
		}
	}
}

// flush waits until both outputs have ended, at most for the time given.
func (p *pipes) flush(grace time.Duration) {
	t := time.NewTimer(grace)
	defer t.Stop()
	for _, s := range []stream{p.out, p.err} {
		select {
		case <-s.done:
		case <-t.C:
			return
		}
	}
}

// stop ends the reading, whoever still holds the pipes, and returns what was
// kept.
func (p *pipes) stop() (out, err Output) {
	_ = p.stdin.Close() // ends a write that nobody reads
	out, err = p.out.stop(), p.err.stop()
	<-p.fed
	return out, err
}

// stop takes what already lies in the pipe, since a child wrote it before it
// ended, and no more.
func (s stream) stop() Output {
	defer func() { _ = s.r.Close() }()
	select {
	case <-s.done:
		return s.kept.take()
	default:
	}
	if s.r.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-s.done
		s.kept.add(readNow(s.r))
	}
	return s.kept.take()
}

// drainMax bounds what readNow takes: no pipe holds more.
const drainMax = 1 << 20

// readNow reads what lies in the pipe without waiting for more.
func readNow(r *os.File) []byte {
	raw, err := r.SyscallConn()
	if err != nil {
		return nil
	}
	var all []byte
	buf := make([]byte, 64<<10)
	// Read would not look at the pipe again once its deadline is over.
	_ = raw.Control(func(fd uintptr) {
		for len(all) < drainMax {
			n, err := readRaw(fd, buf)
			if n <= 0 || err != nil {
				return
			}
			all = append(all, buf[:n]...)
		}
	})
	return all
}
