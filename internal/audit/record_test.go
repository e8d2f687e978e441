//go:build unix

package audit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

func TestRecordNumbersChainsAndFillsIn(t *testing.T) {
	l := newLog(t, Options{Host: "h", User: "u"})
	a, b := someEvent("a"), someEvent("b")
	require.NoError(t, l.Record(t.Context(), a))
	require.NoError(t, l.Record(t.Context(), b))
	all := lines(t, l.Path())
	require.Len(t, all, 3) // the first says that the log was opened
	require.Contains(t, string(all[0]), `"seq":1,"prev":"","schemaVersion":1,"product":"hooktrail/0.0.0","host":"h","user":"u","kind":"log","action":"opened"`)
	require.Equal(t, uint64(2), a.Seq)
	require.Equal(t, lineHash(all[0]), a.Prev)
	require.Equal(t, lineHash(all[1]), b.Prev)
	require.Len(t, b.EventID, 36)
	require.False(t, b.Time.IsZero())
	require.Empty(t, verify(t, l.Path()))
}

func TestFieldsStandInTheDocumentedOrder(t *testing.T) {
	l := newLog(t, Options{Host: "h", User: "u", Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 60, time.UTC) }})
	e := someEvent("a")
	e.EventID = "0193800c-5a40-7000-8000-000000000001"
	e.Checkpoint = &CheckpointInfo{Provider: "zerto", VM: "app01", Time: time.Unix(0, 0), State: "confirmed", CadenceS: 5, WaitedMs: 7}
	e.SchemaErrors = []SchemaError{{"/a", "wrong"}}
	require.NoError(t, l.Record(t.Context(), e))
	require.Equal(t, `{"time":"2026-01-02T03:04:05.000000060Z","eventId":"0193800c-5a40-7000-8000-000000000001","seq":2,"prev":"`+e.Prev+`",`+
		`"schemaVersion":1,"product":"hooktrail/0.0.0","host":"h","user":"u","kind":"invocation","sessionId":"s1","hookEvent":"PreToolUse",`+
		`"toolUseId":"a","cwd":"/home/dev/p","tool":"Bash","command":"go test ./...",`+
		`"input":{"bytes":30,"hmac":"`+strings.Repeat("ab", 32)+`","truncated":false},`+
		`"layer":"guard","decision":"allowed","reason":"guard_unguarded","message":"outside the guard's scope",`+
		`"hookName":"hooktrail","onFailure":"block","exitCode":0,"timedOut":false,"gate":"allow","durationMs":3,"deadlineMs":3,`+
		`"checkpoint":{"provider":"zerto","vm":"app01","time":"1970-01-01T00:00:00.000000000Z","state":"confirmed","cadenceS":5,"waitedMs":7},`+
		`"schemaErrors":[{"path":"/a","message":"wrong"}]}`, string(lines(t, l.Path())[1]))
}

func TestBatchIsOneWriteInOrder(t *testing.T) {
	l := newLog(t, Options{})
	var batch []*Event
	for range 200 {
		e := someEvent("x")
		e.Command = strings.Repeat("abcdefg ", 900)
		batch = append(batch, e)
	}
	require.NoError(t, l.Record(t.Context(), batch...))
	require.Len(t, lines(t, l.Path()), 201)
	require.Equal(t, uint64(201), batch[199].Seq)
	require.NoError(t, l.Record(t.Context())) // nothing is nothing
	require.Empty(t, verify(t, l.Path()))
}

