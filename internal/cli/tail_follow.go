package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/regular"
)

// tailPoll is how often a followed log is looked at.
const tailPoll = 200 * time.Millisecond

// markSize is how many bytes before a place prove that the file is the same.
const markSize = 512

// A follower reads a log's whole lines as they come. A file that was renamed is
// read to its end before the next one is begun; one that was cut is begun anew,
// after what a copy of it still holds.
type follower struct {
	path string
	take func(line []byte) error

	file *os.File // nil while there is no log
	at   int64    // where the last whole line ends
	size int64    // of the file when it was last read
	mark []byte   // the bytes before at
}

func (fo *follower) close() {
	if fo.file != nil {
		_ = fo.file.Close()
	}
	fo.file, fo.at, fo.size, fo.mark = nil, 0, 0, nil
}

// open begins a file in the place of the present one.
func (fo *follower) open(name string) error {
	file, err := regular.Open(name)
	if err != nil {
		return err
	}
	fo.close()
	fo.file = file
	return nil
}

// run reads until ctx ends.
func (fo *follower) run(ctx context.Context) error {
	tick := time.NewTicker(tailPoll)
	defer tick.Stop()
	for {
		again, err := fo.step()
		if err != nil {
			return err
		}
		if again && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// step reads what is new. again says that another file has been begun.
func (fo *follower) step() (again bool, err error) {
	if fo.file == nil {
		err := fo.open(fo.path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	if err := fo.more(); err != nil {
		return false, err
	}
	moved, err := fo.moved()
	if err != nil || !moved {
		return false, err
	}
	if err := fo.more(); err != nil { // what came in between
		return false, err
	}
	return fo.next()
}

// moved tells whether the log's path no longer leads to the open file.
func (fo *follower) moved() (bool, error) {
	now, err := os.Stat(fo.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	open, err := fo.file.Stat()
	if err != nil {
		return false, err
	}
	return !os.SameFile(open, now), nil
}

// next begins the file that follows on the open one. There may be several: a
// busy log can be rotated more than once between two looks.
func (fo *follower) next() (bool, error) {
	open, err := fo.file.Stat()
	if err != nil {
		return false, err
	}
	names, err := audit.Files(fo.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for i, name := range names {
		info, err := os.Stat(name)
		if err != nil || !os.SameFile(open, info) {
			continue
		}
		if i+1 == len(names) {
			return false, nil // the next one is not there yet
		}
		err = fo.open(names[i+1])
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil // rotated away in this moment
		}
		return err == nil, err
	}
	fo.close() // it was removed, or compressed
	return true, nil
}

// more reads what was appended, or what a file that was cut holds now.
func (fo *follower) more() error {
	info, err := fo.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < fo.at || !fo.marked(fo.file) {
		if err := fo.copied(); err != nil {
			return err
		}
		fo.at, fo.size, fo.mark = 0, 0, nil
	}
	if info.Size() == fo.size {
		return nil
	}
	return fo.scan(fo.take)
}

// marked tells whether f holds, before the place, what was read there.
func (fo *follower) marked(f io.ReaderAt) bool {
	if len(fo.mark) == 0 {
		return true
	}
	b := make([]byte, len(fo.mark))
	_, err := f.ReadAt(b, fo.at-int64(len(b)))
	return err == nil && bytes.Equal(b, fo.mark)
}

// copied reads on in the copy of a file that was cut: lines may have come between
// the last look and the cut.
func (fo *follower) copied() error {
	names, err := audit.Files(fo.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names { // the cut file itself no longer has the mark
		file, err := regular.Open(name)
		if err != nil {
			continue // gone, or not ours to read
		}
		old := follower{file: file, at: fo.at, mark: fo.mark}
		if len(fo.mark) > 0 && old.marked(file) {
			err = old.scan(fo.take)
			old.close()
			return err
		}
		old.close()
	}
	return nil
}

// scan gives the whole lines behind the place to fn and moves it.
func (fo *follower) scan(fn func([]byte) error) error {
	info, err := fo.file.Stat()
	if err != nil {
		return err
	}
	from, size := fo.at, info.Size()
	end := size
	err = audit.Scan(io.NewSectionReader(fo.file, from, size-from), func(l audit.Line) error {
		if l.Torn { // half a line is waited for
			end = from + l.Offset
			return nil
		}
		return fn(l.Bytes)
	})
	if err != nil {
		return err
	}
	fo.at, fo.size = end, size
	fo.mark = make([]byte, min(end, markSize))
	_, err = fo.file.ReadAt(fo.mark, end-int64(len(fo.mark)))
	return err
}
