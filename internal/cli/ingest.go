package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/observe"
	"hooktrail/internal/regular"
)

const ingestAbout = `Reads the host's own records and records what they tell of hooks and permissions:
transcripts (~/.claude/projects/…/SESSION.jsonl and its subagents/), stream-json
(claude -p --output-format stream-json --include-hook-events), and OTLP JSON
logs. - is standard input; gzip is read as it is. The format is told from the
first lines.

A fact that is on record already, from the hooks or from another kind of record,
is not recorded again, so a file can be read any number of times. Exit status: 0
read, 2 something could not be read or recorded.`

// ingested is what one file gave.
type ingested struct {
	File    string         `json:"file"`
	Format  string         `json:"format"`
	Session string         `json:"sessionId"`
	Lines   int            `json:"lines"`
	Facts   int            `json:"facts"`
	New     int            `json:"new"`
	Silent  int            `json:"silentRuns"`
	Broken  int            `json:"brokenLines"`
	TooLong int            `json:"tooLongLines"`
	Unknown map[string]int `json:"unknownKinds,omitempty"`
}

func runIngest(ctx context.Context, s *Stdio, args []string) int {
	var c common
	fs := newFlags(s, "ingest", "[--json] [--log FILE] FILE...|-", ingestAbout)
	c.register(fs)
	asJSON := fs.Bool("json", false, "print one JSON object a file")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if fs.NArg() == 0 {
		fs.Usage()
		return exitFailure
	}
	set, fault := c.load(s)
	if fault != nil {
		return s.fail("ingest", "%v", fault)
	}
	log, err := set.open(s)
	if err != nil {
		return s.fail("ingest", "%v", err)
	}
	in := ingest{s: s, set: &set, log: log}
	unlock, err := in.begin(ctx)
	if err != nil {
		return s.fail("ingest", "%s", printable(err.Error()))
	}
	defer unlock()
	status := exitOK
	for _, name := range fs.Args() {
		done, err := in.file(ctx, name)
		if err != nil {
			status = s.fail("ingest", "%s: %s", printable(name), printable(err.Error()))
		}
		if done.File == "" {
			continue
		}
		if *asJSON {
			_ = writeJSON(s.Out, done)
			continue
		}
		s.printf("%s: %s, %d lines, %d facts, %d new%s\n", printable(name), done.Format, done.Lines, done.Facts, done.New, done.notes())
	}
	return status
}

func (d ingested) notes() string {
	var b strings.Builder
	for _, n := range []struct {
		n    int
		what string
	}{{d.Silent, "hook runs that worked in silence"}, {d.Broken, "lines not understood"}, {d.TooLong, "lines too long"}} {
		if n.n > 0 {
			fmt.Fprintf(&b, ", %d %s", n.n, n.what)
		}
	}
	if len(d.Unknown) > 0 {
		var kinds []string
		for k, n := range d.Unknown {
			kinds = append(kinds, fmt.Sprintf("%s (%d)", printable(k), n))
		}
		sort.Strings(kinds)
		b.WriteString(", unknown kinds: " + strings.Join(kinds, ", "))
	}
	return b.String()
}

// ingest records files into the log.
type ingest struct {
	s      *Stdio
	set    *settings
	log    *audit.Log
	ledger observe.Ledger
}

// begin takes the lock that one ingest at a time holds, and reads what is on
// record.
func (in *ingest) begin(ctx context.Context) (unlock func(), err error) {
	dir := in.set.stateDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	lock, err := regular.Lock(wait, filepath.Join(dir, "ingest.lock"), 20*time.Millisecond)
	switch {
	case errors.Is(err, regular.ErrHeld):
		return nil, errors.New("another ingest is at work")
	case err != nil:
		return nil, err
	}
	if err := in.readLog(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = lock.Unlock()
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil
}

// readLog counts the facts that are on record.
func (in *ingest) readLog(ctx context.Context) error {
	files, err := audit.Files(in.set.Log)
	if err != nil {
		return err
	}
	for _, name := range files {
		r, err := audit.Open(name)
		if err != nil {
			return err
		}
		err = audit.Scan(r, func(l audit.Line) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if bytes.Contains(l.Bytes, []byte(`"kind":"invocation"`)) && !bytes.Contains(l.Bytes, []byte(`"evidence"`)) {
				return nil
			}
			if e, err := audit.Decode(l.Bytes); err == nil {
				in.ledger.Add(&e)
			}
			return nil
		})
		_ = r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *ingest) file(ctx context.Context, name string) (ingested, error) {
	r := in.s.In
	path := ""
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the file that the user names
		if err != nil {
			return ingested{}, err
		}
		defer f.Close() //nolint:errcheck // only read
		r = f
		if path, err = filepath.Abs(name); err != nil {
			return ingested{}, err
		}
	}
	// What stood before a fault in the middle of a file is recorded all the same.
	src, fault := observe.Read(r, path, observe.Lookup{}, in.s.Now())
	if src == nil {
		return ingested{}, fault
	}
	fresh := in.ledger.New(src.Events)
	for at := 0; at < len(fresh); at += 256 {
		batch := fresh[at:min(at+256, len(fresh))]
		if err := in.log.Record(ctx, batch...); err != nil {
			return ingested{}, err
		}
		if err := observe.Note(ctx, in.set.stateDir(), batch); err != nil {
			return ingested{}, err
		}
	}
	c := src.Counts
	return ingested{
		File: name, Format: src.Format, Session: c.SessionID, Lines: c.Lines, Facts: len(src.Events), New: len(fresh),
		Silent: c.Silent, Broken: c.Broken, TooLong: c.Oversize, Unknown: c.Unknown,
	}, fault
}
