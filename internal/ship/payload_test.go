package ship

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func maxPayload(n int32) func(*server.Options) {
	return func(o *server.Options) { o.MaxPayload = n }
}

// At every size around the limit, headers counted, the server refuses nothing
// and the neighbours arrive whole and in order.
func TestPayloadLimit(t *testing.T) {
	srv := startServer(t, maxPayload(4096))
	str := srv.stream()
	l := newTestLog(t)
	for n := 3000; n < 4300; n += 13 {
		l.addWith(fmt.Sprintf(`,"command":%q`, strings.Repeat("x", n)))
		l.add(1)
	}
	res, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.NotZero(t, res.Shortened)
	require.Less(t, res.Shortened, res.Acked/2)
	msgs := stored(t, str)
	require.Equal(t, l.ids, storedIDs(t, str))
	for i, m := range msgs {
		if i%2 == 1 {
			require.False(t, gjson.GetBytes(m.Data, "truncated").Exists())
		}
		if short := gjson.GetBytes(m.Data, "truncated").Bool(); short {
			require.Len(t, m.Header.Get("Hooktrail-Original-Sha256"), 64)
			require.Greater(t, len(m.Data), 3700)
		} else {
			require.Empty(t, m.Header.Get("Hooktrail-Original-Sha256"))
		}
	}
}

func TestServerThatTakesOneKilobyte(t *testing.T) {
	srv := startServer(t, maxPayload(1024))
	str := srv.stream()
	l := newTestLog(t)
	l.addWith(`,"command":"` + strings.Repeat("x", 5000) + `","cwd":"/` + strings.Repeat("d", 800) + `","input":{"bytes":5000,"hmac":"` + strings.Repeat("a", 64) + `","truncated":true}`)
	l.add(1)
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.Equal(t, l.ids, storedIDs(t, str))
	require.True(t, gjson.GetBytes(stored(t, str)[0].Data, "truncated").Bool())
}

// tinyServer takes messages of 256 bytes. The stream was made before, by requests
// that are larger than that.
func tinyServer(t *testing.T) *testServer {
	t.Helper()
	first := startServer(t)
	first.stream()
	first.s.Shutdown()
	first.s.WaitForShutdown()
	return startServer(t, maxPayload(256), func(o *server.Options) { o.StoreDir = first.opts.StoreDir })
}

func TestServerTooSmallForAnyEvent(t *testing.T) {
	srv := tinyServer(t)
	l := newTestLog(t)
	l.add(3)
	n := &notes{}
	o := l.options(srv.url)
	o.Note = n.note
	res, err := Run(bg, o)
	require.NoError(t, err)
	require.EqualValues(t, 3, res.Left)
	require.Len(t, n.list(), 1)
	require.Contains(t, n.list()[0], "3 events are too large")
	// It is not tried for ever, and it stays visible.
	res, err = Run(bg, o)
	require.NoError(t, err)
	require.Zero(t, res.Left)
	st, err := ReadStatus(o)
	require.NoError(t, err)
	require.EqualValues(t, 3, st.Left)
}

// A note about what was left is left itself: it must not cause another one.
func TestLeftNotesDoNotFeedThemselves(t *testing.T) {
	srv := tinyServer(t)
	l := newTestLog(t)
	l.add(1)
	o := l.options(srv.url)
	calls := 0
	o.Note = nil
	o.Note = noteInto(l, &calls)
	_, err := Run(bg, o)
	require.NoError(t, err)
	require.Equal(t, 1, calls)
}

// The stream's own limit is not told in advance: the refusal comes for the one
// message.
func TestStreamLimitForOneMessage(t *testing.T) {
	srv := startServer(t)
	str := srv.stream(func(c *jetstream.StreamConfig) { c.MaxMsgSize = 2048 })
	l := newTestLog(t)
	l.add(2)
	l.addWith(`,"command":"` + strings.Repeat("x", 5000) + `"`)
	l.add(2)
	res, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.EqualValues(t, 5, res.Acked)
	require.EqualValues(t, 1, res.Shortened)
	require.ElementsMatch(t, l.ids, storedIDs(t, str))
}
