package audit

import (
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files returns the files of the log at path, oldest first: those that were
// rotated, by us (NAME.000000001234) or by logrotate (NAME.1, NAME.2.gz,
// NAME-20261201), and the current one last. They are ordered by the number of
// their first event. Of two files that begin with the same event, one is a copy
// of the other, and only the longer counts. It returns fs.ErrNotExist when there
// is none.
func Files(path string) ([]string, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	files, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.path)
	}
	return names, nil
}

func filesOf(path string) ([]file, error) {
	all, err := family(path)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, name := range all {
		f, ok, err := lookAt(name, name == path)
		if err != nil {
			return nil, err
		}
		if ok {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	slices.SortStableFunc(files, func(a, b file) int {
		if a.path == path || b.path == path {
			return cmp.Compare(btoi(a.path == path), btoi(b.path == path))
		}
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.path, b.path))
	})
	kept := make([]file, 0, len(files))
	for i, f := range files {
		if !copied(files, i) {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// A file is one file of a log.
type file struct {
	path string
	id   string // event id of its first record
	seq  uint64
	size int64
	gz   bool
}

// copied tells whether files[i] begins like another file that holds more. The
// current log is never a copy.
func copied(files []file, i int) bool {
	f := files[i]
	if f.id == "" || i == len(files)-1 {
		return false
	}
	for j, o := range files {
		if j == i || o.id != f.id {
			continue
		}
		last := j == len(files)-1
		longer := o.size > f.size || o.size == f.size && j > i
		if f.gz != o.gz {
			longer = f.gz // while gzip works, both are there
		}
		if last || longer {
			return true
		}
	}
	return false
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// family returns the files whose names say that they belong to the log at path.
func family(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	ext := filepath.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	var names []string
	for _, e := range entries {
		name := e.Name()
		rest, ok := strings.CutPrefix(name, base)
		if !ok && ext != "" && strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ext) {
			rest, ok = strings.CutPrefix(name, stem) // logrotate's extension: audit-20261201.jsonl
			ok = ok && len(rest) > 1 && (rest[0] == '-' || rest[0] == '.') && rest[1] >= '0' && rest[1] <= '9'
		}
		if !ok || e.IsDir() || rest != "" && rest[0] != '.' && rest[0] != '-' || companion(rest) {
			continue
		}
		names = append(names, filepath.Join(filepath.Dir(path), name))
	}
	return names, nil
}

// companion tells whether the part of a name behind the log's belongs to a file
// beside the log that holds no events.
func companion(rest string) bool {
	for _, s := range []string{".lock", ".head", ".reserve", ".torn-", ".cursor", ".tmp"} {
		if strings.HasPrefix(rest, s) {
			return true
		}
	}
	return false
}

// lookAt reads the beginning of a file of the family. A file that holds no event
// counts only when it is the log or has a rotated file's name.
func lookAt(name string, current bool) (file, bool, error) {
	f := file{path: name, gz: strings.HasSuffix(name, ".gz")}
	r, err := openLogFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, false, nil // rotated away in this moment
	}
	if err != nil {
		if plain, packed := strings.CutSuffix(name, ".gz"); packed {
			if _, e := os.Lstat(plain); e == nil {
				return f, false, nil // gzip has just begun, and the file it packs is still there
			}
		}
		if current || rotatedName(name) {
			return f, false, err
		}
		return f, false, nil
	}
	defer func() { _ = r.Close() }()
	f.size = r.size
	err = Scan(io.LimitReader(r, asideMax), func(l Line) error {
		p, ok := linePlace(l.Bytes)
		if ok && !l.Torn {
			f.seq, f.id = p.seq, p.id
			return io.EOF
		}
		return nil
	})
	if err != nil && !errors.Is(err, io.EOF) && !current && !rotatedName(name) {
		return f, false, nil
	}
	return f, f.seq > 0 || current || rotatedName(name) && f.size > 0, nil
}

// rotatedName tells whether a name ends as rotated logs do: in digits, before
// the ending perhaps.
func rotatedName(name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	name = strings.TrimSuffix(name, ".jsonl")
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	return i < len(name) && i > 0 && (name[i-1] == '.' || name[i-1] == '-')
}

// A logFile is one open file of a log, unpacked if need be.
type logFile struct {
	io.Reader
	f    *os.File
	size int64 // on disk
}

// Close closes the file.
func (l *logFile) Close() error { return l.f.Close() }

// Open opens one file of a log for reading, and unpacks it if its name ends in
// .gz. It does not wait on what is no regular file. The caller closes it.
func Open(name string) (io.ReadCloser, error) {
	f, err := openLogFile(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func openLogFile(name string) (*logFile, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|openNoWait, 0) //nolint:gosec // a file of the log the user named
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = regular(name, fi)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	l := &logFile{Reader: f, f: f, size: fi.Size()}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			_ = f.Close()
			return nil, &fs.PathError{Op: "unpack", Path: name, Err: err}
		}
		l.Reader = z
	}
	return l, nil
}
