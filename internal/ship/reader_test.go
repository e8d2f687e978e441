package ship

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// readAll returns the event ids up to the log's end, and the last place.
func readAll(t *testing.T, r *reader) (ids []string, at Position) {
	t.Helper()
	for {
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			return ids, at
		}
		require.NoError(t, err)
		at = l.at
		at.SHA256 = lineHash(l.bytes)
		if l.ok {
			ids = append(ids, l.meta.EventID)
		}
	}
}

func open(t *testing.T, path string, at Position) (*reader, bool) {
	t.Helper()
	r, found, err := openReader(path, at)
	require.NoError(t, err)
	t.Cleanup(r.close)
	return r, found
}

func TestReaderOverRotations(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rotate func(l *testLog)
	}{
		{"renamed", func(l *testLog) { l.rename(".1") }},
		{"renamed and compressed", func(l *testLog) { l.rename(".1"); compress(l.t.(*testing.T), l.path+".1") }},
		{"copied and cut", func(l *testLog) {
			b, err := os.ReadFile(l.path)
			require.NoError(l.t, err)
			require.NoError(l.t, os.WriteFile(l.path+".1", b, 0o600))
			require.NoError(l.t, os.Truncate(l.path, 0))
		}},
	} {
		for _, read := range []int{0, 3, 7, 10} {
			t.Run(tt.name, func(t *testing.T) {
				l := newTestLog(t)
				l.add(10)
				r, _ := open(t, l.path, Position{})
				var at Position
				for range read {
					ln, err := r.next()
					require.NoError(t, err)
					at = ln.at
					at.SHA256 = lineHash(ln.bytes)
				}
				tt.rotate(l)
				l.add(4)
				r2, found := open(t, l.path, at)
				require.Equal(t, read > 0, found)
				rest, _ := readAll(t, r2)
				require.Equal(t, l.ids[read:], rest)
			})
		}
	}
}

func compress(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err = w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(name+".gz", z.Bytes(), 0o600))
	require.NoError(t, os.Remove(name))
}

// A reader that is at work while the log is rotated under it.
func TestReaderFollowsRotation(t *testing.T) {
	l := newTestLog(t)
	l.add(3)
	r, _ := open(t, l.path, Position{})
	got, _ := readAll(t, r)
	l.add(2) // written just before the rename, not read yet
	l.rename(".1")
	more, _ := readAll(t, r) // there is no new file yet
	got = append(got, more...)
	l.add(2)
	more, _ = readAll(t, r)
	got = append(got, more...)
	l.rename(".2026-12-01")
	l.add(1)
	l.rename(".3")
	l.add(1)
	more, _ = readAll(t, r)
	require.Equal(t, l.ids, append(got, more...))
}

func TestReaderFindsCutAndFilledFile(t *testing.T) {
	for _, n := range []int{1, 3, 9} { // shorter, as long, longer
		l := newTestLog(t)
		l.add(3)
		r, _ := open(t, l.path, Position{})
		readAll(t, r)
		require.NoError(t, os.Truncate(l.path, 0))
		l.add(n)
		var err error
		for err == nil {
			_, err = r.next()
		}
		require.ErrorIs(t, err, errShrunk)
	}
}

func TestPartialLastLineWaits(t *testing.T) {
	l := newTestLog(t)
	l.add(2)
	whole := append(l.line(""), '\n')
	for _, cut := range []int{1, 50, len(whole) - 1} {
		l.write(nil)
		r, _ := open(t, l.path, Position{})
		f, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.Write(whole[:cut])
		require.NoError(t, err)
		ids, _ := readAll(t, r)
		require.Len(t, ids, 2)
		_, err = f.Write(whole[cut:])
		require.NoError(t, err)
		ids, _ = readAll(t, r)
		require.Equal(t, l.ids[2:], ids)
		fi, err := f.Stat()
		require.NoError(t, err)
		require.NoError(t, f.Truncate(fi.Size()-int64(len(whole))))
		require.NoError(t, f.Close())
	}
}

func TestLinesThatAreNoEvents(t *testing.T) {
	l := newTestLog(t)
	l.write([]byte("not json\n"))
	l.add(1)
	l.write([]byte("{\"half\":\n\n[]\n{}\n{\"eventId\":7}\n"))
	l.write([]byte(strings.Repeat("x", 3*maxLine) + "\n"))
	l.add(1)
	r, _ := open(t, l.path, Position{})
	ids, at := readAll(t, r)
	require.Equal(t, l.ids, ids)
	_, found := open(t, l.path, at)
	require.True(t, found)
}

func TestEmptyAndSmallFiles(t *testing.T) {
	l := newTestLog(t)
	_, _, err := openReader(l.path, Position{})
	require.ErrorIs(t, err, os.ErrNotExist)
	l.write(nil)
	r, _ := open(t, l.path, Position{})
	ids, _ := readAll(t, r)
	require.Empty(t, ids)
	l.write([]byte(`{"eventId":"a"}` + "\n"))
	ids, at := readAll(t, r)
	require.Equal(t, []string{"a"}, ids)
	require.Equal(t, "a", at.FileID)
	_, found := open(t, l.path, at)
	require.True(t, found)
}

// The file that the inode belonged to is gone and another has its number, its
// length and even its first line.
func TestInodeSaysNothing(t *testing.T) {
	l := newTestLog(t)
	l.add(1)
	first, err := os.ReadFile(l.path)
	require.NoError(t, err)
	l.add(2)
	r, _ := open(t, l.path, Position{})
	_, at := readAll(t, r)
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	_, err = f.Write(first)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	l.ids = l.ids[:1]
	l.add(4)
	r2, found := open(t, l.path, at)
	require.False(t, found)
	ids, _ := readAll(t, r2)
	require.Equal(t, l.ids, ids)
}

func TestDeletedFilesAreNoEnd(t *testing.T) {
	l := newTestLog(t)
	l.add(2)
	r, _ := open(t, l.path, Position{})
	readAll(t, r)
	require.NoError(t, os.Remove(l.path))
	ids, _ := readAll(t, r)
	require.Empty(t, ids)
	l.add(2)
	ids, _ = readAll(t, r)
	require.Equal(t, l.ids[2:], ids)
}

// A FIFO in the log's place must not hang anybody.
func TestNoRegularFile(t *testing.T) {
	l := newTestLog(t)
	require.NoError(t, os.Mkdir(l.path, 0o700))
	done := make(chan error, 1)
	go func() { _, _, err := openReader(l.path, Position{}); done <- err }()
	select {
	case err := <-done:
		require.Error(t, err)
	case <-time.After(5 * time.Second):
		t.Fatal("hangs")
	}
}
