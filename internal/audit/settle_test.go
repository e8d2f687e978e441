//go:build unix

package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, change(b), 0o600))
}

func join(lines ...[]byte) []byte {
	return append(bytes.Join(lines, []byte("\n")), '\n')
}

// TestNextEventAfterDamage damages a log of six lines and records one event.
// Whatever happened, the log must then hold strict lines only, the event as its
// last line, and an event that says what was found.
func TestNextEventAfterDamage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, p string)
		says   string   // the action of the event about it; empty for none
		found  []string // by Verify afterwards
		torn   bool     // bytes were put aside
	}{
		{"a torn line", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return append(b, `{"time":"2026-12-01T00:00:00.0`...) })
		}, "recovered", nil, true},
		{"NULs behind the last line", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return append(b, make([]byte, 5000)...) })
		}, "recovered", nil, true},
		{"a foreign line", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return append(b, "hello\n{\"a\":1}\n"...) })
		}, "recovered", nil, true},
		{"more foreign bytes than are copied", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x"), asideMax+1)...) })
		}, "recovered", []string{"7 oversize"}, false},
		{"the newline is gone", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return b[:len(b)-1] })
		}, "recovered", nil, false},
		{"half a line is gone", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return b[:len(b)-100] })
		}, "truncated", []string{"6 truncated"}, true},
		{"two lines are gone", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return join(bytes.Split(b, []byte("\n"))[:4]...) })
		}, "truncated", []string{"5 truncated"}, false},
		{"emptied", func(t *testing.T, p string) { require.NoError(t, os.Truncate(p, 0)) }, "truncated", []string{"1 truncated"}, false},
		{"removed", func(t *testing.T, p string) { require.NoError(t, os.Remove(p)) }, "rotated", nil, false},
		{"renamed", func(t *testing.T, p string) { require.NoError(t, os.Rename(p, p+".1")) }, "rotated", nil, false},
		{"renamed, and a new file made", func(t *testing.T, p string) {
			require.NoError(t, os.Rename(p, p+".1"))
			require.NoError(t, os.WriteFile(p, nil, 0o600))
		}, "rotated", nil, false},
		{"copied and emptied", func(t *testing.T, p string) {
			b, err := os.ReadFile(p)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(p+".1", b, 0o600))
			require.NoError(t, os.Truncate(p, 0))
		}, "truncated", nil, false},
		{"the last line edited", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte {
				i := bytes.LastIndex(b, []byte("go test"))
				copy(b[i:], "gone!!!")
				return b
			})
		}, "truncated", []string{"6 edited"}, false},
		{"a line in the middle edited", func(t *testing.T, p string) {
			rewrite(t, p, func(b []byte) []byte { return bytes.Replace(b, []byte("go test ./..."), []byte("ls"), 1) })
		}, "recovered", []string{"2 edited"}, false},
		{"no head", func(t *testing.T, p string) { require.NoError(t, os.Remove(p+".head")) }, "recovered", nil, false},
		{"no head, a torn line", func(t *testing.T, p string) {
			require.NoError(t, os.Remove(p+".head"))
			rewrite(t, p, func(b []byte) []byte { return append(b, `{"time":"`...) })
		}, "recovered", nil, true},
		{"a damaged head", func(t *testing.T, p string) {
			rewrite(t, p+".head", func(b []byte) []byte { b[30]++; return b })
		}, "recovered", nil, false},
		{"a head that is too long", func(t *testing.T, p string) {
			rewrite(t, p+".head", func(b []byte) []byte { return append(b, "more"...) })
		}, "recovered", nil, false},
		{"an empty head", func(t *testing.T, p string) { require.NoError(t, os.Truncate(p+".head", 0)) }, "recovered", nil, false},
		{"a killed writer: the head is one line behind", func(t *testing.T, p string) {
			old, err := os.ReadFile(p + ".head")
			require.NoError(t, err)
			record(t, newLog(t, Options{Path: p}), 1)
			require.NoError(t, os.WriteFile(p+".head", old, 0o600))
		}, "", nil, false},
		{"a killed writer: one line ahead and half another", func(t *testing.T, p string) {
			old, err := os.ReadFile(p + ".head")
			require.NoError(t, err)
			record(t, newLog(t, Options{Path: p}), 2)
			require.NoError(t, os.WriteFile(p+".head", old, 0o600))
			rewrite(t, p, func(b []byte) []byte { return b[:len(b)-50] })
		}, "recovered", nil, true},
		{"a killed writer: a new file that the head does not know", func(t *testing.T, p string) {
			old, err := os.ReadFile(p + ".head")
			require.NoError(t, err)
			require.NoError(t, os.Rename(p, p+".000000000006"))
			record(t, newLog(t, Options{Path: p}), 1)
			require.NoError(t, os.WriteFile(p+".head", old, 0o600))
		}, "rotated", nil, false},
		{"killed writers: the head is two lines behind a file that was renamed", func(t *testing.T, p string) {
			old, err := os.ReadFile(p + ".head")
			require.NoError(t, err)
			record(t, newLog(t, Options{Path: p}), 2)
			require.NoError(t, os.WriteFile(p+".head", old, 0o600))
			require.NoError(t, os.Rename(p, p+".1"))
		}, "rotated", nil, false},
		{"killed writers: the head is two lines behind, and a new file begins", func(t *testing.T, p string) {
			old, err := os.ReadFile(p + ".head")
			require.NoError(t, err)
			record(t, newLog(t, Options{Path: p}), 2)
			require.NoError(t, os.Rename(p, p+".1"))
			record(t, newLog(t, Options{Path: p}), 1)
			require.NoError(t, os.WriteFile(p+".head", old, 0o600))
		}, "rotated", nil, false},
		{"killed writers: the head is two lines behind a copy", func(t *testing.T, p string) {
			old, err := os.ReadFile(p + ".head")
			require.NoError(t, err)
			record(t, newLog(t, Options{Path: p}), 2)
			require.NoError(t, os.WriteFile(p+".head", old, 0o600))
			b, err := os.ReadFile(p)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(p+".1", b, 0o600))
			require.NoError(t, os.Truncate(p, 0))
		}, "truncated", nil, false},
		{"log and head removed, an older file is left", func(t *testing.T, p string) {
			require.NoError(t, os.Rename(p, p+".1"))
			require.NoError(t, os.Remove(p+".head"))
		}, "recovered", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(t, Options{})
			record(t, l, 5)
			tt.damage(t, l.Path())
			e := someEvent("toolu_next")
			require.NoError(t, l.Record(t.Context(), e))
			all := events(t, l.Path())
			require.Equal(t, "toolu_next", all[len(all)-1].ToolUseID)
			said := actions(t, l.Path())
			if all[0].Action == actionOpened {
				said = said[1:]
			}
			if tt.says == "" {
				require.Empty(t, said)
			} else {
				require.Contains(t, said, tt.says)
			}
			require.Equal(t, tt.found, verify(t, l.Path()))
			torn, err := filepath.Glob(l.Path() + ".torn-*")
			require.NoError(t, err)
			require.Equal(t, tt.torn, len(torn) == 1)
			for _, name := range torn {
				fi, err := os.Stat(name)
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
			}
			// The damage is settled once; the next events find nothing new.
			before := len(actions(t, l.Path()))
			record(t, l, 2)
			require.Len(t, actions(t, l.Path()), before)
			require.Equal(t, tt.found, verify(t, l.Path()))
		})
	}
}

