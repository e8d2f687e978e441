//go:build unix

package audit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func names(t *testing.T, path string) []string {
	t.Helper()
	files, err := Files(path)
	require.NoError(t, err)
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

func TestRotationBySize(t *testing.T) {
	limit := int64(4000)
	l := newLog(t, Options{RotateBytes: &limit})
	record(t, l, 20)
	all := names(t, l.Path())
	require.Greater(t, len(all), 3)
	require.Regexp(t, `^audit\.jsonl\.\d{12}$`, all[0])
	require.Equal(t, "audit.jsonl", all[len(all)-1])
	for i, name := range all {
		p := filepath.Join(filepath.Dir(l.Path()), name)
		fi, err := os.Stat(p)
		require.NoError(t, err)
		require.LessOrEqual(t, fi.Size(), limit)
		require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
		if i > 0 {
			first := events(t, p)[0]
			require.Equal(t, "rotated", first.Action)
			require.Contains(t, first.Message, all[i-1])
			require.Contains(t, first.Message, first.Prev)
		}
	}
	require.Empty(t, verify(t, l.Path()))
	// A hole between two files is found.
	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(l.Path()), all[1])))
	require.Equal(t, []string{"1 deleted"}, verify(t, l.Path()))
}

// TestRotationTellsTheHeadFirst: a writer killed behind the rename leaves a head
// that leads to the old file's end, however far behind it was before.
func TestRotationTellsTheHeadFirst(t *testing.T) {
	limit := int64(3000)
	l := newLog(t, Options{RotateBytes: &limit})
	record(t, l, 1)
	old, err := os.ReadFile(l.Path() + ".head")
	require.NoError(t, err)
	record(t, l, 1)
	require.NoError(t, os.WriteFile(l.Path()+".head", old, 0o600))
	w := &writer{log: l, ctx: t.Context(), path: l.Path()}
	defer w.close()
	require.NoError(t, w.open())
	require.NoError(t, w.settle())
	_, err = w.moveAway()
	require.NoError(t, err)
	b, err := os.ReadFile(l.Path() + ".head")
	require.NoError(t, err)
	h, ok := decodeHead(b)
	require.True(t, ok)
	require.EqualValues(t, 3, h.seq) // opened and two events
	f, err := os.Open(l.Path() + ".000000000003")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	require.Equal(t, h.hash, (&writer{f: f, size: h.end}).lineBefore(h.end, h.last))
}

func TestRotationNeverSplitsABatchNorLoops(t *testing.T) {
	limit := int64(10) // smaller than any line
	l := newLog(t, Options{RotateBytes: &limit})
	for range 3 {
		require.NoError(t, l.Record(t.Context(), someEvent("a"), someEvent("b")))
	}
	require.Len(t, names(t, l.Path()), 3)
	require.Empty(t, verify(t, l.Path()))
}

func TestZeroNeverRotates(t *testing.T) {
	l := newLog(t, Options{RotateBytes: new(int64)})
	record(t, l, 5)
	require.Equal(t, []string{"audit.jsonl"}, names(t, l.Path()))
}

func TestRetentionDeletesWholeOldFilesAndSaysSo(t *testing.T) {
	limit := int64(2000)
	l := newLog(t, Options{RotateBytes: &limit, KeepFiles: 2})
	mine := l.Path() + ".notes"
	require.NoError(t, os.WriteFile(mine, []byte("not a log"), 0o600))
	record(t, l, 30)
	require.Len(t, names(t, l.Path()), 3)
	require.FileExists(t, mine)
	require.Contains(t, events(t, l.Path())[0].Message, "are deleted")
	r, err := Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Empty(t, r.Findings) // and so nobody is locked out of verify
	require.Equal(t, []string{"1 begins_late"}, codes(r.Notes))
	record(t, l, 1)
}

// packed returns a file's content, gzipped.
func packed(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, err = z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return buf.Bytes()
}

func TestFilesOfTheLog(t *testing.T) {
	l := newLog(t, Options{RotateBytes: new(int64)})
	p := l.Path()
	pack := func(from, to string) { require.NoError(t, os.WriteFile(to, packed(t, from), 0o600)) }
	record(t, l, 3)
	require.NoError(t, os.Rename(p, p+".3"))
	pack(p+".3", p+".3.gz")
	require.NoError(t, os.Remove(p+".3"))
	record(t, l, 3)
	require.NoError(t, os.Rename(p, p+".2"))
	pack(p+".2", p+".2.gz") // logrotate is in the middle of packing
	record(t, l, 3)
	require.NoError(t, os.Rename(p, p+"-20261201"))
	record(t, l, 3)
	require.NoError(t, os.Rename(p, filepath.Join(filepath.Dir(p), "audit-20261202.jsonl")))
	record(t, l, 3)
	b, err := os.ReadFile(p)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p+".bak", b, 0o600)) // a copy counts once
	for _, other := range []string{".cursor", ".torn-000000000009", ".txt", "x"} {
		require.NoError(t, os.WriteFile(p+other, []byte("{}\n"), 0o600))
	}
	record(t, l, 1)
	require.Equal(t, []string{"audit.jsonl.3.gz", "audit.jsonl.2", "audit.jsonl-20261201", "audit-20261202.jsonl", "audit.jsonl"}, names(t, p))
	require.Empty(t, verify(t, p))
}

func TestFilesWithoutALog(t *testing.T) {
	_, err := Files(filepath.Join(t.TempDir(), "audit.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Files(filepath.Join(t.TempDir(), "none", "audit.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestARotatedFileThatLostItsBeginningStillCounts(t *testing.T) {
	limit := int64(4000)
	l := newLog(t, Options{RotateBytes: &limit})
	record(t, l, 12)
	all := names(t, l.Path())
	p := filepath.Join(filepath.Dir(l.Path()), all[1])
	rewrite(t, p, func(b []byte) []byte { copy(b, "garbage"); return b })
	require.Equal(t, all, names(t, l.Path()))
	require.Equal(t, []string{"1 not_an_event"}, verify(t, l.Path()))
}

func TestScanIsBounded(t *testing.T) {
	in := "a\n\n" + string(bytes.Repeat([]byte("x"), 3<<20)) + "\nb\nlast"
	var got []string
	require.NoError(t, Scan(bytes.NewReader([]byte(in)), func(l Line) error {
		got = append(got, fmt.Sprintf("%d@%d len %d torn %v long %v", l.Number, l.Offset, len(l.Bytes), l.Torn, l.Long))
		return nil
	}))
	require.Equal(t, []string{
		"1@0 len 1 torn false long false", "2@2 len 0 torn false long false", "3@3 len 16384 torn false long true",
		"4@3145732 len 1 torn false long false", "5@3145734 len 4 torn true long false",
	}, got)
}

// TestAFileThatIsBeingPacked is seen while gzip has not written its header yet,
// and while it is at work.
func TestAFileThatIsBeingPacked(t *testing.T) {
	limit := int64(3000)
	l := newLog(t, Options{RotateBytes: &limit})
	record(t, l, 10)
	old := l.Path() + ".000000000004"
	b := packed(t, old)
	for _, n := range []int{0, 5, len(b) / 2, len(b)} {
		require.NoError(t, os.WriteFile(old+".gz", b[:n], 0o600))
		require.Empty(t, verify(t, l.Path()), n)
		require.NotContains(t, names(t, l.Path()), filepath.Base(old)+".gz")
	}
	// One that stays so, alone, is a fault.
	require.NoError(t, os.Remove(old))
	require.NoError(t, os.Truncate(old+".gz", 5))
	_, err := Verify(t.Context(), l.Path())
	require.Error(t, err)
}
