package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rotateFor moves the log on to a new file when size more bytes would take it
// over its limit. The new file's first record names the old one's last line.
func (w *writer) rotateFor(size int64) error {
	limit := int64(DefaultRotateBytes)
	if w.log.o.RotateBytes != nil {
		limit = *w.log.o.RotateBytes
	}
	if limit == 0 || w.end == 0 || w.end+size <= limit || w.open1 {
		return nil
	}
	name, err := w.moveAway()
	if err != nil {
		return err
	}
	w.note(actionRotated, "the log goes on from %s, whose last line has seq %d and SHA-256 %s%s", name, w.seq, w.prev, w.retirement())
	return nil
}

// moveAway renames the file to NAME.<seq of its last line> and opens a new one
// under the log's name. It returns the name without its folder.
func (w *writer) moveAway() (string, error) {
	target := fmt.Sprintf("%s.%012d", w.path, w.seq)
	for n := 1; ; n++ {
		_, err := os.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		if n > 99 {
			return "", fmt.Errorf("%s: there are too many files like it", target)
		}
		target = fmt.Sprintf("%s.%012d-%d", w.path, w.seq, n)
	}
	// The head may be behind by lines whose writers were killed before they could
	// tell it. It must lead to the old file's end: the new one begins there.
	if w.seq != w.head.seq && w.end > 0 {
		if err := w.remember(w.here()); err != nil {
			return "", err
		}
	}
	if err := w.headFile.Sync(); err != nil {
		return "", err
	}
	_ = w.f.Close() // Windows renames closed files only
	w.f = nil
	if err := os.Rename(w.path, target); err != nil {
		return "", err
	}
	w.dirty = true
	if err := w.openLog(); err != nil {
		return "", err
	}
	if w.size != 0 {
		return "", fmt.Errorf("%s: somebody writes to it without the lock", w.path)
	}
	w.file, w.end, w.open1 = "", 0, false
	return filepath.Base(target), nil
}

// expired returns the rotated files beyond KeepFiles, oldest first. Only names
// that moveAway gives are looked at.
func (w *writer) expired() []string {
	if w.log.o.KeepFiles == 0 {
		return nil
	}
	names, err := filepath.Glob(globEscape(w.path) + ".[0-9]*")
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		suffix := name[len(w.path)+1:]
		seq, n, more := strings.Cut(suffix, "-")
		return len(seq) != 12 || !digits(seq) || more && !digits(n)
	})
	slices.Sort(names)
	if len(names) <= w.log.o.KeepFiles {
		return nil
	}
	return names[:len(names)-w.log.o.KeepFiles]
}

// retirement says, in the new file's first record, what retire will delete.
func (w *writer) retirement() string {
	names := w.expired()
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d files up to %s are deleted, since %d are kept", len(names), filepath.Base(names[len(names)-1]), w.log.o.KeepFiles)
}

// retire deletes the oldest files, whole ones only, after the event that says
// so is on disk.
func (w *writer) retire() {
	for _, n := range w.notes {
		if n.action == actionRotated {
			for _, name := range w.expired() {
				_ = os.Remove(name) // tried again at the next rotation
			}
			return
		}
	}
}

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