func TestABeginningThatWasTornIsNoLockOut(t *testing.T) {
	p := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, os.WriteFile(p+".head", head{}.encode(), 0o600))
	require.NoError(t, os.WriteFile(p, []byte(`{"time":"2026-`), 0o600))
	l := newLog(t, Options{Path: p})
	record(t, l, 1)
	require.Equal(t, []string{"opened", "recovered"}, actions(t, p))
	require.Empty(t, verify(t, p))
}

func TestATruncationIsNeverForgotten(t *testing.T) {
	l := newLog(t, Options{})
	record(t, l, 5)
	rewrite(t, l.Path(), func(b []byte) []byte { return join(bytes.Split(b, []byte("\n"))[:3]...) })
	require.Equal(t, []string{"3 truncated"}, verify(t, l.Path()))
	record(t, l, 30)
	require.Equal(t, []string{"4 truncated"}, verify(t, l.Path()))
	require.NoError(t, os.Remove(l.Path()+".head"))
	record(t, l, 1)
	require.Equal(t, []string{"4 truncated"}, verify(t, l.Path()))
}

func TestALostLogIsFoundByItsHead(t *testing.T) {
	l := newLog(t, Options{})
	record(t, l, 2)
	require.NoError(t, os.Remove(l.Path()))
	require.Equal(t, []string{"0 truncated"}, verify(t, l.Path()))
}

func TestHeadSurvivesItsEncoding(t *testing.T) {
	h := head{seq: 1<<53 - 1, hash: strings.Repeat("0f", 32), file: "0193800c-5a40-7000-8000-000000000001", end: 1 << 40, last: 16384, ino: 1<<64 - 1}
	b := h.encode()
	require.Len(t, b, headSize)
	require.Less(t, headSize, 512) // a disk's sector, so that it is written whole or not at all
	got, ok := decodeHead(b)
	require.True(t, ok)
	require.Equal(t, h, got)
	got, ok = decodeHead(head{}.encode())
	require.True(t, ok)
	require.Equal(t, head{}, got)
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1
		_, ok := decodeHead(c)
		require.False(t, ok, i)
	}
}
