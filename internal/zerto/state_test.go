package zerto

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/zerto/zertotest"
)

func TestStateIsUpdatedByOneAtATime(t *testing.T) {
	s := &stateFile{path: filepath.Join(t.TempDir(), "new", "s.json"), clock: clock{now: time.Now, speed: 1}}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 5 {
				require.NoError(t, s.update(t.Context(), func(l *ledger) error {
					g := l.group("G1")
					g.Changes++
					g.Entries = []*entry{{Tag: "t", Since: time.Now()}}
					return nil
				}))
			}
		})
	}
	wg.Wait()
	l, err := s.read()
	require.NoError(t, err)
	require.EqualValues(t, 100, l.group("g1").Changes)
	for _, f := range []string{s.path, s.path + ".lock"} {
		fi, err := os.Stat(f)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), fi.Mode().Perm(), f)
	}
	fi, err := os.Stat(filepath.Dir(s.path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
	all, err := os.ReadDir(filepath.Dir(s.path))
	require.NoError(t, err)
	require.Len(t, all, 2, "nothing temporary is left")
}

// TestStateThatCannotBeUsed denies: without it nobody could say whether a change
// went in between.
func TestStateThatCannotBeUsed(t *testing.T) {
	for _, tt := range []struct {
		name string
		harm func(t *testing.T, path string)
	}{
		{"it is a folder", func(t *testing.T, p string) { require.NoError(t, os.Mkdir(p, 0o700)) }},
		{"it is a FIFO", fifo},
		{"it is a link to nowhere", func(t *testing.T, p string) { require.NoError(t, os.Symlink("/nonexistent/x", p)) }},
		{"its lock is a folder", func(t *testing.T, p string) { require.NoError(t, os.Mkdir(p+".lock", 0o700)) }},
		{"its lock is a FIFO", func(t *testing.T, p string) { fifo(t, p+".lock") }},
		{"it is of a later version", func(t *testing.T, p string) {
			require.NoError(t, os.WriteFile(p, []byte(`{"version":2,"groups":{}}`), 0o600))
		}},
		{"somebody holds the lock", func(t *testing.T, p string) {
			lock := flock.New(p + ".lock")
			require.NoError(t, lock.Lock())
			t.Cleanup(func() { _ = lock.Close() })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, one(zertotest.Group{}))
				require.NoError(t, os.MkdirAll(filepath.Dir(l.state), 0o700))
				tt.harm(t, l.state)
				out := l.protect(20*time.Second, "app01")
				require.Equal(t, reason.GuardCheckpointFailed, out.Code, out.Message)
				require.Contains(t, out.Message, "state file")
				require.Empty(t, l.tags(), "nothing is asked for that could not be remembered")
			})
		})
	}
}

