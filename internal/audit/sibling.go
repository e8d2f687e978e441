package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxSiblings bounds how many files beside the log are looked at while the lock
// is held: the ones that were changed last.
const maxSiblings = 64

// sibling returns the name of a file beside the log that ends with the line of
// this hash, or nothing. Packed files are not looked at: that would take too
// long under the lock.
func (w *writer) sibling(hash string) string {
	for _, name := range w.siblings() {
		if t, ok := tailOfFile(name); ok && t.hash == hash {
			return filepath.Base(name)
		}
	}
	return ""
}

// newestSibling returns the last event of the file beside the log that has the
// highest number, or zero.
func (w *writer) newestSibling() (seq uint64, hash, name string) {
	for _, n := range w.siblings() {
		if t, ok := tailOfFile(n); ok && t.seq > seq {
			seq, hash, name = t.seq, t.hash, filepath.Base(n)
		}
	}
	return seq, hash, name
}

func (w *writer) siblings() []string {
	names, err := family(w.path)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == w.path || strings.HasSuffix(n, ".gz") })
	if len(names) > maxSiblings {
		changed := func(n string) int64 {
			fi, err := os.Lstat(n)
			if err != nil {
				return 0
			}
			return fi.ModTime().UnixNano()
		}
		times := make(map[string]int64, len(names))
		for _, n := range names {
			times[n] = changed(n)
		}
		slices.SortFunc(names, func(a, b string) int { return int(min(1, max(-1, times[b]-times[a]))) })
		names = names[:maxSiblings]
	}
	return names
}

func tailOfFile(name string) (tailInfo, bool) {
	f, err := openLogFile(name)
	if err != nil {
		return tailInfo{}, false
	}
	defer func() { _ = f.Close() }()
	t, err := tailOf(f.f, f.size)
	return t, err == nil && t.hash != ""
}
