package ship

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

var bg = context.Background()

func TestRunShipsAllOnceAndInOrder(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	str := srv.stream()
	l.add(1500) // more than a window
	res, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.EqualValues(t, 1500, res.Acked)
	require.Equal(t, l.ids, storedIDs(t, str))
	for _, m := range stored(t, str)[:3] {
		require.Equal(t, "hooktrail.audit.v1.box1.guard.allowed", m.Subject)
		require.Equal(t, "HOOKTRAIL_AUDIT", m.Header.Get("Nats-Expected-Stream"))
	}
	// The data is the log's line, byte for byte.
	line, _, _ := cutLine(t, l.path)
	require.Equal(t, string(line), string(stored(t, str)[0].Data))

	res, err = Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.Zero(t, res.Acked)
	l.add(3)
	res, err = Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.EqualValues(t, 3, res.Acked)
	require.Equal(t, l.ids, storedIDs(t, str))
	fi, err := os.Stat(DefaultCursor(l.path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
}

func cutLine(t *testing.T, path string) (line []byte, rest []byte, ok bool) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	i := slices.Index(b, '\n')
	return b[:i], b[i+1:], true
}

// Each of these is a cursor that says nothing about this log.
func TestCursorThatIsNoUse(t *testing.T) {
	for _, tt := range []struct {
		name string
		harm func(t *testing.T, path string)
	}{
		{"lost", func(t *testing.T, p string) { require.NoError(t, os.Remove(p)) }},
		{"empty, as a power failure leaves it", func(t *testing.T, p string) { require.NoError(t, os.WriteFile(p, nil, 0o600)) }},
		{"cut off", func(t *testing.T, p string) { require.NoError(t, os.Truncate(p, 40)) }},
		{"not JSON", func(t *testing.T, p string) { require.NoError(t, os.WriteFile(p, []byte("\x00\x01"), 0o600)) }},
		{"of another version", func(t *testing.T, p string) {
			require.NoError(t, os.WriteFile(p, []byte(`{"version":99}`), 0o600))
		}},
		{"negative offset", func(t *testing.T, p string) {
			edit(t, p, func(c *Cursor) { c.At.Offset = -5 })
		}},
		{"ahead of the file", func(t *testing.T, p string) {
			edit(t, p, func(c *Cursor) { c.At.Offset += 100000; c.At.Seq += 100 })
		}},
		{"in the middle of a line", func(t *testing.T, p string) { edit(t, p, func(c *Cursor) { c.At.Offset -= 7 }) }},
		{"of another machine's log", func(t *testing.T, p string) {
			edit(t, p, func(c *Cursor) { c.At.FileID = "0193b0c0-0000-7000-8000-000000000000" })
		}},
		{"another line's hash", func(t *testing.T, p string) { edit(t, p, func(c *Cursor) { c.At.SHA256 = lineHash(nil) }) }},
	} {
		for _, age := range []string{"young", "old"} {
			t.Run(tt.name+", "+age, func(t *testing.T) {
				l, srv := newTestLog(t), startServer(t)
				str := srv.stream(func(c *jetstream.StreamConfig) {
					if age == "old" {
						c.Duplicates = 100 * time.Millisecond // it has long passed
					}
				})
				if age == "old" {
					l.when = func() time.Time { return time.Now().Add(-time.Hour) }
				}
				l.add(40)
				_, err := Run(bg, l.options(srv.url))
				require.NoError(t, err)
				tt.harm(t, DefaultCursor(l.path))
				l.add(5)
				if age == "old" {
					time.Sleep(150 * time.Millisecond) // the window is the server's own clock
				}
				res, err := Run(bg, l.options(srv.url))
				require.NoError(t, err)
				require.Equal(t, l.ids, storedIDs(t, str))
				if age == "old" {
					require.EqualValues(t, 40, res.Present)
					require.EqualValues(t, 5, res.Acked)
				}
			})
		}
	}
}

func edit(t *testing.T, path string, change func(*Cursor)) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var c Cursor
	require.NoError(t, json.Unmarshal(b, &c))
	change(&c)
	b, err = json.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o600))
}

// A shipper that was killed after the acknowledgement and before it wrote its
// cursor, and is started again when the window of duplicates has passed.
func TestCrashBetweenAckAndCursor(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	str := srv.stream(func(c *jetstream.StreamConfig) { c.Duplicates = 100 * time.Millisecond })
	l.add(10)
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	before, err := os.ReadFile(DefaultCursor(l.path))
	require.NoError(t, err)
	l.add(10)
	_, err = Run(bg, l.options(srv.url))
	require.NoError(t, err)
	// What the killed process left: the old place, and the word that more was under way.
	require.NoError(t, os.WriteFile(DefaultCursor(l.path), before, 0o600))
	edit(t, DefaultCursor(l.path), func(c *Cursor) { c.InFlight = time.Now().Add(-time.Hour) })
	time.Sleep(150 * time.Millisecond)
	l.add(1)
	res, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.EqualValues(t, 10, res.Present)
	require.Equal(t, l.ids, storedIDs(t, str))
}

