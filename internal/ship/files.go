package ship

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"hooktrail/internal/regular"
)

// A logFile is one file of the log, opened for reading at some offset.
type logFile struct {
	name   string
	id     string // event id of the first record; empty for a file without one
	info   os.FileInfo
	f      *os.File
	gz     *gzip.Reader // nil for a plain file
	br     *bufio.Reader
	offset int64 // of the next unread byte, uncompressed
}

// openLogFile opens a file of the log at its start.
func openLogFile(name string) (*logFile, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	l := &logFile{name: name, f: f}
	if l.info, err = f.Stat(); err != nil {
		_ = f.Close()
		return nil, err
	}
	if err := l.seek(0); err != nil {
		_ = f.Close()
		return nil, err
	}
	line, whole, err := l.line()
	if err != nil && !errors.Is(err, io.EOF) {
		_ = f.Close()
		return nil, err
	}
	// A file that begins with something else still has an identity: that of
	// its first whole line.
	if whole {
		if m, ok := ParseMeta(line); ok {
			l.id = m.EventID
		} else {
			l.id = "line-" + lineHash(line)[:32]
		}
	}
	if err := l.seek(0); err != nil {
		_ = f.Close()
		return nil, err
	}
	return l, nil
}

func (l *logFile) close() {
	if l != nil && l.f != nil {
		_ = l.f.Close()
	}
}

// seek moves to an offset of the uncompressed bytes.
func (l *logFile) seek(offset int64) error {
	start := offset
	if strings.HasSuffix(l.name, ".gz") {
		start = 0
	}
	if _, err := l.f.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	var r io.Reader = l.f
	if strings.HasSuffix(l.name, ".gz") {
		gz, err := gzip.NewReader(l.f)
		if err != nil {
			return fmt.Errorf("read %s: %w", l.name, err)
		}
		l.gz, r = gz, gz
	}
	if l.br == nil {
		l.br = bufio.NewReaderSize(r, 64<<10)
	} else {
		l.br.Reset(r)
	}
	l.offset = offset
	if l.gz != nil {
		if _, err := io.CopyN(io.Discard, l.br, offset); err != nil {
			return fmt.Errorf("read %s: %w", l.name, err)
		}
	}
	return nil
}

// line reads the next line without its newline. whole is false at the end of the
// file, when what is there has no newline yet; the offset then stays in front of
// it. A line beyond maxLine is returned as its first bytes; the offset counts
// all of it. The bytes are the caller's.
func (l *logFile) line() (b []byte, whole bool, err error) {
	var n int64
	for {
		part, err := l.br.ReadSlice('\n')
		n += int64(len(part))
		if room := maxLine - len(b); room > 0 {
			b = append(b, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return b, false, err
		}
		l.offset += n
		return bytes.TrimSuffix(b, []byte{'\n'}), true, nil
	}
}

// behind moves the file behind the line that p tells of and says whether that
// line is there.
func (l *logFile) behind(p Position) bool {
	if l.id != p.FileID || p.SHA256 == "" {
		return false
	}
	if l.gz == nil && p.Offset > l.info.Size() {
		return false
	}
	if err := l.seek(p.Offset - p.Length - 1); err != nil {
		return false
	}
	line, whole, err := l.line()
	return err == nil && whole && l.offset == p.Offset && lineHash(line) == p.SHA256
}
