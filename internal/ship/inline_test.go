package ship

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// noteInto records notes as the audit log does.
func noteInto(l *testLog, calls *int) func(context.Context, string, string) error {
	return func(context.Context, string, string) error {
		*calls++
		b := strings.Replace(string(l.line("")), `"kind":"invocation"`, `"kind":"log"`, 1)
		l.prev = lineHash([]byte(b))
		l.write([]byte(b + "\n"))
		return nil
	}
}

func TestInlineShips(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	str := srv.stream()
	for range 5 {
		l.add(1)
		require.NoError(t, Inline(bg, l.options(srv.url), 5*time.Second))
	}
	require.Equal(t, l.ids, storedIDs(t, str))
}

func TestInlineKeepsItsBudget(t *testing.T) {
	const budget = 500 * time.Millisecond // on a busy machine 50 ms do not write the cursor
	for name, url := range map[string]string{"silent": silent(t), "refused": "nats://127.0.0.1:1", "unusable": "::bad"} {
		t.Run(name, func(t *testing.T) {
			l := newTestLog(t)
			l.add(1)
			o := l.options(url)
			clock := time.Now()
			o.Now = func() time.Time { return clock }
			start := time.Now()
			require.Error(t, Inline(bg, o, budget))
			require.Less(t, time.Since(start), 5*time.Second) // without a budget it would be the time to connect, or for ever
			c, err := loadCursor(DefaultCursor(l.path))
			require.NoError(t, err)
			require.Equal(t, 1, c.Trouble.Fails)
			require.True(t, c.Trouble.NotBefore.After(clock))

			// The next calls leave it alone, without a connection ...
			fi, err := os.Stat(DefaultCursor(l.path))
			require.NoError(t, err)
			require.ErrorContains(t, Inline(bg, o, budget), "left alone")
			again, err := os.Stat(DefaultCursor(l.path))
			require.NoError(t, err)
			require.Equal(t, fi.ModTime(), again.ModTime())

			// ... and the time grows.
			first := c.Trouble.NotBefore.Sub(clock)
			clock = c.Trouble.NotBefore.Add(time.Millisecond)
			require.Error(t, Inline(bg, o, budget))
			c, err = loadCursor(DefaultCursor(l.path))
			require.NoError(t, err)
			require.Equal(t, 2, c.Trouble.Fails)
			require.Greater(t, c.Trouble.NotBefore.Sub(clock), first)

			// A clock that was set back does not silence it for long.
			clock = clock.Add(-100 * time.Hour)
			err = Inline(bg, o, budget)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "left alone")
		})
	}
}

func TestBackOffIsBounded(t *testing.T) {
	require.Equal(t, 2*time.Second, backOff(0))
	require.Equal(t, 2*time.Second, backOff(1))
	require.Equal(t, 8*time.Second, backOff(3))
	require.Equal(t, 5*time.Minute, backOff(9))
	require.Equal(t, 5*time.Minute, backOff(1<<40))
}

// TestInlineMissingStreamIsQuick: the library would try twice more, and wait for
// a quarter of a second before each.
func TestInlineMissingStreamIsQuick(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	l.add(1)
	require.ErrorIs(t, Inline(bg, l.options(srv.url), 5*time.Second), ErrNoStream)
	got, err := srv.s.Varz(nil)
	require.NoError(t, err)
	require.Equal(t, int64(1), got.InMsgs)
}

func TestRunLooksAtNoBackOff(t *testing.T) {
	l := newTestLog(t)
	l.add(1)
	require.Error(t, Inline(bg, l.options("nats://127.0.0.1:1"), 0))
	srv := startServer(t)
	srv.stream()
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.NoError(t, Inline(bg, l.options(srv.url), 5*time.Second))
}

func TestInlineRecoversPanics(t *testing.T) {
	l := newTestLog(t)
	l.add(1)
	o := l.options("nats://127.0.0.1:1")
	o.Note = func(context.Context, string, string) error { panic("planted") }
	require.ErrorContains(t, Inline(bg, o, time.Second), "planted")
}

// The budget ends while the outage is being recorded: the back-off is known all
// the same, or the next call would pay again.
func TestBackOffIsKeptWhenTheRecordHangs(t *testing.T) {
	l := newTestLog(t)
	l.add(1)
	o := l.options("nats://127.0.0.1:1")
	hang := make(chan struct{})
	o.Cursor = DefaultCursor(l.path)
	o.Note = func(context.Context, string, string) error { <-hang; return nil }
	require.ErrorIs(t, Inline(bg, o, 0), context.DeadlineExceeded)
	c, err := loadCursor(DefaultCursor(l.path))
	require.NoError(t, err)
	require.Equal(t, 1, c.Trouble.Fails)
	close(hang)
	require.Eventually(t, func() bool { // what was left behind ends before the folder goes
		lock, err := lockCursor(o.Cursor)
		if err != nil {
			return false
		}
		return lock.Close() == nil
	}, 5*time.Second, 5*time.Millisecond)
}

// A backlog is worked off over several calls: each goes on where the last one
// stopped.
func TestInlineWorksOffABacklog(t *testing.T) {
	l, srv := newTestLog(t), startServer(t, func(o *server.Options) { o.SyncAlways = true })
	str := srv.stream()
	l.add(600)
	last := uint64(0)
	for range 2000 {
		_ = Inline(bg, l.options(srv.url), 60*time.Millisecond)
		c, err := loadCursor(DefaultCursor(l.path))
		require.NoError(t, err)
		require.GreaterOrEqual(t, c.At.Seq, last)
		if last = c.At.Seq; last == 600 {
			break
		}
		edit(t, DefaultCursor(l.path), func(c *Cursor) { c.Trouble.NotBefore = time.Time{} }) // the machine may be busy
	}
	require.EqualValues(t, 600, last)
	require.True(t, slices.Equal(l.ids, storedIDs(t, str)))
}
