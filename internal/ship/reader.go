package ship

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// errShrunk says that a file became shorter than what was read of it.
var errShrunk = errors.New("the log shrank while it was read")

// A reader goes through the log's lines in order, over rotations, and stops in
// front of a line that is not finished.
type reader struct {
	path string
	cur  *logFile
	last uint64 // sequence number of the last line returned
	// checked is set when the current file was seen to be rotated away and is
	// read once more to its end: a writer may have been at work in between.
	checked bool
	// waited is set when the end was reported. What comes then is believed only
	// after a look at the file's start.
	waited bool
}

// openReader returns a reader behind the line that at tells of. found is false
// when that line is not in the log any more, or never was; the reader then
// stands at the log's start. The zero position is never found.
func openReader(path string, at Position) (r *reader, found bool, err error) {
	r = &reader{path: path}
	if at.SHA256 != "" {
		// Nearly always it is the current file; the others need not be opened.
		if f, err := openLogFile(path); err == nil {
			if f.behind(at) {
				r.cur, r.last = f, at.Seq
				return r, true, nil
			}
			f.close()
		}
	}
	names, err := logFiles(path)
	if err != nil {
		return nil, false, err
	}
	if len(names) == 0 {
		return nil, false, fmt.Errorf("open log: %w", &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist})
	}
	if at.SHA256 != "" {
		for i := len(names) - 1; i >= 0; i-- {
			f, err := openLogFile(names[i])
			if err != nil {
				continue // the reading below meets it again and says so
			}
			if f.behind(at) {
				r.cur, r.last = f, at.Seq
				return r, true, nil
			}
			f.close()
		}
	}
	r.cur, err = openLogFile(names[0])
	if err != nil {
		return nil, false, fmt.Errorf("open log: %w", err)
	}
	return r, false, nil
}

func (r *reader) close() {
	if r != nil {
		r.cur.close()
	}
}

// A line is one line of the log with its place. meta is only good when ok.
type line struct {
	bytes []byte
	meta  Meta
	ok    bool
	at    Position // without SHA256, which is computed where it is needed
}

// next returns the next finished line, or io.EOF when there is none yet; it may
// be called again later. Lines come in memory of their own.
func (r *reader) next() (line, error) {
	for {
		b, whole, err := r.cur.line()
		if whole {
			if r.waited && !r.sameStart() {
				return line{}, errShrunk
			}
			r.checked, r.waited = false, false
			l := line{bytes: b}
			l.meta, l.ok = ParseMeta(b)
			if r.cur.id == "" {
				// The file was empty when it was opened.
				if r.cur.id = l.meta.EventID; !l.ok {
					r.cur.id = "line-" + lineHash(b)[:32]
				}
			}
			if l.ok {
				r.last = l.meta.Seq
			}
			l.at = Position{FileID: r.cur.id, Seq: r.last, Offset: r.cur.offset, Length: int64(len(b))}
			return l, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return line{}, fmt.Errorf("read log: %w", err)
		}
		more, err := r.atEnd()
		if err != nil {
			return line{}, err
		}
		if !more {
			r.waited = true
			return line{}, io.EOF
		}
	}
}

// atEnd decides what the end of the current file means: wait (false), read on,
// or go to the next file (true).
func (r *reader) atEnd() (more bool, err error) {
	fi, err := os.Stat(r.path)
	current := err == nil && os.SameFile(fi, r.cur.info)
	if current {
		if fi.Size() < r.cur.offset {
			return false, errShrunk
		}
		return false, r.cur.seek(r.cur.offset)
	}
	if !r.checked && r.cur.gz == nil {
		r.checked = true
		return true, r.cur.seek(r.cur.offset)
	}
	return r.advance()
}

// advance goes to the file that follows the current one.
func (r *reader) advance() (bool, error) {
	names, err := logFiles(r.path)
	if err != nil {
		return false, err
	}
	// From the newest: a long history is then not opened file by file. When the
	// current file is not there any more, it was deleted after it had been
	// read, and what follows is the oldest that is left.
	var after *logFile
	for i := len(names) - 1; i >= 0; i-- {
		f, err := openLogFile(names[i])
		if err != nil {
			after.close()
			if errors.Is(err, fs.ErrNotExist) {
				return false, nil // renamed at this moment; the next look finds it
			}
			return false, fmt.Errorf("read log: %w", err)
		}
		if os.SameFile(f.info, r.cur.info) || f.id == r.cur.id && f.id != "" {
			f.close()
			break
		}
		after.close()
		after = f
	}
	if after == nil {
		return false, r.cur.seek(r.cur.offset) // the new file is not there yet
	}
	r.cur.close()
	r.cur, r.checked, r.waited = after, false, false
	return true, nil
}

// sameStart tells whether the current file still begins with the record it had
// when it was opened. A file that was cut and filled again (copytruncate) does
// not, though it may be as long as before.
func (r *reader) sameStart() bool {
	f, err := openLogFile(r.cur.name)
	if err != nil {
		return true // atEnd finds out what became of it
	}
	defer f.close()
	return r.cur.id == "" || f.id == r.cur.id || !os.SameFile(f.info, r.cur.info)
}