// TestDamagedStateIsSetAside trusts nothing of it.
func TestDamagedStateIsSetAside(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"version":0}`, `{"version":1,"groups":{"g1":null}}`, `{"version":1,"groups":{"g1":{"entries":[null]}}}`,
		`{"version":1,"groups":{"g1":{"changes":1,"entries":[{"tag":"x","changes":2}]}}}`, "\x00\x00\x00"} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, one(zertotest.Group{}))
			require.NoError(t, os.MkdirAll(filepath.Dir(l.state), 0o700))
			require.NoError(t, os.WriteFile(l.state, []byte(text), 0o600))
			out := l.protect(20*time.Second, "app01")
			require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
			b, err := os.ReadFile(l.state + ".corrupt")
			require.NoError(t, err)
			require.Equal(t, text, string(b))
		})
	}
}

// TestStateProvesNothing has a state file that says "confirmed" of a tag that
// the ZVM does not list.
func TestStateProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, one(zertotest.Group{}))
		require.NoError(t, l.p.state.update(t.Context(), func(x *ledger) error {
			x.group("g1").Entries = []*entry{{Tag: "made-up", State: confirmed, Since: time.Now(), Listed: time.Now(), ID: "1"}}
			return nil
		}))
		out := l.protect(20*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code)
		require.Equal(t, l.tags()[0], out.Checkpoints[0].Tag)
	})
}

// TestOldTagsDoNotStand asks anew when what has landed is too old to go back to.
func TestOldTagsDoNotStand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, cloud("AWS"))
		out := l.protect(20*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointUnconfirmed, out.Code)
		time.Sleep(3 * time.Hour)
		out = l.protect(150*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 2)
		require.Equal(t, l.tags()[1], out.Checkpoints[0].Tag)
	})
}

// TestTagsOfOtherMachinesDoNotStandForLong: a machine that was put into the group
// since is not in the checkpoint.
func TestTagsOfOtherMachinesDoNotStandForLong(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		tags  int
	}{
		{"app02", 15 * time.Minute, 1},
		{"app02", 30 * time.Minute, 2},
		{"app01", 30 * time.Minute, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := cloud("AWS")
			w.VMs = append(w.VMs, zertotest.VM{Name: "app02", ID: "a1.vm-2", Groups: []string{w.Groups[0].ID}})
			l := newLab(t, w)
			out := l.protect(20*time.Second, "app01")
			require.Equal(t, reason.GuardCheckpointUnconfirmed, out.Code, out.Message)
			time.Sleep(tt.after)
			out = l.protect(150*time.Second, tt.name)
			require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
			require.Len(t, l.tags(), tt.tags, tt.name)
		})
	}
}

// TestAskedCallsVoidWhatIsOnItsWay: a person may let an ambiguous call through.
func TestAskedCallsVoidWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, cloud("AWS"))
		out := l.protect(20*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointUnconfirmed, out.Code)
		twin := zertotest.VM{Name: "app01", ID: "b1.vm-1", Groups: []string{"g1"}}
		l.z.Change(func(w *zertotest.World) { w.VMs = append(w.VMs, twin) })
		out = l.protect(20*time.Second, "app01")
		require.Equal(t, reason.GuardVMAmbiguous, out.Code)
		time.Sleep(5 * time.Minute)
		l.z.Change(func(w *zertotest.World) { w.VMs = w.VMs[:1] })
		out = l.protect(150*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 2)
		require.Equal(t, l.tags()[1], out.Checkpoints[0].Tag)
	})
}

// TestResyncWipesAConfirmedTag asks anew when a tag that was good for the retry
// is gone from the list.
func TestResyncWipesAConfirmedTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := zertotest.Three()
		l := newLab(t, w)
		out := l.protect(20*time.Second, "app01", "app03") // app03 cannot be in time
		require.Equal(t, reason.GuardCheckpointUnconfirmed, out.Code)
		require.Len(t, l.tags(), 2)
		l.z.Change(func(w *zertotest.World) { w.Knobs.ResyncAfter = 10 * time.Second })
		time.Sleep(10 * time.Second)
		out = l.protect(20*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 3, "a new one was asked for")
		require.Equal(t, l.tags()[2], out.Checkpoints[0].Tag)
	})
}

// TestNothingIsAskedForThatCannotBeRecorded: the event "requested" comes first.
func TestNothingIsAskedForThatCannotBeRecorded(t *testing.T) {
	for _, action := range []string{"requested", "confirmed"} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, one(zertotest.Group{}))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			out := l.p.Protect(ctx, guard.Request{VMs: []guard.VM{{Ref: "app01"}}, Report: func(a string, _ guard.Checkpoint, _ string) error {
				if a == action {
					return errors.New("disk full")
				}
				return nil
			}})
			require.Equal(t, reason.AuditUnavailable, out.Code, out.Message)
			require.Contains(t, out.Message, "disk full")
			require.Empty(t, out.Context)
			if action == "requested" {
				require.Empty(t, l.tags())
			}
			// What could not be recorded was not used: the next call may have it.
			out = l.protect(20*time.Second, "app01")
			require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
			require.Len(t, l.tags(), 1)
		})
	}
}

func TestRecordsAndRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, zertotest.Three())
		all, err := Records(l.state)
		require.NoError(t, err)
		require.Empty(t, all)
		require.Equal(t, reason.GuardCheckpointConfirmed, l.protect(20*time.Second, "app01").Code)
		time.Sleep(time.Minute)
		require.Equal(t, reason.GuardCheckpointUnconfirmed, l.protect(20*time.Second, "app03").Code)
		states := func() string {
			all, err := Records(l.state)
			require.NoError(t, err)
			var s []string
			for _, r := range all {
				s = append(s, r.VMs+" "+r.State)
			}
			return strings.Join(s, ", ")
		}
		require.Equal(t, "app03 pending, app01 confirmed", states())
		l.events = nil
		require.NoError(t, l.p.Refresh(t.Context(), l.report))
		require.Equal(t, "app03 pending, app01 confirmed", states())
		time.Sleep(3 * time.Minute)
		require.NoError(t, l.p.Refresh(t.Context(), l.report))
		require.NoError(t, l.p.Refresh(t.Context(), l.report))
		require.Equal(t, "app03 late, app01 confirmed", states())
		require.Equal(t, "late", joined(l.actions()), "told once")
		require.Equal(t, "app03", l.events[0].point.VM)
		require.NotEmpty(t, l.events[0].point.ID)
		// It may be used still.
		out := l.protect(20*time.Second, "app03")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 2)
	})
}

// TestDemonstrationRunsFaster scales the ZVM and the provider alike.
func TestDemonstrationRunsFaster(t *testing.T) {
	z := zertotest.New(zertotest.Three(), zertotest.Options{Now: time.Now, Speed: 100})
	url, stop, err := z.Listen(t.Context())
	require.NoError(t, err)
	defer stop()
	p, err := New(Options{
		Config:    config.Zerto{URL: url, Auth: config.ZertoAuth{ClientSecretEnv: "S"}},
		StateFile: filepath.Join(t.TempDir(), "s.json"), Getenv: func(string) string { return marker }, Now: z.Now, Speed: 100,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // 1,000 s of theirs
	defer cancel()
	start := time.Now()
	out := p.Protect(ctx, guard.Request{VMs: []guard.VM{{Ref: "app03"}}})
	require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
	require.Less(t, time.Since(start), 8*time.Second)
	require.GreaterOrEqual(t, out.Checkpoints[0].Waited, 128*time.Second)
}
