package audit

import (
	"fmt"
	"path/filepath"
)

// The actions of events about the log.
const (
	actionOpened    = "opened"
	actionRotated   = "rotated"
	actionRecovered = "recovered"
	actionTruncated = "truncated"
	actionFailing   = "failing"
)

// settle finds out where the log goes on. In all but a few calls the file ends
// with the line that the head remembers, and that is all there is to do.
func (w *writer) settle() error {
	if w.headOK && w.head.seq > 0 && w.size == w.head.end && w.lineBefore(w.head.end, w.head.last) == w.head.hash {
		w.goOn(w.head.seq, w.head.hash, w.head.file, w.head.end)
		return nil
	}
	if w.size == 0 {
		return w.settleEmpty()
	}
	if !w.headOK {
		return w.settleWithoutHead()
	}
	return w.settleAgainstHead()
}

func (w *writer) goOn(seq uint64, prev, file string, end int64) {
	w.seq, w.prev, w.file, w.end = seq, prev, file, end
}

// lineBefore returns the hash of the n bytes before end if they are one whole
// line, newline included.
func (w *writer) lineBefore(end, n int64) string {
	if n < 2 || n > MaxLine || end > w.size {
		return ""
	}
	buf := make([]byte, n)
	if _, err := w.f.ReadAt(buf, end-n); err != nil || buf[n-1] != '\n' {
		return ""
	}
	return lineHash(buf[:n-1])
}

// settleEmpty begins a file. What the head remembers is continued.
func (w *writer) settleEmpty() error {
	if w.headOK && w.head.seq > 0 {
		seq, hash, sibling := w.beyond()
		if seq == 0 {
			seq, hash, sibling = w.head.seq, w.head.hash, w.sibling(w.head.hash)
		}
		w.goOn(seq, hash, "", 0)
		last := fmt.Sprintf("seq %d, SHA-256 %s", seq, hash)
		switch {
		case sibling != "" && w.replaced():
			w.note(actionRotated, "the log was renamed; %s holds its last line (%s)", sibling, last)
		case w.replaced():
			w.note(actionRotated, "the log is a new file; its last line (%s) is in no file beside it that can be read at once: moved elsewhere, compressed or removed", last)
		case sibling != "":
			w.note(actionTruncated, "the log was emptied; %s holds a copy of its last line (%s)", sibling, last)
		default:
			w.note(actionTruncated, "the log was emptied; no file beside it holds its last line (%s)", last)
		}
		return nil
	}
	if !w.headOK {
		if seq, hash, name := w.newestSibling(); seq > 0 {
			w.goOn(seq, hash, "", 0)
			w.note(actionRecovered, "log and head file are missing; the chain goes on from the last line of %s (seq %d, SHA-256 %s); whether there were later ones can be told from shipped copies only", name, seq, hash)
			return nil
		}
	}
	if !w.headOK && !w.headMade {
		w.note(actionRecovered, "the head file is damaged and the log is empty; what the log held can be told from shipped copies only")
	}
	w.goOn(0, "", "", 0)
	w.note(actionOpened, "the log was opened")
	return nil
}

// replaced tells whether the file is another one than the head speaks of.
func (w *writer) replaced() bool {
	return w.made || w.head.ino != 0 && w.ino != 0 && w.head.ino != w.ino
}

// settleWithoutHead trusts the last event of the log, and says so.
func (w *writer) settleWithoutHead() error {
	at, err := w.lastEvent()
	if err != nil {
		return err
	}
	if at.seq == 0 {
		return fmt.Errorf("%s is not empty and not an audit log; it was left as it is", w.path)
	}
	what := "is missing"
	if !w.headMade {
		what = "is damaged"
	}
	w.goOn(at.seq, at.hash, w.firstID(), at.end)
	w.note(actionRecovered, "the head file %s; the chain goes on from the last line that was found (seq %d); whether lines were cut off behind it can be told from shipped copies only", what, at.seq)
	return w.putAside()
}

// settleAgainstHead is for a log that does not end where the head says.
func (w *writer) settleAgainstHead() error {
	h := w.head
	tail, err := w.tail()
	if err != nil {
		return err
	}
	switch {
	case h.seq == 0:
		w.goOn(0, "", "", 0)
	case w.lineBefore(h.end, h.last) == h.hash:
		w.goOn(h.seq, h.hash, h.file, h.end)
	case tail.hash == h.hash:
		// The last line is there, in another place.
		w.goOn(h.seq, h.hash, w.firstID(), tail.end)
		if w.size != w.end+int64(tail.rest) || tail.rest == 0 {
			w.note(actionRecovered, "the log ends with its last line (seq %d), but has %d bytes instead of %d: it was edited", h.seq, tail.end, h.end)
		}
	case tail.part == h.hash:
		w.goOn(h.seq, h.hash, w.firstID(), w.size)
		w.open1 = true
		w.note(actionRecovered, "the last line (seq %d) had lost its newline", w.seq)
	case w.firstPrev() == h.hash:
		w.goOn(h.seq, h.hash, "", 0) // a crash came between the first lines of a new file and the head
	default:
		// Or it came before the head was told of the old file's last lines.
		seq, hash, _ := w.beyond()
		if seq == 0 || w.firstPrev() != hash {
			return w.settleGap(tail)
		}
		w.goOn(seq, hash, "", 0)
	}
	if err := w.catchUp(); err != nil {
		return err
	}
	if w.seq == 0 && !w.open1 {
		w.note(actionOpened, "the log was opened")
	}
	return w.putAside()
}

// settleGap continues from the head a log that no longer holds what the head
// remembers. The hole in the chain stays, for Verify to find.
func (w *writer) settleGap(tail tailInfo) error {
	h := w.head
	w.goOn(h.seq, h.hash, w.firstID(), tail.end)
	if tail.seq < h.seq && w.size < h.end {
		w.note(actionTruncated, "the log was cut: it ends with seq %d, and the head file remembers seq %d (SHA-256 %s); the chain goes on from there", tail.seq, h.seq, h.hash)
	} else {
		w.note(actionTruncated, "the log no longer holds its last line (seq %d, SHA-256 %s) where the head file remembers it; the chain goes on from there", h.seq, h.hash)
	}
	return w.putAside()
}

func (w *writer) base() string { return filepath.Base(w.path) }
