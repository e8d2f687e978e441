package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// asideMax is the most bytes that are copied off the log. More than that is not
// what a crash leaves; the whole file is then put aside by a rename, which takes
// no time.
const asideMax = 1 << 20

// tailInfo says how a file ends.
type tailInfo struct {
	seq  uint64 // of the last whole line, zero if it is no event
	hash string // of the last whole line
	end  int64  // offset behind the last whole line
	rest int    // bytes behind it
	part string // hash of what stands behind it, if that is as short as a line
}

// tail looks at the file's last whole line, and at no more than two lines'
// length of bytes.
func (w *writer) tail() (tailInfo, error) { return tailOf(w.f, w.size) }

func tailOf(f io.ReaderAt, size int64) (tailInfo, error) {
	from := max(0, size-2*MaxLine)
	buf := make([]byte, size-from)
	if _, err := f.ReadAt(buf, from); err != nil && ignoreEOF(err) != nil {
		return tailInfo{}, err
	}
	nl := bytes.LastIndexByte(buf, '\n')
	t := tailInfo{rest: len(buf) - nl - 1, end: from + int64(nl) + 1}
	if t.rest > 0 && t.rest < MaxLine {
		t.part = lineHash(buf[nl+1:])
	}
	if nl < 0 {
		t.end, t.rest = from, len(buf) // settled by putAside, which looks further
		if from > 0 {
			t.end = 0
			t.rest = int(size)
		}
		return t, nil
	}
	line := buf[bytes.LastIndexByte(buf[:nl], '\n')+1 : nl]
	t.hash = lineHash(line)
	if p, ok := linePlace(line); ok {
		t.seq = p.seq
	}
	return t, nil
}

// eventEnd says where an event ends, and which one.
type eventEnd struct {
	seq  uint64
	hash string
	end  int64
}

// lastEvent looks for the last line that is an event, in the file's last
// asideMax bytes.
func (w *writer) lastEvent() (eventEnd, error) {
	from := max(0, w.size-asideMax)
	buf := make([]byte, w.size-from)
	if _, err := w.f.ReadAt(buf, from); err != nil && ignoreEOF(err) != nil {
		return eventEnd{}, err
	}
	for end := bytes.LastIndexByte(buf, '\n'); end >= 0; {
		start := bytes.LastIndexByte(buf[:end], '\n')
		if start < 0 && from > 0 {
			break
		}
		line := buf[start+1 : end]
		if p, ok := linePlace(line); ok && strictLine(line) {
			return eventEnd{p.seq, lineHash(line), from + int64(end) + 1}, nil
		}
		end = start
	}
	return eventEnd{}, nil
}

// firstLine returns the file's first line, or nil.
func (w *writer) firstLine() []byte {
	buf := make([]byte, min(w.size, MaxLine))
	n, err := w.f.ReadAt(buf, 0)
	if ignoreEOF(err) != nil {
		return nil
	}
	if nl := bytes.IndexByte(buf[:n], '\n'); nl >= 0 {
		return buf[:nl]
	}
	return nil
}

// firstID returns the event id of the file's first record, or nothing.
func (w *writer) firstID() string {
	p, _ := linePlace(w.firstLine())
	return p.id
}

func (w *writer) firstPrev() string {
	p, _ := linePlace(w.firstLine())
	return p.prev
}

// catchUp walks over lines that follow in the chain but that the head does not
// know yet: their writer was killed before it could tell.
func (w *writer) catchUp() error {
	if w.end >= w.size {
		return nil
	}
	r := newLineReader(io.NewSectionReader(w.f, w.end, w.size-w.end))
	for {
		line, whole, err := r.next()
		if err != nil {
			return ignoreEOF(err)
		}
		p, ok := linePlace(line)
		if !ok || p.seq != w.seq+1 || p.prev != w.prev || !strictLine(line) {
			return nil
		}
		if !whole && int64(len(line)) != w.size-w.end {
			return nil // longer than a line can be
		}
		if w.file == "" {
			w.file = p.id
		}
		w.seq, w.prev = p.seq, lineHash(line)
		w.end += int64(len(line))
		if !whole {
			w.open1 = true
			w.note(actionRecovered, "the last line (seq %d) had lost its newline", w.seq)
			return nil
		}
		w.end++
		if w.seq%1024 == 0 && w.late() != nil {
			return w.late()
		}
	}
}

// putAside takes what stands behind the last line off the log and keeps it in a
// file of its own: a fragment in the log would break the reader of the whole
// line that comes next, and half a line is no event.
func (w *writer) putAside() error {
	if w.end >= w.size {
		return nil
	}
	n := w.size - w.end
	if n > asideMax {
		name, err := w.moveAway()
		if err != nil {
			return err
		}
		w.note(actionRecovered, "%d bytes that are no events stood behind the last line; the file was put aside as %s", n, name)
		return nil
	}
	buf := make([]byte, n)
	if _, err := w.f.ReadAt(buf, w.end); err != nil && ignoreEOF(err) != nil {
		return err
	}
	name, err := w.saveTorn(buf)
	if err != nil {
		return err
	}
	if err := w.f.Truncate(w.end); err != nil {
		return err
	}
	w.size = w.end
	if w.end == 0 {
		w.file = ""
	}
	sum := sha256.Sum256(buf)
	w.note(actionRecovered, "%d bytes that are no event stood behind the last line; they were cut off and kept as %s (SHA-256 %s)", n, name, hex.EncodeToString(sum[:]))
	return nil
}

// saveTorn keeps buf beside the log, durable before anything is cut, and
// returns its file's name.
func (w *writer) saveTorn(buf []byte) (string, error) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s.torn-%012d", w.path, w.seq+1)
		if n > 0 {
			name += fmt.Sprintf("-%d", n)
		}
		f, made, err := openFile(name, 0)
		if err != nil {
			return "", err
		}
		if !made { // an earlier one, perhaps the same bytes before a crash
			_ = f.Close()
			if n > 99 {
				return "", fmt.Errorf("%s: there are too many files like it", name)
			}
			continue
		}
		_, err = f.Write(buf)
		if err == nil {
			err = f.Sync()
		}
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			_ = os.Remove(name)
			return "", err
		}
		w.dirty = true
		return w.base() + name[len(w.path):], nil
	}
}
