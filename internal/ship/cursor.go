package ship

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/regular"
)

const cursorVersion = 1

// errCursor says that a cursor file holds nothing that can be used.
var errCursor = errors.New("no usable cursor")

// maxCursor bounds what is read of a cursor file.
const maxCursor = 64 << 10

// A Cursor is what a shipper remembers between runs. A cursor that is missing,
// damaged or of another log costs a look at the whole log and at the stream, and
// nothing else.
type Cursor struct {
	Version int      `json:"version"`
	Log     string   `json:"log"`
	At      Position `json:"at"` // behind the last acknowledged line
	// Acked counts the lines acknowledged since the cursor exists, Left those
	// that no server took because they are too large, Unreadable those that are
	// no events.
	Acked      uint64 `json:"acked"`
	Left       uint64 `json:"left"`
	Unreadable uint64 `json:"unreadable"`
	// Shortened counts the lines that were cut to fit the server's limit.
	Shortened uint64 `json:"shortened"`
	// InFlight is when lines behind At were handed to a server whose
	// acknowledgement had not come yet. Zero when there are none.
	InFlight time.Time `json:"inFlight,omitzero"`
	LastAck  time.Time `json:"lastAck,omitzero"`
	Trouble  Trouble   `json:"trouble,omitzero"`
	// StreamSeq is the stream's sequence number of the last message stored. A
	// later one is higher, unless the stream lost messages.
	StreamSeq uint64 `json:"streamSeq,omitzero"`
}

// Trouble is the state of an outage; the zero value is none.
type Trouble struct {
	Since time.Time `json:"since,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Fails int       `json:"fails"`
	// NotBefore is when an inline shipper may try again. A run that was asked
	// for does not look at it.
	NotBefore time.Time `json:"notBefore,omitzero"`
	Cause     string    `json:"cause"`
}

// DefaultCursor returns the cursor file that belongs to a log: ship.cursor
// beside it.
func DefaultCursor(log string) string { return filepath.Join(filepath.Dir(log), "ship.cursor") }

// loadCursor reads a cursor. A missing one is the zero value without an error;
// one that cannot be used is the zero value with an error that says why.
func loadCursor(path string) (Cursor, error) {
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Cursor{}, nil
	}
	if err != nil {
		return Cursor{}, fmt.Errorf("open cursor: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, maxCursor))
	if err != nil {
		return Cursor{}, fmt.Errorf("read cursor: %w", err)
	}
	var c Cursor
	if err := json.Unmarshal(bytes.TrimSpace(b), &c, json.RejectUnknownMembers(false)); err != nil {
		return Cursor{}, fmt.Errorf("read %s: %w", path, errCursor)
	}
	if c.Version != cursorVersion || c.At.Offset < 0 || c.At.Length < 0 || c.At.Length > maxLine || c.At.Length >= c.At.Offset && c.At.Offset > 0 {
		return Cursor{}, fmt.Errorf("read %s: %w", path, errCursor)
	}
	return c, nil
}

// saveCursor replaces the cursor file. It does not sync: after a power failure
// an old cursor, or none, is found again from the log and the stream.
func saveCursor(path string, c Cursor) error {
	c.Version = cursorVersion
	b, err := json.Marshal(c, jsontext.WithIndent(" "), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write cursor: %w", err)
	}
	// The cursor's lock is held, so one fixed name is nobody else's, and a
	// crash leaves at most one stray file.
	tmp := path + ".tmp"
	if err := regular.OrNone(tmp); err != nil {
		return fmt.Errorf("write cursor: %w", err)
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the user's own file
	if err != nil {
		return fmt.Errorf("write cursor: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("write cursor: %w", err)
	}
	return nil
}