func TestGoroutinesOfOneProcess(t *testing.T) {
	l := newLog(t, Options{LockTimeout: 30 * time.Second})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 10 {
				if err := l.Record(t.Context(), someEvent("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, lines(t, l.Path()), 201)
	require.Empty(t, verify(t, l.Path()))
}

func TestSeqOrdersWhenTheClockRunsBackwards(t *testing.T) {
	now := time.Date(2026, 3, 29, 3, 0, 0, 0, time.UTC)
	l := newLog(t, Options{Now: func() time.Time { now = now.Add(-time.Hour); return now }})
	record(t, l, 50)
	all := events(t, l.Path())
	for i := 1; i < len(all); i++ {
		require.Equal(t, all[i-1].Seq+1, all[i].Seq)
	}
	require.Empty(t, verify(t, l.Path()))
}

func TestModesWhateverTheUmask(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o777} {
		old := syscall.Umask(mask)
		dir := t.TempDir()
		l := newLog(t, Options{Path: filepath.Join(dir, "a", "b", "audit.jsonl")})
		l.Digest(nil)
		err := l.Record(t.Context(), someEvent("x"))
		syscall.Umask(old)
		require.NoError(t, err)
		for _, d := range []string{"a", "a/b"} {
			fi, err := os.Stat(filepath.Join(dir, d))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o700), fi.Mode().Perm(), d)
		}
		files, err := os.ReadDir(filepath.Dir(l.Path()))
		require.NoError(t, err)
		require.Len(t, files, 5)
		for _, f := range files {
			fi, err := f.Info()
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), fi.Mode().Perm(), f.Name())
		}
	}
}

// unavailable requires that Record fail as it must: with its code, the path and
// a cause, and soon.
func unavailable(t *testing.T, l *Log, want string) {
	t.Helper()
	start := time.Now()
	err := l.Record(t.Context(), someEvent("x"))
	require.ErrorIs(t, err, reason.AuditUnavailable)
	require.ErrorContains(t, err, filepath.Base(l.Path()))
	require.ErrorContains(t, err, want)
	require.Less(t, time.Since(start), 5*time.Second)
}

func TestWhatIsNoLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Mkdir(at("dir"), 0o700))
	require.NoError(t, syscall.Mkfifo(at("fifo"), 0o600))
	require.NoError(t, os.WriteFile(at("file"), nil, 0o600))
	require.NoError(t, os.WriteFile(at("notes.txt"), []byte("dear diary\nthis is mine\n"), 0o600))
	require.NoError(t, os.Symlink(at("loop"), at("loop")))
	require.NoError(t, os.Symlink("/dev/null", at("null")))
	require.NoError(t, os.Symlink(at("fifo"), at("tofifo")))
	require.NoError(t, os.Mkdir(at("headdir.head"), 0o700))
	require.NoError(t, syscall.Mkfifo(at("headfifo.head"), 0o600))
	require.NoError(t, os.Mkdir(at("lockdir.lock"), 0o700))
	for _, tt := range []struct{ path, want string }{
		{at("dir"), "is a directory"},
		{at("fifo"), "named pipe"},
		{"/dev/full", "device"},
		{at("null"), ""},
		{at("tofifo"), ""},
		{at("loop"), ""},
		{at("file/audit.jsonl"), "not a directory"},
		{at("notes.txt"), "not an audit log"},
		{at("headdir"), "is a directory"},
		{at("headfifo"), "named pipe"},
		{at("lockdir"), "is a directory"},
	} {
		t.Run(filepath.Base(tt.path), func(t *testing.T) {
			l := newLog(t, Options{Path: tt.path})
			start := time.Now()
			err := l.Record(t.Context(), someEvent("x"))
			require.ErrorIs(t, err, reason.AuditUnavailable)
			require.ErrorContains(t, err, tt.want)
			require.Less(t, time.Since(start), 5*time.Second)
		})
	}
	b, err := os.ReadFile(at("notes.txt"))
	require.NoError(t, err)
	require.Equal(t, "dear diary\nthis is mine\n", string(b))
	require.NoFileExists(t, "/dev/full.lock")
}

func TestAFifoAsLockFileDoesNotBlock(t *testing.T) {
	p := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, syscall.Mkfifo(p+".lock", 0o600))
	l := newLog(t, Options{Path: p, LockTimeout: time.Second})
	start := time.Now()
	_ = l.Record(t.Context(), someEvent("x"))
	require.Less(t, time.Since(start), 5*time.Second)
}