func TestInFlightIsWrittenBeforeTheFirstPublish(t *testing.T) {
	l, srv := newTestLog(t), startServer(t) // no stream: nothing is ever acknowledged
	l.add(3)
	_, err := Run(bg, l.options(srv.url))
	require.ErrorIs(t, err, ErrNoStream)
	c, err := loadCursor(DefaultCursor(l.path))
	require.NoError(t, err)
	require.False(t, c.InFlight.IsZero())
	require.Zero(t, c.At.Seq)
}

func TestTwoShippers(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	str := srv.stream()
	l.add(50)
	ctx, cancel := context.WithCancel(bg)
	done := make(chan error, 1)
	go func() {
		_, err := Follow(ctx, l.options(srv.url), func(error) {})
		done <- err
	}()
	require.Eventually(t, func() bool {
		st, err := ReadStatus(l.options(""))
		return err == nil && st.Running && st.Backlog == 0
	}, 10*time.Second, 20*time.Millisecond)
	l.add(50)
	res, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.True(t, res.ByOther)
	require.ErrorIs(t, Inline(bg, l.options(srv.url), time.Second), ErrBusy)
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, l.ids, storedIDs(t, str))

	// One that holds the lock and does nothing is not waited for for ever.
	lock, err := lockCursor(DefaultCursor(l.path))
	require.NoError(t, err)
	defer lock.Close() //nolint:errcheck // a test
	l.add(1)
	o := l.options(srv.url)
	o.Stall = 300 * time.Millisecond
	_, err = Run(bg, o)
	require.ErrorIs(t, err, ErrBusy)
}

// From a copy of the log, and by a shipper that knows nothing of the first.
func TestCopyOfTheLog(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	str := srv.stream()
	l.add(30)
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	b, err := os.ReadFile(l.path)
	require.NoError(t, err)
	c := newTestLog(t)
	require.NoError(t, os.WriteFile(c.path, b, 0o600))
	_, err = Run(bg, c.options(srv.url))
	require.NoError(t, err)
	require.Equal(t, l.ids, storedIDs(t, str))
}

func TestFailuresOfTheStream(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup func(*testServer)
		say   string
		took  int
	}{
		{"none", func(*testServer) {}, "--create-stream", 0},
		{"full", func(s *testServer) {
			s.stream(func(c *jetstream.StreamConfig) { c.MaxMsgs = 4; c.DenyPurge, c.DenyDelete = false, false })
		}, "is full", 4},
		{"another stream has the subject", func(s *testServer) {
			s.stream(func(c *jetstream.StreamConfig) { c.Name = "OTHER" })
		}, "goes to another stream", 0},
		{"no JetStream", func(*testServer) {}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := startServer(t, func(o *server.Options) { o.JetStream = tt.name != "no JetStream" })
			tt.setup(srv)
			l := newTestLog(t)
			l.add(10)
			o := l.options(srv.url)
			start := time.Now()
			res, err := Run(bg, o)
			require.Error(t, err)
			require.Less(t, time.Since(start), 4*time.Second)
			require.Contains(t, joined(err), tt.say)
			require.EqualValues(t, tt.took, res.Acked)
			st, err := ReadStatus(o)
			require.NoError(t, err)
			require.EqualValues(t, 10-tt.took, st.Backlog)
			require.Contains(t, st.Trouble.Cause, tt.say)
		})
	}
}

func TestFullStreamGoesOnWhenThereIsRoom(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	cfg := (&Options{Stream: DefaultStream, Subject: DefaultSubject}).config(StreamSpec{})
	cfg.MaxMsgs, cfg.DenyDelete, cfg.DenyPurge = 4, false, false
	js := srv.js()
	str, err := js.CreateStream(bg, cfg)
	require.NoError(t, err)
	l.add(10)
	_, err = Run(bg, l.options(srv.url))
	require.Error(t, err)
	cfg.MaxMsgs = -1
	_, err = js.UpdateStream(bg, cfg)
	require.NoError(t, err)
	_, err = Run(bg, l.options(srv.url))
	require.NoError(t, err)
	// What was under way when the stream filled up may have found room before
	// its elders did: each is there once, and seq tells the order.
	require.ElementsMatch(t, l.ids, storedIDs(t, str))
}

