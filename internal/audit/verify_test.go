//go:build unix

package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerifyNamesTheLine changes a log of eleven lines and asks where.
func TestVerifyNamesTheLine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(l [][]byte) [][]byte
		want   []string
	}{
		{"nothing", func(l [][]byte) [][]byte { return l }, nil},
		{"edited", func(l [][]byte) [][]byte {
			l[4] = bytes.Replace(l[4], []byte("allowed"), []byte("blocked"), 1)
			return l
		}, []string{"5 edited"}},
		{"edited to other JSON", func(l [][]byte) [][]byte { l[4] = []byte(`{"a":1}`); return l }, []string{"5 not_an_event"}},
		{"edited to no JSON", func(l [][]byte) [][]byte { l[4] = []byte(`hello`); return l }, []string{"5 not_an_event"}},
		{"NULs", func(l [][]byte) [][]byte { l[4] = make([]byte, 100); return l }, []string{"5 not_an_event"}},
		{"the first edited", func(l [][]byte) [][]byte { l[0] = bytes.Replace(l[0], []byte("opened"), []byte("opEned"), 1); return l }, []string{"1 edited"}},
		{"the last edited", func(l [][]byte) [][]byte {
			l[10] = bytes.Replace(l[10], []byte("allowed"), []byte("blocked"), 1)
			return l
		}, []string{"11 edited"}},
		{"swapped", func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l }, []string{"6 swapped"}},
		{"swapped far apart", func(l [][]byte) [][]byte { l[2], l[7] = l[7], l[2]; return l },
			[]string{"4 swapped", "5 swapped", "6 swapped", "7 swapped", "8 swapped"}},
		{"deleted", func(l [][]byte) [][]byte { return append(l[:4:4], l[5:]...) }, []string{"5 deleted"}},
		{"three deleted", func(l [][]byte) [][]byte { return append(l[:4:4], l[7:]...) }, []string{"5 deleted"}},
		{"the first deleted", func(l [][]byte) [][]byte { return l[1:] }, []string{"1 deleted"}},
		{"the last deleted", func(l [][]byte) [][]byte { return l[:10] }, []string{"10 truncated"}},
		{"cut", func(l [][]byte) [][]byte { return l[:3] }, []string{"3 truncated"}},
		{"duplicated", func(l [][]byte) [][]byte { return append(l[:5:5], l[4:]...) }, []string{"6 duplicated"}},
		{"an old line again", func(l [][]byte) [][]byte { return append(l[:8:8], append([][]byte{l[2]}, l[8:]...)...) }, []string{"9 duplicated"}},
		{"inserted garbage", func(l [][]byte) [][]byte { return append(l[:5:5], append([][]byte{[]byte("x")}, l[5:]...)...) }, []string{"6 not_an_event"}},
		{"inserted, well chained", func(l [][]byte) [][]byte {
			forged := bytes.Replace(l[5], []byte("toolu_4"), []byte("toolu_x"), 1)
			return append(l[:5:5], append([][]byte{forged}, l[5:]...)...)
		}, []string{"7 forked"}},
		{"a name twice", func(l [][]byte) [][]byte { l[4] = append([]byte(`{"seq":5,`), l[4][1:]...); return l }, []string{"5 not_an_event"}},
		{"oversize", func(l [][]byte) [][]byte { l[4] = append(l[4], bytes.Repeat([]byte(" "), MaxLine)...); return l }, []string{"5 oversize"}},
		{"longer than memory should hold", func(l [][]byte) [][]byte {
			return append(l[:5:5], append([][]byte{bytes.Repeat([]byte("x"), 5*chunkSize/2)}, l[5:]...)...)
		}, []string{"6 oversize"}},
		{"a raw line separator", func(l [][]byte) [][]byte {
			l[4] = bytes.Replace(l[4], []byte("go test"), []byte("go\u2028test"), 1)
			return l
		}, []string{"5 not_an_event"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(t, Options{})
			record(t, l, 10)
			require.NoError(t, os.WriteFile(l.Path(), join(tt.change(lines(t, l.Path()))...), 0o600))
			require.Equal(t, tt.want, verify(t, l.Path()))
		})
	}
}

