package ship

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// A stream that was deleted and made again, or whose server lost its disk, gets
// all of the log, with the first event after it (nats-io/nats-server#7564, and
// every server whose store is an emptyDir).
func TestStreamMadeAnew(t *testing.T) {
	for _, tt := range []struct {
		name string
		ship func(t *testing.T, o Options) Result
	}{
		{"run", func(t *testing.T, o Options) Result {
			res, err := Run(bg, o)
			require.NoError(t, err)
			return res
		}},
		{"inline", func(t *testing.T, o Options) Result {
			require.NoError(t, Inline(bg, o, 10*time.Second))
			return Result{Anew: true}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, srv := newTestLog(t), startServer(t)
			srv.stream()
			o, n := l.options(srv.url), notes{}
			o.Note = n.note
			l.add(20)
			_, err := Run(bg, o)
			require.NoError(t, err)
			require.NoError(t, srv.js().DeleteStream(bg, DefaultStream))
			str := srv.stream()
			l.add(2)
			require.True(t, tt.ship(t, o).Anew)
			require.ElementsMatch(t, l.ids, storedIDs(t, str))
			require.Len(t, n.list(), 1)
			require.Contains(t, n.list()[0], "failing: stream HOOKTRAIL_AUDIT lost what it had acknowledged: it counts 1, and counted 20 before")

			l.add(1)
			res, err := Run(bg, o)
			require.NoError(t, err)
			require.Equal(t, Result{Acked: 1}, res, "once is enough")
		})
	}
}

// TestStreamMadeAnewAtItsFirstEvent: the new stream's count is the old one's, and
// no higher.
func TestStreamMadeAnewAtItsFirstEvent(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	srv.stream()
	l.add(1)
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.NoError(t, srv.js().DeleteStream(bg, DefaultStream))
	str := srv.stream()
	l.add(1)
	res, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.True(t, res.Anew)
	require.ElementsMatch(t, l.ids, storedIDs(t, str))
}

func TestStreamMadeAnewUnderFollow(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	str := srv.stream()
	o, n := l.options(srv.url), notes{}
	o.Note, o.Poll = n.note, 5*time.Millisecond
	l.add(20)
	ctx, cancel := context.WithCancel(bg)
	done := make(chan Result, 1)
	go func() {
		res, err := Follow(ctx, o, func(error) {})
		if err == nil {
			done <- res
		}
		close(done)
	}()
	holds := func(str jetstream.Stream, n uint64) {
		t.Helper()
		require.Eventually(t, func() bool {
			info, err := str.Info(bg)
			return err == nil && info.State.Msgs == n
		}, 20*time.Second, 10*time.Millisecond)
	}
	holds(str, 20)
	require.NoError(t, srv.js().DeleteStream(bg, DefaultStream))
	str = srv.stream()
	l.add(2)
	holds(str, 22)
	cancel()
	require.True(t, (<-done).Anew)
	require.ElementsMatch(t, l.ids, storedIDs(t, str))
}

// A purge does not make the server forget the ids: nats-io/jetstream#340. What it
// takes for a copy then is in no stream, and does not count as shipped.
func TestPurgedStream(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	str := srv.stream(func(c *jetstream.StreamConfig) { c.DenyPurge = false })
	o, n := l.options(srv.url), notes{}
	o.Note = n.note
	l.add(5)
	_, err := Run(bg, o)
	require.NoError(t, err)
	require.NoError(t, str.Purge(bg))
	l.add(1)
	o.Rescan = true
	res, err := Run(bg, o)
	require.NoError(t, err)
	require.Equal(t, Result{Acked: 1, Purged: 5}, res)
	require.Equal(t, l.ids[5:], storedIDs(t, str))
	require.Len(t, n.list(), 1)
	require.Contains(t, n.list()[0], "failing: 5 events are not in stream HOOKTRAIL_AUDIT: it was purged")
}

// The connection may break between a doubt and the look at the stream. The
// cursor is found again then, and nothing is known of the stream.
func TestDoubtsOutliveABrokenConnection(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	l.add(1)
	o, n := l.options(srv.url), notes{}
	o.Note = n.note
	o, err := o.withDefaults()
	require.NoError(t, err)
	s := &shipper{o: &o, doubted: []Meta{{EventID: "a", Host: "box1"}}, result: Result{Acked: 1}}
	ended, cancel := context.WithCancel(bg)
	cancel()
	require.Error(t, s.checkDoubted(ended))
	srv.stream()
	require.NoError(t, s.checkDoubted(bg))
	require.Equal(t, Result{Purged: 1}, s.result)
	require.Len(t, n.list(), 1)
	require.NoError(t, s.checkDoubted(bg))
	require.Len(t, n.list(), 1, "once")
}

// An ordinary copy is no loss.
func TestCopiesAreNotDoubted(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	srv.stream()
	l.when = func() time.Time { return time.Now().Add(-time.Hour) } // asked for
	l.add(5)
	o := l.options(srv.url)
	o.Rescan = true
	for range 2 {
		res, err := Run(bg, o)
		require.NoError(t, err)
		require.Zero(t, res.Purged)
		require.False(t, res.Anew)
	}
}
