package ship

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// A Status tells how far shipping is. It is read from the files alone, so it can
// be asked while a shipper works and while no server is in reach.
type Status struct {
	Log     string `json:"log"`
	Cursor  string `json:"cursor"`
	Running bool   `json:"running"` // a shipper holds the cursor at this moment

	Written    uint64 `json:"written"` // sequence number of the last event in the log
	Shipped    uint64 `json:"shipped"` // sequence number of the last event behind the cursor
	Backlog    uint64 `json:"backlog"` // events in the log that no server has acknowledged
	Acked      uint64 `json:"acked"`   // acknowledgements since the cursor exists
	Shortened  uint64 `json:"shortened"`
	Left       uint64 `json:"left"`
	Unreadable uint64 `json:"unreadable"`

	// LagSeconds is the age of the oldest event that waits.
	LagSeconds float64   `json:"lagSeconds"`
	LastAck    time.Time `json:"lastAck,omitzero"`
	// CursorLost is set when the cursor's line is not in the log: the next run
	// looks through all of it.
	CursorLost bool    `json:"cursorLost"`
	Trouble    Trouble `json:"trouble,omitzero"`
}

// ReadStatus reads a Status. A log that is not there yet has nothing written.
func ReadStatus(o Options) (Status, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Status{}, err
	}
	st := Status{Log: o.Log, Cursor: o.Cursor}
	c, err := loadCursor(o.Cursor)
	if err != nil && !errors.Is(err, errCursor) {
		return st, err
	}
	st.Shipped, st.Acked, st.Shortened, st.Left, st.Unreadable = c.At.Seq, c.Acked, c.Shortened, c.Left, c.Unreadable
	st.LastAck, st.Trouble = c.LastAck, c.Trouble
	if l, err := lockCursor(o.Cursor); errors.Is(err, ErrBusy) {
		st.Running = true
	} else if err == nil {
		_ = l.Close()
	}
	r, found, err := openReader(o.Log, c.At)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	defer r.close()
	st.CursorLost = !found && (c.At.SHA256 != "" || err != nil)
	st.Written = r.last
	for {
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			return st, nil
		}
		if err != nil {
			return st, err
		}
		if !l.ok {
			continue
		}
		if st.Backlog == 0 && !l.meta.Time.IsZero() {
			st.LagSeconds = max(0, o.Now().Sub(l.meta.Time).Seconds())
		}
		st.Backlog++
		st.Written = l.meta.Seq
	}
}