func TestVerifyAcrossFiles(t *testing.T) {
	limit := int64(4000)
	l := newLog(t, Options{RotateBytes: &limit})
	record(t, l, 20)
	files, err := Files(l.Path())
	require.NoError(t, err)
	r, err := VerifyFiles(t.Context(), files[2], files[0], files[1]) // in whatever order
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Equal(t, uint64(1), r.First)
	r, err = VerifyFiles(t.Context(), files[1])
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Equal(t, []string{"1 begins_late"}, codes(r.Notes))
	// The last line of an old file is edited: the next file tells.
	n := len(lines(t, files[0]))
	rewrite(t, files[0], func(b []byte) []byte {
		i := bytes.LastIndex(b, []byte("go test"))
		copy(b[i:], "gone!!!")
		return b
	})
	require.Equal(t, []string{fmt.Sprintf("%d edited", n)}, verify(t, l.Path()))
	r, err = Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Equal(t, files[0], r.Findings[0].File)
}

func TestVerifyWithAnUnfinishedLine(t *testing.T) {
	l := newLog(t, Options{})
	record(t, l, 2)
	rewrite(t, l.Path(), func(b []byte) []byte { return append(b, `{"time":"20`...) })
	r, err := Verify(t.Context(), l.Path())
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Equal(t, []string{"4 unfinished"}, codes(r.Notes))
}

func TestVerifyWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	_, err := Verify(t.Context(), filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = VerifyFiles(t.Context(), filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Verify(t.Context(), dir)
	require.Error(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "audit.jsonl.1.gz"), []byte("no gzip"), 0o600))
	_, err = Verify(t.Context(), filepath.Join(dir, "audit.jsonl"))
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := newLog(t, Options{})
	record(t, l, 1)
	_, err = Verify(ctx, l.Path())
	require.ErrorIs(t, err, context.Canceled)
}

func TestFindingsAreBounded(t *testing.T) {
	p := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(p, []byte(strings.Repeat("x\n", 5000)), 0o600))
	r, err := VerifyFiles(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, r.Findings, maxFound+1)
}

func TestVerifyWhileOthersWrite(t *testing.T) {
	p := filepath.Join(t.TempDir(), "audit.jsonl")
	limit := int64(20000)
	l := newLog(t, Options{Path: p, RotateBytes: &limit})
	record(t, l, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 300 {
			if err := l.Record(t.Context(), someEvent("x")); err != nil {
				t.Error(err)
			}
		}
	}()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		require.Empty(t, verify(t, p))
	}
}

// logOf writes a log of about n bytes without fsyncs.
func logOf(b *testing.B, n int) string {
	b.Helper()
	p := filepath.Join(b.TempDir(), "audit.jsonl")
	l, err := New(Options{Path: p, RotateBytes: new(int64)})
	require.NoError(b, err)
	l.identity()
	var buf bytes.Buffer
	prev := ""
	for seq := uint64(1); buf.Len() < n; seq++ {
		d, err := l.draft(*someEvent("x"))
		require.NoError(b, err)
		line := d.seal(nil, seq, prev)
		prev = lineHash(line[:len(line)-1])
		buf.Write(line)
	}
	require.NoError(b, os.WriteFile(p, buf.Bytes(), 0o600))
	return p
}

func BenchmarkVerify(b *testing.B) {
	p := logOf(b, 64<<20)
	fi, err := os.Stat(p)
	require.NoError(b, err)
	b.SetBytes(fi.Size())
	b.ReportAllocs()
	for b.Loop() {
		r, err := Verify(b.Context(), p)
		require.NoError(b, err)
		require.Empty(b, r.Findings)
	}
}

func BenchmarkDecode(b *testing.B) {
	p := logOf(b, 1<<20)
	raw, err := os.ReadFile(p)
	require.NoError(b, err)
	all := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range all {
			if _, err := Decode(line); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestVerifyRemembersNoMoreThanItSays: a log made of holes must not take long,
// since every line that stands behind a later one is looked for in all of them.
func TestVerifyRemembersNoMoreThanItSays(t *testing.T) {
	for _, behind := range []func(n, i uint64) uint64{
		func(n, i uint64) uint64 { return 2*(n-i) - 1 },   // into a hole each
		func(n, i uint64) uint64 { return 2*n + 3 + 2*i }, // each splits one hole
	} {
		v := newVerifier()
		v.begin("a", 0, true)
		seen := func(seq uint64) {
			v.line(&verified{seq: seq, ok: true})
			require.LessOrEqual(t, len(v.gaps), maxGaps+1)
		}
		const n = 5000
		for i := uint64(1); i <= n; i++ {
			seen(2 * i)
		}
		seen(1 << 20)
		for i := uint64(1); i < n; i++ {
			seen(behind(n, i))
		}
		require.Len(t, v.recent, remembered)
		r := v.finish()
		require.False(t, r.Sound())
		require.LessOrEqual(t, len(r.Findings), maxFound+1)
	}
}
