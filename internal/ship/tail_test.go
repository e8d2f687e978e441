package ship

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// filled returns a stream with more events than the server sends at once, and
// their log.
func filled(t *testing.T) (*testServer, *testLog) {
	t.Helper()
	srv := startServer(t)
	srv.stream()
	l := newTestLog(t)
	l.add(1500)
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	return srv, l
}

// TestTailEndsWhileTheStreamGrows: for every event that is shown another one is
// stored, so a reader that waits for the end would never come to it.
func TestTailEndsWhileTheStreamGrows(t *testing.T) {
	srv, l := filled(t)
	js := srv.js()
	ctx, cancel := context.WithTimeout(bg, 20*time.Second)
	defer cancel()
	for _, last := range []int{0, 5} {
		seen := 0
		str, err := js.Stream(bg, DefaultStream)
		require.NoError(t, err)
		there := int(str.CachedInfo().State.Msgs)
		require.NoError(t, Tail(ctx, l.options(srv.url), TailOptions{Last: last, Keep: func([]byte) bool {
			_, err := js.Publish(ctx, "hooktrail.audit.v1.box1.guard.allowed", fmt.Appendf(nil, `{"n":%d}`, seen))
			require.NoError(t, err)
			return true
		}}, func([]byte) error { seen++; return nil }))
		if last == 0 {
			last = there
		}
		require.Equal(t, last, seen)
	}
}

// TestFollowShowsTheLastWhileTheStreamGrows: it must not wait for a moment in
// which nothing is left to read.
func TestFollowShowsTheLastWhileTheStreamGrows(t *testing.T) {
	srv, l := filled(t)
	js := srv.js()
	ctx, cancel := context.WithTimeout(bg, 20*time.Second)
	defer cancel()
	seen := 0
	require.NoError(t, Tail(ctx, l.options(srv.url), TailOptions{Follow: true, Last: 5, Keep: func([]byte) bool {
		_, err := js.Publish(ctx, "hooktrail.audit.v1.box1.guard.allowed", []byte(`{}`))
		return err == nil || ctx.Err() != nil
	}}, func([]byte) error {
		if seen++; seen == 5 {
			cancel()
		}
		return nil
	}))
	require.GreaterOrEqual(t, seen, 5)
}

// TestFollowShowsTheFirstEventOfAll: when none of what is stored is wanted, and
// nothing is stored.
func TestFollowShowsTheFirstEventOfAll(t *testing.T) {
	srv := startServer(t)
	str := srv.stream()
	l := newTestLog(t)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	seen := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- Tail(ctx, l.options(srv.url), TailOptions{Follow: true, Last: -1}, func(b []byte) error { seen <- string(b); return nil })
	}()
	require.Eventually(t, func() bool { // its consumer is there
		info, err := str.Info(bg)
		return err == nil && info.State.Consumers > 0
	}, 10*time.Second, 10*time.Millisecond)
	_, err := srv.js().Publish(bg, "hooktrail.audit.v1.box1.guard.allowed", []byte("first"))
	require.NoError(t, err)
	select {
	case got := <-seen:
		require.Equal(t, "first", got)
	case <-time.After(10 * time.Second):
		t.Fatal("the first event was not shown")
	}
	cancel()
	require.NoError(t, <-done)
}

// TestTailOnce leaves out the copies of events.
func TestTailOnce(t *testing.T) {
	srv := startServer(t)
	srv.stream(func(c *jetstream.StreamConfig) { c.Duplicates = 100 * time.Millisecond })
	js := srv.js()
	require.Eventually(t, func() bool { // until the window of duplicates has passed
		ack, err := js.Publish(bg, "hooktrail.audit.v1.box1.guard.allowed", []byte("a"), jetstream.WithMsgID("a"))
		return err == nil && ack.Sequence == 2
	}, 10*time.Second, 60*time.Millisecond)
	_, err := js.Publish(bg, "hooktrail.audit.v1.box1.guard.allowed", []byte("no id"))
	require.NoError(t, err)
	count := func(once bool) (n int) {
		require.NoError(t, Tail(bg, newTestLog(t).options(srv.url), TailOptions{Once: once}, func([]byte) error { n++; return nil }))
		return n
	}
	require.Equal(t, 3, count(false))
	require.Equal(t, 2, count(true))
}

// TestAMissingStreamIsSaid, and is not taken for an empty one.
func TestAMissingStreamIsSaid(t *testing.T) {
	o := newTestLog(t).options(startServer(t).url)
	for _, follow := range []bool{false, true} {
		require.ErrorIs(t, Tail(bg, o, TailOptions{Follow: follow}, func([]byte) error { return nil }), ErrNoStream)
	}
	_, err := Weaknesses(bg, o)
	require.ErrorIs(t, err, ErrNoStream)
}
