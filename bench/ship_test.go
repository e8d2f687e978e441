package bench

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/ship"
)

// shipEvents is the length of the cold log.
const shipEvents = 100_000

// coldLog writes a log of n events and returns its path and lines.
func coldLog(b *testing.B, n int) (path string, lines [][]byte) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "audit.jsonl")
	f, err := os.Create(path)
	require.NoError(b, err)
	w := bufio.NewWriterSize(f, 1<<20)
	prev := ""
	for i := range n {
		line := fmt.Appendf(nil, `{"time":%q,"eventId":%q,"seq":%d,"prev":%q,"schemaVersion":1,"product":"hooktrail/bench","host":"box1","user":"u","kind":"invocation","sessionId":"0f7b2c1e-0000-4000-8000-000000000001","toolUseId":"toolu_%024d","hookEvent":"PreToolUse","permissionMode":"default","cwd":"/home/u/project","tool":"Bash","command":"go test ./...","input":{"bytes":42,"hmac":%q,"truncated":false},"layer":"guard","decision":"allowed","reason":"guard_unguarded","message":"The tool is outside the guard's scope.","hookName":"hooktrail","onFailure":"block","exitCode":0,"timedOut":false,"gate":"allow","durationMs":3}`,
			time.Now().UTC().Format(time.RFC3339Nano), uuid.Must(uuid.NewV7()).String(), i+1, prev, i, prev)
		sum := sha256.Sum256(line)
		prev = hex.EncodeToString(sum[:])
		lines = append(lines, line)
		_, _ = w.Write(line)
		_ = w.WriteByte('\n')
	}
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
	return path, lines
}

// natsWithStream starts a server with an empty stream. It syncs as servers do
// unless they are told otherwise: with a sync for each message, which is what
// serve --embedded-nats does, the disk is all that would be measured.
func natsWithStream(b *testing.B) (url string) {
	b.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: b.TempDir(), NoLog: true, NoSigs: true,
	})
	require.NoError(b, err)
	srv.Start()
	b.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	require.True(b, srv.ReadyForConnections(10*time.Second))
	_, _, err = ship.CreateStream(context.Background(), ship.Options{Log: "-", Conn: ship.Conn{URL: srv.ClientURL()}, Now: time.Now}, ship.StreamSpec{})
	require.NoError(b, err)
	return srv.ClientURL()
}

// BenchmarkShip ships a cold log of 100,000 events. It reports messages a second
// and the most memory that was live in between.
func BenchmarkShip(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		path, _ := coldLog(b, shipEvents)
		url := natsWithStream(b)
		stop := peak()
		b.StartTimer()
		start := time.Now()
		res, err := ship.Run(context.Background(), ship.Options{Log: path, Conn: ship.Conn{URL: url}, Now: time.Now})
		b.ReportMetric(shipEvents/time.Since(start).Seconds(), "msgs/s")
		b.ReportMetric(float64(stop())/(1<<20), "peak-MB")
		require.NoError(b, err)
		require.EqualValues(b, shipEvents, res.Acked)
	}
}

// BenchmarkPlainPublisher publishes the same lines from memory, asynchronously,
// as fast as the library does it, with the same headers.
func BenchmarkPlainPublisher(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		_, lines := coldLog(b, shipEvents)
		url := natsWithStream(b)
		nc, err := nats.Connect(url)
		require.NoError(b, err)
		js, err := jetstream.New(nc)
		require.NoError(b, err)
		b.StartTimer()
		start := time.Now()
		for i, line := range lines {
			_, err := js.PublishMsgAsync(&nats.Msg{
				Subject: "hooktrail.audit.v1.box1.guard.allowed", Data: line,
				Header: nats.Header{"Nats-Msg-Id": {fmt.Sprint("m", i)}, "Nats-Expected-Stream": {"HOOKTRAIL_AUDIT"}},
			}, jetstream.WithStallWait(time.Minute))
			require.NoError(b, err)
		}
		<-js.PublishAsyncComplete()
		b.ReportMetric(shipEvents/time.Since(start).Seconds(), "msgs/s")
		nc.Close()
	}
}

// peak samples the live heap until it is stopped.
func peak() (stop func() uint64) {
	runtime.GC()
	done := make(chan struct{})
	var most uint64
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(20 * time.Millisecond)
		defer t.Stop()
		var m runtime.MemStats
		for {
			select {
			case <-done:
				return
			case <-t.C:
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	})
	return func() uint64 { close(done); wg.Wait(); return most }
}
