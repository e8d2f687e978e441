package ship

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// kinds lists what was found, with the first sequence number of each.
func kinds(c Comparison) map[string]uint64 {
	out := map[string]uint64{}
	for _, d := range c.Differences {
		out[d.Kind] = d.Seq
	}
	return out
}

// Each of these is done to a log of 10 events of which all are shipped.
func TestCompareNamesWhatWasDone(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(l *testLog, lines []string) []string
		want map[string]uint64
	}{
		{"nothing", func(_ *testLog, s []string) []string { return s }, map[string]uint64{}},
		{"one line edited", func(_ *testLog, s []string) []string {
			s[4] = strings.Replace(s[4], "guard_read_only", "guard_unguarded", 1)
			return s
		}, map[string]uint64{Altered: 5}},
		{"two lines edited", func(_ *testLog, s []string) []string {
			s[4] = strings.Replace(s[4], "allowed", "blocked", 1)
			s[7] = strings.Replace(s[7], "allowed", "blocked", 1)
			return s
		}, map[string]uint64{Altered: 5}},
		{"a line deleted", func(_ *testLog, s []string) []string { return append(s[:4:4], s[5:]...) }, map[string]uint64{NotInFile: 5}},
		{"the tail cut", func(_ *testLog, s []string) []string { return s[:7] }, map[string]uint64{CutTail: 8}},
		{"the chain computed anew", func(_ *testLog, s []string) []string {
			s[4] = strings.Replace(s[4], "allowed", "blocked", 1)
			return rechain(s, 5)
		}, map[string]uint64{Rebuilt: 5}},
		{"a line deleted and the chain computed anew", func(_ *testLog, s []string) []string {
			return rechain(append(s[:4:4], s[5:]...), 4)
		}, map[string]uint64{NotInFile: 5, Rebuilt: 6}},
		{"the first files deleted, as retention does", func(_ *testLog, s []string) []string { return s[3:] }, map[string]uint64{}},
		{"replaced by a new log", func(l *testLog, _ []string) []string {
			l.seq, l.prev = 0, ""
			return []string{string(l.line("")), string(l.line(""))}
		}, map[string]uint64{LostLog: 1, NotInStream: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, srv := newTestLog(t), startServer(t)
			srv.stream()
			l.add(10)
			_, err := Run(bg, l.options(srv.url))
			require.NoError(t, err)
			b, err := os.ReadFile(l.path)
			require.NoError(t, err)
			lines := tt.do(l, strings.Split(strings.TrimSpace(string(b)), "\n"))
			require.NoError(t, os.WriteFile(l.path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
			c, err := Compare(bg, l.options(srv.url))
			require.NoError(t, err)
			require.Equal(t, tt.want, kinds(c))
			require.Equal(t, len(tt.want) == 0, c.Sound())
		})
	}
}

// rechain gives the lines from i on the right prev, as somebody does who covers
// up an edit.
func rechain(s []string, i int) []string {
	for ; i < len(s); i++ {
		at := strings.Index(s[i], `"prev":"`) + len(`"prev":"`)
		s[i] = s[i][:at] + lineHash([]byte(s[i-1])) + s[i][at+64:]
	}
	return s
}

func TestCompareTheStreamsSide(t *testing.T) {
	l, srv := newTestLog(t), startServer(t, maxPayload(2048))
	str := srv.stream(func(c *jetstream.StreamConfig) { c.DenyDelete = false; c.Duplicates = 100 * time.Millisecond })
	l.add(5)
	l.addWith(`,"command":"` + strings.Repeat("x", 5000) + `"`) // shipped shortened, and still the same
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	other := newTestLog(t) // another user's log on the same host
	require.NoError(t, os.WriteFile(other.path, []byte(strings.ReplaceAll(string(other.line("")), `"user":"u"`, `"user":"v"`)+"\n"), 0o600))
	_, err = Run(bg, other.options(srv.url))
	require.NoError(t, err)
	l.add(2) // not shipped yet
	c, err := Compare(bg, l.options(srv.url))
	require.NoError(t, err)
	require.True(t, c.Sound(), c)
	require.EqualValues(t, 6, c.Same)
	require.EqualValues(t, 2, c.Waiting)
	require.EqualValues(t, 1, c.Others)

	require.NoError(t, str.DeleteMsg(bg, 2))
	c, err = Compare(bg, l.options(srv.url))
	require.NoError(t, err)
	require.Equal(t, map[string]uint64{NotInStream: 2}, kinds(c))

	// It can be mended, and a copy is named as one.
	o := l.options(srv.url)
	o.Rescan = true
	time.Sleep(150 * time.Millisecond) // the window is the server's own clock
	res, err := Run(bg, o)
	require.NoError(t, err)
	require.EqualValues(t, 5, res.Present)
	raw, err := str.GetMsg(bg, 1)
	require.NoError(t, err)
	time.Sleep(150 * time.Millisecond) // the window is the server's own clock
	_, err = srv.js().Publish(bg, raw.Subject, raw.Data)
	require.NoError(t, err)
	c, err = Compare(bg, l.options(srv.url))
	require.NoError(t, err)
	require.Equal(t, map[string]uint64{Twice: 1}, kinds(c))
	require.True(t, c.Sound())
}

func TestTail(t *testing.T) {
	l, srv := newTestLog(t), startServer(t)
	srv.stream()
	l.add(5)
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	var got []string
	show := func(b []byte) error {
		m, ok := ParseMeta(b)
		require.True(t, ok)
		got = append(got, m.EventID)
		return nil
	}
	require.NoError(t, Tail(bg, l.options(srv.url), TailOptions{}, show))
	require.Equal(t, l.ids, got)
	got = nil
	require.NoError(t, Tail(bg, l.options(srv.url), TailOptions{Last: 2}, show))
	require.Equal(t, l.ids[3:], got)
	got = nil
	keep := func(b []byte) bool { m, _ := ParseMeta(b); return m.Seq < 4 }
	require.NoError(t, Tail(bg, l.options(srv.url), TailOptions{Last: 2, Keep: keep}, show))
	require.Equal(t, l.ids[1:3], got)
	got = nil
	require.NoError(t, Tail(bg, l.options(srv.url), TailOptions{Last: -1}, show))
	require.NoError(t, Tail(bg, l.options(srv.url), TailOptions{Host: "nobody"}, show))
	require.Empty(t, got)

	ctx, cancel := context.WithCancel(bg)
	seen := make(chan struct{}, 100)
	done := make(chan error, 1)
	go func() {
		done <- Tail(ctx, l.options(srv.url), TailOptions{Follow: true, Last: 3}, func([]byte) error { seen <- struct{}{}; return nil })
	}()
	for range 3 {
		<-seen
	}
	l.add(1)
	require.NoError(t, Inline(bg, l.options(srv.url), 5*time.Second))
	<-seen
	cancel()
	require.NoError(t, <-done)
	enough := errors.New("enough")
	require.ErrorIs(t, Tail(bg, l.options(srv.url), TailOptions{Follow: true}, func([]byte) error { return enough }), enough)
	require.ErrorIs(t, Tail(bg, l.options(srv.url), TailOptions{}, func([]byte) error { return enough }), enough)
}
