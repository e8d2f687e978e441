package observe

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
)

// maxRecord bounds one line of an ingested file.
const maxRecord = 64 << 20

// A Source is what a file of the host's records tells.
type Source struct {
	Format string // transcript, stream-json, otlp; "empty" for a file without a byte
	Events []*audit.Event
	Counts Counts
}

// Read reads a file of the host's records: a transcript, stream-json or OTLP
// JSON logs, gzipped or not. With an error in the middle of the file it returns
// what stood before it as well. The format is told from the first lines. path
// stands in the events of a transcript; now is the time of records without one.
func Read(r io.Reader, path string, l Lookup, now time.Time) (*Source, error) {
	br := bufio.NewReaderSize(r, 1<<20)
	if magic, err := br.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("read gzip: %w", err)
		}
		br = bufio.NewReaderSize(z, 1<<20)
	}
	head, err := br.Peek(1 << 20)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, fmt.Errorf("read records: %w", err)
	}
	if len(head) == 0 {
		return &Source{Format: "empty"}, nil
	}
	format := formatOf(head)
	src := &Source{Format: format}
	switch format {
	case "transcript":
		t := &transcriptReader{lookup: l, path: path}
		err = eachLine(br, &t.counts, func(b []byte) { src.Events = append(src.Events, t.line(b)...) })
		src.Counts = t.counts
	case "stream-json":
		t := &streamReader{lookup: l}
		err = eachLine(br, &t.counts, t.line)
		src.Events, src.Counts = t.out, t.counts
	case "otlp":
		t := &otelReader{}
		if first, _, _ := bytes.Cut(head, []byte("\n")); jsontext.Value(first).IsValid(tolerant()) {
			err = eachLine(br, &t.counts, t.line)
		} else { // indented
			err = eachValue(br, t.line)
		}
		t.end()
		src.Events, src.Counts = t.out, t.counts
	default:
		return nil, errors.New("this is no transcript, no stream-json and no OTLP JSON that is known")
	}
	src.Events = once(src.Events)
	for _, e := range src.Events {
		if e.Time.IsZero() {
			e.Time = now
		}
	}
	if err != nil {
		return src, fmt.Errorf("read records: %w", err)
	}
	if src.Counts.unreadable() {
		s := stamp{id: "shape:" + path, time: now, session: src.Counts.SessionID, transcript: path}
		src.Events = append(src.Events, unknownShape(s, fmt.Sprintf("A %s is not of a shape that is known: of %d lines %d could be read.", format, src.Counts.Lines, src.Counts.Known)))
	}
	return src, nil
}

// once leaves out the events of records that stand in the file again, as they do
// when a session is resumed or the file was written twice over.
func once(events []*audit.Event) []*audit.Event {
	seen := make(map[string]bool, len(events))
	return slices.DeleteFunc(events, func(e *audit.Event) bool {
		again := e.EventID != "" && seen[e.EventID]
		seen[e.EventID] = true
		return again
	})
}

// formatOf tells the format from the first lines.
func formatOf(head []byte) string {
	lines := 0
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		var r struct {
			SessionID  *string        `json:"sessionId"`
			Session    *string        `json:"session_id"`
			Type       string         `json:"type"`
			Parent     jsontext.Value `json:"parentUuid"`
			Attributes jsontext.Value `json:"attributes"`
			Resources  jsontext.Value `json:"resourceLogs"`
		}
		if lines++; lines > 50 {
			break
		}
		if json.Unmarshal(line, &r, tolerant()) != nil {
			all, _ := recordsOf(line)
			if len(all) == 0 || json.Unmarshal(all[0], &r, tolerant()) != nil {
				continue
			}
		}
		switch {
		case r.Resources != nil || r.Attributes != nil && r.Type == "":
			return "otlp"
		case r.Session != nil:
			return "stream-json"
		case r.Type != "" && (r.SessionID != nil || r.Parent != nil):
			return "transcript"
		}
	}
	if bytes.Contains(head, []byte(`"resourceLogs"`)) {
		return "otlp" // one document over many lines
	}
	return ""
}

// eachLine calls fn for each line that is not empty. Lines that are too long
// are counted and passed over.
func eachLine(br *bufio.Reader, c *Counts, fn func([]byte)) error {
	var line []byte
	long := false
	for {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) > maxRecord {
			long, line = true, line[:0]
		}
		if !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		switch b := bytes.TrimSpace(line); {
		case len(b) == 0:
		case err != nil && !jsontext.Value(bytes.Trim(b, filling)).IsValid(tolerant()):
			c.Lines++ // it is being written, or cannot be read on; a piece of it would look whole
			c.Broken++
		default:
			fn(b)
		}
		if long {
			c.Oversize++
		}
		line, long = line[:0], false
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// eachValue calls fn for each JSON value, on a line of its own or not.
func eachValue(br *bufio.Reader, fn func([]byte)) error {
	d := jsontext.NewDecoder(br, tolerant())
	for {
		v, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fn(v)
	}
}
