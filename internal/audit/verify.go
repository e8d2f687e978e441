package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// The codes of findings. They are part of what verify prints: only ever added.
const (
	FoundNotEvent   = "not_an_event" // a line is no strict JSON object with a place in the chain
	FoundOversize   = "oversize"     // a line is longer than MaxLine
	FoundTorn       = "torn"         // the last line of a file has no newline
	FoundEdited     = "edited"       // a line is not the one the next line, or the head, speaks of
	FoundDeleted    = "deleted"      // numbers are missing between two lines
	FoundTruncated  = "truncated"    // numbers are missing at the end, or where the log says it was cut
	FoundSwapped    = "swapped"      // a line stands behind one with a higher number
	FoundDuplicated = "duplicated"   // a line stands there twice
	FoundForked     = "forked"       // two lines have one number
)

// The codes of notes: what is worth knowing but no fault of the chain.
const (
	NoteStart   = "begins_late"  // earlier events are not in these files
	NoteLog     = "log_event"    // the log recorded that something happened to it
	NoteHead    = "no_head"      // there is no head file to compare the end with
	NoteWriting = "unfinished"   // the log's last line is being written, or its writer died
	NoteEmpty   = "empty"        // a file holds nothing
	NoteMore    = "not_all_said" // there were more findings than are kept
)

// maxFound bounds the findings, and the notes, that are kept.
const maxFound = 1000

// A Finding is one thing that Verify found, and where.
type Finding struct {
	File    string
	Line    int // 1, 2, 3 …; zero means the file as a whole
	Code    string
	Message string

	order int // of the file
}

// String returns the finding as FILE:LINE: message [code].
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s [%s]", f.File, f.Message, f.Code)
	}
	return fmt.Sprintf("%s:%d: %s [%s]", f.File, f.Line, f.Message, f.Code)
}

// A Report is what Verify found out.
type Report struct {
	Files       []string
	Events      int64
	Bytes       int64
	First, Last uint64 // numbers of the first and the last event; zero without events
	LastHash    string // hex SHA-256 of the last line, to compare with a copy elsewhere
	Findings    []Finding
	Notes       []Finding
}

// Sound tells whether nothing was found.
func (r *Report) Sound() bool { return len(r.Findings) == 0 }

// Verify checks all files of the log at path: each line, the chain through all
// of them, and its end against the head file. It streams, in bounded memory, and
// takes no lock; writers may go on meanwhile. The error is for what could not be
// read; what is wrong with the log stands in the report.
func Verify(ctx context.Context, path string) (*Report, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		// The head first: lines that are written later are no fault.
		h, known, err := headOf(path)
		if err != nil {
			return nil, err
		}
		files, err := openAll(path)
		if errors.Is(err, errMoved) && try < 20 {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) && known && h.seq > 0 {
			return lostLog(path, h), nil
		}
		if err != nil {
			return nil, err
		}
		v := newVerifier()
		v.head, v.headKnown = h, known
		if err := v.files(ctx, files); err != nil {
			return nil, err
		}
		v.checkHead(path)
		return v.finish(), nil
	}
}

// maxOpen is how many files of a log are held open at once. Older ones are opened
// when their turn comes.
const maxOpen = 512

// errMoved says that the log was rotated while its files were being opened.
var errMoved = errors.New("the log is being rotated all the time")

// openAll opens the files of the log at path as they are at one moment.
func openAll(path string) ([]source, error) {
	files, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	all := make([]source, 0, len(files))
	for i, f := range files {
		s := source{name: f.path}
		if len(files)-i <= maxOpen {
			if s.r, err = openLogFile(f.path); err != nil {
				break
			}
		}
		all = append(all, s)
	}
	again, e := filesOf(path)
	if err == nil {
		err = e
	}
	same := func(a, b file) bool { return a.path == b.path && a.id == b.id }
	if errors.Is(err, fs.ErrNotExist) || err == nil && !slices.EqualFunc(files, again, same) {
		err = errMoved
	}
	if err != nil {
		closeAll(all)
		return nil, err
	}
	return all, nil
}

// A source is a file to verify, open already or still to be opened.
type source struct {
	name string
	r    *logFile
}

func closeAll(all []source) {
	for _, s := range all {
		if s.r != nil {
			_ = s.r.Close()
		}
	}
}

// VerifyFiles checks the named files as one chain, in the order of their first
// events, without a head file.
func VerifyFiles(ctx context.Context, names ...string) (*Report, error) {
	files := make([]file, 0, len(names))
	for _, name := range names {
		f, _, err := lookAt(name, true)
		if err != nil {
			return nil, err
		}
		if f.size == 0 {
			if _, err := os.Stat(name); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b file) int {
		switch {
		case a.seq < b.seq:
			return -1
		case a.seq > b.seq:
			return 1
		}
		return 0
	})
	all := make([]source, 0, len(files))
	for _, f := range files {
		all = append(all, source{name: f.path})
	}
	v := newVerifier()
	if err := v.files(ctx, all); err != nil {
		return nil, err
	}
	return v.finish(), nil
}

// lostLog is the report on a head file whose log is gone.
func lostLog(path string, h head) *Report {
	return &Report{Findings: []Finding{{
		File: path, Code: FoundTruncated,
		Message: fmt.Sprintf("the log is gone; its head file remembers seq %d (SHA-256 %s)", h.seq, h.hash),
	}}}
}

// headOf reads the head file of the log at path.
func headOf(path string) (head, bool, error) {
	f, err := os.OpenFile(path+".head", os.O_RDONLY|openGuard, 0) //nolint:gosec // beside the configured log
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, false, nil
	}
	if err != nil {
		return head{}, false, err
	}
	defer func() { _ = f.Close() }()
	return readHead(f)
}

func (v *verifier) files(ctx context.Context, all []source) error {
	defer closeAll(all)
	for i, s := range all {
		v.begin(s.name, i, i == len(all)-1)
		if s.r == nil {
			var err error
			if s.r, err = openLogFile(s.name); err != nil {
				return err
			}
			all[i] = s
		}
		if err := readLines(ctx, s.r, v.line); err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		_ = s.r.Close()
		all[i].r = nil
		v.end()
	}
	return nil
}
