package audit

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecordTwice(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a", "b", "audit.jsonl")
	l, err := New(Options{Path: p})
	require.NoError(t, err)
	for i := range 3 {
		e := &Event{Kind: Invocation, Decision: "allowed", Reason: "guard_unguarded", Message: "hi", Command: "curl -H 'Authorization: Bearer sk-SECRET1aaaaaaaaaaaaaaaaaaaa' 'https://u:SECRET2pw@h.example/?access_token=SECRET3bbbbbbbbbbbb'"}
		require.NoError(t, l.Record(context.Background(), e), i)
	}
}
func BenchmarkRecord(b *testing.B) {
	p := filepath.Join(b.TempDir(), "audit.jsonl")
	l, _ := New(Options{Path: p})
	for b.Loop() {
		e := &Event{Kind: Invocation, Decision: "allowed", Reason: "guard_unguarded", Message: "hi", Command: "git status"}
		if err := l.Record(context.Background(), e); err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkFsync(b *testing.B) {
	f, _ := os.Create(filepath.Join(b.TempDir(), "x"))
	buf := make([]byte, 700)
	for b.Loop() {
		f.Write(buf)
		f.Sync()
	}
}
