package audit

import (
	"errors"
	"fmt"
	"os"
)

// reserveSize is room for one last event on a full disk.
const reserveSize = 8 << 10

// keepReserve keeps a file of reserveSize bytes beside the log. Its absence
// costs only the event about a full disk, so its faults are no faults of the
// log.
func (w *writer) keepReserve() {
	name := w.path + ".reserve"
	if fi, err := os.Lstat(name); err == nil && (fi.Size() == reserveSize || !fi.Mode().IsRegular()) {
		return
	}
	f, _, err := openFile(name, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteAt(make([]byte, reserveSize), 0); err != nil {
		_ = f.Truncate(0)
	}
}

// sayFailing spends the reserve on an event that says why events are missing.
// It does what it can: the caller's error stands in any case.
func (w *writer) sayFailing(cause error) {
	if !errors.Is(cause, errNoSpace) && !errors.Is(cause, errQuota) {
		return
	}
	name := w.path + ".reserve"
	if fi, err := os.Lstat(name); err != nil || !fi.Mode().IsRegular() || fi.Size() == 0 {
		return
	}
	if os.Truncate(name, 0) != nil {
		return
	}
	d, err := w.log.draft(note{actionFailing, fmt.Sprintf("an event could not be written: %v", cause)}.event())
	if err != nil {
		return
	}
	h, buf, _ := w.lay([]*draft{d}, len(d.front)+len(d.rest)+sealLen)
	n, err := w.f.Write(buf)
	if err == nil {
		err = w.f.Sync()
	}
	if err == nil {
		err = w.remember(h)
	}
	if err != nil && n > 0 {
		_ = w.f.Truncate(w.end)
	}
}
