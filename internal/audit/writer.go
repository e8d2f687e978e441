package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hooktrail/internal/reason"
)

// A writer appends to the log while it holds the lock.
type writer struct {
	log  *Log
	ctx  context.Context
	path string // the file itself, no link

	f        *os.File // the log
	made     bool     // f was made by us just now
	size     int64    // of the file
	ino      uint64
	headFile *os.File
	head     head
	headOK   bool
	headMade bool

	// What settle found out: where to go on.
	seq   uint64 // of the last line
	prev  string // its hash
	file  string // event id of the file's first record; empty in an empty file
	end   int64  // where the next line begins
	open1 bool   // the last line lacks only its newline
	notes []note // what happened to the log, to be recorded before the events
	dirty bool   // names in the folder changed
}

// A note is an event of the log itself that is to be written.
type note struct{ action, message string }

func (w *writer) close() {
	for _, f := range []*os.File{w.f, w.headFile} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// open opens head and log. The head is made before the log, so that a log
// without a head never comes from a crash of ours.
func (w *writer) open() error {
	var err error
	if w.headFile, w.headMade, err = openFile(w.path+".head", 0); err != nil {
		return err
	}
	if w.head, w.headOK, err = readHead(w.headFile); err != nil {
		return err
	}
	return w.openLog()
}

// openLog opens the file that now stands under the log's name.
func (w *writer) openLog() error {
	for range 8 {
		f, made, err := openFile(w.path, os.O_APPEND)
		if err != nil {
			return err
		}
		fi, err := f.Stat()
		if err == nil {
			var now os.FileInfo
			if now, err = os.Lstat(w.path); err == nil && os.SameFile(fi, now) {
				w.f, w.made, w.size, w.ino = f, made, fi.Size(), inode(fi)
				w.dirty = w.dirty || made
				return nil
			}
		}
		_ = f.Close() // renamed or removed while we opened it
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%s: the file is being replaced all the time", w.path)
}

// note remembers something to be recorded about the log itself.
func (w *writer) note(action, format string, args ...any) {
	w.notes = append(w.notes, note{action, fmt.Sprintf(format, args...)})
}

// append writes the notes and then the drafts, all in one write.
func (w *writer) append(drafts []*draft) ([]place, error) {
	if err := w.seed(); err != nil {
		return nil, err
	}
	size := 0
	for _, d := range drafts {
		size += len(d.front) + len(d.rest) + sealLen
	}
	if err := w.rotateFor(int64(size)); err != nil {
		return nil, err
	}
	notes, err := w.noteDrafts()
	if err != nil {
		return nil, err
	}
	h, buf, places := w.lay(append(notes, drafts...), size)
	if err := w.write(buf); err != nil {
		return nil, err
	}
	if err := w.remember(h); err != nil {
		return nil, err
	}
	w.keepReserve()
	w.retire()
	return places[len(notes):], nil
}

// seed writes the first head, before there is a first line.
func (w *writer) seed() error {
	if !w.headMade && w.headOK {
		return nil
	}
	h := head{}
	if w.seq > 0 {
		h = w.here()
	}
	if err := w.remember(h); err != nil {
		return err
	}
	if err := w.headFile.Truncate(headSize); err != nil { // a damaged one may be longer, which no write mends
		return err
	}
	w.dirty = true
	return w.headFile.Sync()
}

// here is the head of the last line that settle found.
func (w *writer) here() head {
	h := head{seq: w.seq, hash: w.prev, file: w.file, end: w.end, ino: w.ino}
	buf := make([]byte, min(w.end, MaxLine))
	if n, _ := w.f.ReadAt(buf, w.end-int64(len(buf))); n == len(buf) && n > 0 && buf[n-1] == '\n' {
		h.last = int64(n - 1 - bytes.LastIndexByte(buf[:n-1], '\n'))
	}
	return h
}

func (w *writer) remember(h head) error {
	_, err := w.headFile.WriteAt(h.encode(), 0)
	return err
}

// noteDrafts turns the notes into events.
func (w *writer) noteDrafts() ([]*draft, error) {
	drafts := make([]*draft, 0, len(w.notes))
	for _, n := range w.notes {
		d, err := w.log.draft(n.event())
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}

func (n note) event() Event {
	e := Event{Kind: LogKind, Action: n.action, Decision: reason.None, Reason: reason.Observed, Message: n.message}
	if n.action == actionTruncated || n.action == actionFailing {
		e.Reason = reason.AuditUnavailable
	}
	return e
}

// lay numbers and chains the drafts behind the last line. It returns the head
// that will then be true, the bytes, and each draft's place.
func (w *writer) lay(drafts []*draft, size int) (head, []byte, []place) {
	buf := make([]byte, 0, size+1024*(1+len(w.notes)))
	if w.open1 {
		buf = append(buf, '\n')
	}
	places := make([]place, 0, len(drafts))
	seq, prev, file := w.seq, w.prev, w.file
	last := 0
	for _, d := range drafts {
		seq++
		places = append(places, place{seq, prev})
		last = len(buf)
		buf = d.seal(buf, seq, prev)
		prev = lineHash(buf[last : len(buf)-1])
		if file == "" {
			file = d.id
		}
	}
	end := w.end + int64(len(buf))
	return head{seq: seq, hash: prev, file: file, end: end, last: int64(len(buf) - last), ino: w.ino}, buf, places
}

// write appends buf in one write and makes it durable. When that fails, the log
// is cut back to what it was.
func (w *writer) write(buf []byte) error {
	before := w.end
	n, err := w.f.Write(buf)
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if n > 0 {
			_ = w.f.Truncate(before) // what stays is cut off by the next writer
		}
		w.sayFailing(err)
		return err
	}
	if err := w.f.Sync(); err != nil {
		_ = w.f.Truncate(before)
		return err
	}
	if w.dirty {
		return syncDir(filepath.Dir(w.path))
	}
	return nil
}

// late tells whether ctx's deadline has passed while the lock was held.
func (w *writer) late() error {
	if w.ctx.Err() != nil {
		return fmt.Errorf("%s: %w", w.path, context.Cause(w.ctx))
	}
	return nil
}