// The publish-only account of docs/nats.md.
func publishOnly(o *server.Options) {
	all := &server.User{Username: "admin", Password: "admin-pass"}
	pub := &server.User{Username: "box1", Password: "box1-pass", Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{"hooktrail.audit.v1.box1.>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}}
	o.Users = []*server.User{all, pub}
}

func TestPublishOnlyAccount(t *testing.T) {
	srv := startServer(t, publishOnly)
	js := srv.js(nats.UserInfo("admin", "admin-pass"))
	o0 := Options{Stream: DefaultStream, Subject: DefaultSubject}
	str, err := js.CreateStream(bg, o0.config(StreamSpec{}))
	require.NoError(t, err)
	l := newTestLog(t)
	l.when = func() time.Time { return time.Now().Add(-time.Hour) } // the stream would be asked, if it may
	l.add(10)
	o := l.options(srv.url)
	o.User, o.PasswordFile = "box1", secretFile(t, "box1-pass")
	_, err = Run(bg, o)
	require.NoError(t, err)
	require.Equal(t, l.ids, storedIDs(t, str))

	// It can do nothing else.
	_, _, err = CreateStream(bg, o, StreamSpec{})
	require.ErrorContains(t, err, "ermissions")
	own := srv.js(nats.UserInfo("box1", "box1-pass"))
	ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond)
	defer cancel()
	require.Error(t, own.DeleteStream(ctx, DefaultStream))
	_, err = str.Info(bg)
	require.NoError(t, err)

	// An event of another host: the server says nothing to the publisher, which
	// would look like a timeout. The cause is told, at once.
	l.host = "box2"
	l.add(1)
	start := time.Now()
	_, err = Run(bg, o)
	require.ErrorContains(t, err, "ermissions")
	require.Less(t, time.Since(start), 3*time.Second)

	o.PasswordFile = secretFile(t, "wrong-secret")
	_, err = Run(bg, o)
	require.ErrorContains(t, err, "uthorization")
	require.NotContains(t, joined(err), "wrong-secret")
}

func secretFile(t *testing.T, s string) string {
	t.Helper()
	p := t.TempDir() + "/secret"
	require.NoError(t, os.WriteFile(p, []byte(s+"\n"), 0o600))
	return p
}

func TestOutageLeavesOneEventAndRecovers(t *testing.T) {
	l := newTestLog(t)
	l.add(5)
	n := &notes{}
	o := l.options("nats://127.0.0.1:1")
	o.Note = n.note
	for range 4 {
		_, err := Run(bg, o)
		require.Error(t, err)
	}
	require.Len(t, n.list(), 1)
	require.Contains(t, n.list()[0], "failing: ")
	srv := startServer(t)
	srv.stream()
	o.URL = srv.url
	_, err := Run(bg, o)
	require.NoError(t, err)
	require.Len(t, n.list(), 2)
	require.Contains(t, n.list()[1], "recovered: ")
	require.Contains(t, n.list()[1], "4 failed attempts")
	st, err := ReadStatus(o)
	require.NoError(t, err)
	require.Zero(t, st.Trouble)
	require.Zero(t, st.Backlog)
}

func TestNotesAreShippedInTheSameRun(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	l.add(5)
	o := l.options(srv.url)
	o.Note = func(context.Context, string, string) error { l.add(1); return nil }
	_, err := Run(bg, o)
	require.Error(t, err)
	str := srv.stream()
	_, err = Run(bg, o)
	require.NoError(t, err)
	require.Len(t, l.ids, 7)
	require.Equal(t, l.ids, storedIDs(t, str))
}

func TestServersThatAnswerNothing(t *testing.T) {
	for name, url := range map[string]string{
		"refused": "nats://127.0.0.1:1",
		"silent":  silent(t),
		"two":     "nats://127.0.0.1:1," + silent(t),
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestLog(t)
			l.add(2)
			o := l.options(url)
			o.ConnectTimeout = time.Second
			start := time.Now()
			_, err := Run(bg, o)
			require.Error(t, err)
			require.Less(t, time.Since(start), 5*time.Second)
		})
	}
}

func TestFollowSurvivesRestart(t *testing.T) {
	l := newTestLog(t)
	srv := startServer(t)
	srv.stream()
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	done := make(chan error, 1)
	o := l.options(srv.url)
	o.Poll = 10 * time.Millisecond
	go func() { // the log does not exist yet
		_, err := Follow(ctx, o, func(error) {})
		done <- err
	}()
	l.add(20)
	caughtUp := func() bool {
		st, err := ReadStatus(o)
		return err == nil && st.Backlog == 0 && st.Written == l.seq
	}
	require.Eventually(t, caughtUp, 10*time.Second, 20*time.Millisecond)
	srv.s.Shutdown()
	srv.s.WaitForShutdown()
	l.add(20)
	again := startServer(t, func(so *server.Options) { so.Port, so.StoreDir = srv.opts.Port, srv.opts.StoreDir })
	require.Eventually(t, caughtUp, 20*time.Second, 20*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	str, err := again.js().Stream(bg, DefaultStream)
	require.NoError(t, err)
	require.Equal(t, l.ids, storedIDs(t, str))
}