func TestSymbolicLinksMeanTheirTarget(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "disk"), 0o700))
	link := filepath.Join(dir, "audit.jsonl")
	require.NoError(t, os.Symlink("disk/real.jsonl", link))
	rotate := int64(1)
	l := newLog(t, Options{Path: link, RotateBytes: &rotate})
	direct := newLog(t, Options{Path: filepath.Join(dir, "disk", "real.jsonl"), RotateBytes: new(int64)})
	record(t, l, 2)
	record(t, direct, 2)
	require.Empty(t, verify(t, link))
	require.FileExists(t, filepath.Join(dir, "disk", "real.jsonl.lock"))
	require.NoFileExists(t, link+".lock")
	files, err := Files(link)
	require.NoError(t, err)
	require.Len(t, files, 2)
	fi, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, fi.Mode()&os.ModeSymlink)
}

func TestReadOnlyForANormalUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the log is opened by a process of another user, and only root can start one")
	}
	dir := t.TempDir()
	for d := dir; d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			break
		}
	}
	p := filepath.Join(dir, "audit.jsonl")
	record(t, newLog(t, Options{Path: p}), 1)
	before, err := os.ReadFile(p)
	require.NoError(t, err)
	exe := filepath.Join(dir, "child")
	require.NoError(t, exec.Command("cp", os.Args[0], exe).Run())
	cmd := childCmd(t, p, "record 1")
	cmd.Path = exe
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "audit.jsonl")
	require.Contains(t, string(out), "permission denied")
	after, err := os.ReadFile(p)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestAContextThatEndedTouchesNothing(t *testing.T) {
	l := newLog(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.Record(ctx, someEvent("x")), reason.AuditUnavailable)
	require.NoFileExists(t, l.Path())
	require.NoFileExists(t, l.Path()+".lock")
}

func TestAStoppedLockHolderCostsNoMoreThanTheTimeout(t *testing.T) {
	l := newLog(t, Options{LockTimeout: 300 * time.Millisecond})
	record(t, l, 1)
	holder := startHolder(t, l.Path())
	require.NoError(t, holder.Process.Signal(syscall.SIGSTOP))
	unavailable(t, l, "held the lock for 300ms")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	require.ErrorIs(t, l.Record(ctx, someEvent("x")), reason.AuditUnavailable)
	require.Less(t, time.Since(start), 3*time.Second)
	// A killed holder frees it.
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	record(t, l, 1)
	require.Len(t, lines(t, l.Path()), 3)
	require.Empty(t, verify(t, l.Path()))
}

func TestTheLockFileMayBeRemoved(t *testing.T) {
	l := newLog(t, Options{})
	record(t, l, 1)
	require.NoError(t, os.Remove(l.Path()+".lock"))
	record(t, l, 1)
	require.Empty(t, verify(t, l.Path()))
}

func TestTheFolderMayBeRemoved(t *testing.T) {
	l := newLog(t, Options{Path: filepath.Join(t.TempDir(), "d", "audit.jsonl")})
	record(t, l, 1)
	require.NoError(t, os.RemoveAll(filepath.Dir(l.Path())))
	record(t, l, 1)
	require.Empty(t, verify(t, l.Path()))
}

func BenchmarkRecord(b *testing.B) {
	l, err := New(Options{Path: filepath.Join(b.TempDir(), "audit.jsonl")})
	require.NoError(b, err)
	for b.Loop() {
		if err := l.Record(context.Background(), someEvent("x")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendAndSync is what BenchmarkRecord is to be compared with.
func BenchmarkAppendAndSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "x"))
	require.NoError(b, err)
	buf := make([]byte, 700)
	for b.Loop() {
		if _, err := f.Write(buf); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}
