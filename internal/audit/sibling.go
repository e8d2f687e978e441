package audit

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxSiblings bounds how many files beside the log are looked at while the lock
// is held: the ones that were changed last.
const maxSiblings = 64

// sibling returns the name of a file beside the log that ends with the line of
// this hash, or nothing. Packed files are not looked at: that would take too
// long under the lock.
func (w *writer) sibling(hash string) string {
	for _, name := range w.siblings() {
		if t, ok := tailOfFile(name); ok && t.hash == hash {
			return filepath.Base(name)
		}
	}
	return ""
}

// beyond returns the end of the chain behind the head's line in a file beside
// the log. It differs from the head when a writer was killed before it could
// tell the head, and the file was renamed then: going on from the head would
// fork the chain. Zero means that no such file holds the head's line.
func (w *writer) beyond() (seq uint64, hash, name string) {
	for _, n := range w.siblings() {
		if seq, hash := w.walk(n); seq > 0 {
			return seq, hash, filepath.Base(n)
		}
	}
	return 0, "", ""
}

// walk follows the chain in one file from the head's line to the file's end. A
// torn line there is no event.
func (w *writer) walk(name string) (seq uint64, hash string) {
	f, err := openLogFile(name)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = f.Close() }()
	there := &writer{f: f.f, size: f.size}
	if there.lineBefore(w.head.end, w.head.last) != w.head.hash {
		return 0, ""
	}
	seq, hash = w.head.seq, w.head.hash
	r := newLineReader(io.NewSectionReader(f.f, w.head.end, f.size-w.head.end))
	for {
		line, whole, err := r.next()
		if err != nil || !whole {
			return seq, hash
		}
		p, ok := linePlace(line)
		if !ok || p.seq != seq+1 || p.prev != hash || !strictLine(line) || w.late() != nil {
			return seq, hash
		}
		seq, hash = p.seq, lineHash(line)
	}
}

// newestSibling returns the last event of the file beside the log that has the
// highest number, or zero.
func (w *writer) newestSibling() (seq uint64, hash, name string) {
	for _, n := range w.siblings() {
		if t, ok := tailOfFile(n); ok && t.seq > seq {
			seq, hash, name = t.seq, t.hash, filepath.Base(n)
		}
	}
	return seq, hash, name
}

func (w *writer) siblings() []string {
	names, err := family(w.path)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == w.path || strings.HasSuffix(n, ".gz") })
	if len(names) > maxSiblings {
		changed := func(n string) int64 {
			fi, err := os.Lstat(n)
			if err != nil {
				return 0
			}
			return fi.ModTime().UnixNano()
		}
		times := make(map[string]int64, len(names))
		for _, n := range names {
			times[n] = changed(n)
		}
		slices.SortFunc(names, func(a, b string) int { return int(min(1, max(-1, times[b]-times[a]))) })
		names = names[:maxSiblings]
	}
	return names
}

func tailOfFile(name string) (tailInfo, bool) {
	f, err := openLogFile(name)
	if err != nil {
		return tailInfo{}, false
	}
	defer func() { _ = f.Close() }()
	t, err := tailOf(f.f, f.size)
	return t, err == nil && t.hash != ""
}
