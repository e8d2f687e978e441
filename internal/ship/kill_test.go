package ship

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// The test binary is also the server and the shipper that are killed.
func TestMain(m *testing.M) {
	switch os.Getenv("HOOKTRAIL_TEST_ROLE") {
	case "server":
		port, _ := strconv.Atoi(os.Getenv("HOOKTRAIL_TEST_PORT"))
		s, err := server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: os.Getenv("HOOKTRAIL_TEST_DIR"),
			SyncAlways: true, NoLog: true, NoSigs: true,
		})
		if err != nil {
			panic(err)
		}
		s.Start()
		fmt.Println(s.ReadyForConnections(10 * time.Second))
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the test
		os.Exit(0)
	case "ship":
		_, err := Follow(context.Background(), Options{
			Log: os.Getenv("HOOKTRAIL_TEST_DIR"), Conn: Conn{URL: os.Getenv("HOOKTRAIL_TEST_URL")},
			Now: time.Now, Poll: 5 * time.Millisecond, Window: 16,
		}, func(error) {})
		fmt.Println(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
}

func startRole(t *testing.T, role string, env ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(append(os.Environ(), "HOOKTRAIL_TEST_ROLE="+role), env...)
	in, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	p.stdin = in
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}

func startServerProcess(t *testing.T, port int, dir string) *process {
	t.Helper()
	p := startRole(t, "server", "HOOKTRAIL_TEST_PORT="+strconv.Itoa(port), "HOOKTRAIL_TEST_DIR="+dir)
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "true", strings.TrimSpace(line))
	return p
}

// rounds is how often a random moment is tried.
func rounds(t *testing.T) int {
	if testing.Short() {
		return 2
	}
	if n, err := strconv.Atoi(os.Getenv("HOOKTRAIL_TEST_ROUNDS")); err == nil {
		return n
	}
	return 4
}

func streamAt(t *testing.T, url string) jetstream.Stream {
	t.Helper()
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	str, err := js.Stream(bg, DefaultStream)
	require.NoError(t, err)
	return str
}

// 60 hooks around a kill -9 of the server, at a random moment.
func TestServerKilledUnderHooks(t *testing.T) {
	for round := range rounds(t) {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			dir, port, l := t.TempDir(), freePort(t), newTestLog(t)
			url := fmt.Sprintf("nats://127.0.0.1:%d", port)
			srv := startServerProcess(t, port, dir)
			_, _, err := CreateStream(bg, l.options(url), StreamSpec{})
			require.NoError(t, err)
			killAt := rand.IntN(50)
			backAt := killAt + 1 + rand.IntN(9)
			for i := range 60 {
				if i == backAt {
					srv = startServerProcess(t, port, dir)
				}
				l.add(1)
				if i == killAt { // while the hook ships
					dying := srv
					time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = dying.cmd.Process.Kill() })
				}
				start := time.Now()
				_ = Inline(bg, l.options(url), 50*time.Millisecond)
				require.Less(t, time.Since(start), 2*time.Second)
				if i == killAt {
					srv.kill()
				}
			}
			_, err = Run(bg, l.options(url))
			require.NoError(t, err)
			require.ElementsMatch(t, l.ids, storedIDs(t, streamAt(t, url)))
		})
	}
}

// ship --follow is killed at random moments while the log grows.
func TestShipperKilled(t *testing.T) {
	srv := startServer(t)
	str := srv.stream()
	l := newTestLog(t)
	env := []string{"HOOKTRAIL_TEST_DIR=" + l.path, "HOOKTRAIL_TEST_URL=" + srv.url}
	for range rounds(t) * 2 {
		p := startRole(t, "ship", env...)
		for range 20 {
			l.add(20)
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // the moment is what is tried
		}
		p.kill()
	}
	_, err := Run(bg, l.options(srv.url))
	require.NoError(t, err)
	require.Equal(t, l.ids, storedIDs(t, str))
}
