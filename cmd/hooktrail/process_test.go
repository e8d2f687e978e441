package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
	"hooktrail/internal/natsd"
)

const natsToken = "process-test-token"

// natsServer is the test binary as a nats-server of its own, to be killed. It
// ends with its standard input, so that no test leaves it behind.
func natsServer() {
	_, err := natsd.Start(natsd.Options{Dir: os.Args[1], Listen: os.Args[2], Token: natsToken})
	fmt.Println("ready", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// A place is a folder with a configuration, a log, and an environment that knows
// of nothing else.
type place struct {
	t    *testing.T
	dir  string
	log  string
	nats string // URL; empty ships nothing
}

const placeConfig = `{"guard": {"scope": ["mcp__*"], "rules": [
 {"tools": ["mcp__lab__list"], "class": "readOnly"},
 {"tools": ["mcp__lab__erase"], "class": "deny"}]}}`

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(placeConfig), 0o600))
	return &place{t: t, dir: dir, log: filepath.Join(dir, "audit.jsonl")}
}

// command is a real process of the program: the test binary under its name, or
// the binary that HOOKTRAIL_TEST_BIN names.
func (p *place) command(args ...string) *exec.Cmd {
	p.t.Helper()
	bin := os.Getenv("HOOKTRAIL_TEST_BIN")
	if bin == "" {
		var err error
		bin, err = os.Executable()
		require.NoError(p.t, err)
	}
	// The race detector would hold each process for a second at its end.
	env := []string{"GORACE=atexit_sleep_ms=0", "HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "HOOKTRAIL_LOG=" + p.log, "HOOKTRAIL_CONFIG=" + filepath.Join(p.dir, "config.json")}
	if p.nats != "" {
		env = append(env, "HOOKTRAIL_NATS_URL="+p.nats)
	}
	return &exec.Cmd{Path: bin, Args: append([]string{"hooktrail"}, args...), Env: env}
}

// An outcome is all that a host sees of a process.
type outcome struct {
	stdout, stderr string
	status         int
}

func (p *place) run(stdin string, args ...string) outcome {
	p.t.Helper()
	cmd := p.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	return outcome{out.String(), errs.String(), status(err)}
}

// events returns the log's events, oldest first, after the chain was checked.
func (p *place) events() []audit.Event {
	p.t.Helper()
	report, err := audit.Verify(context.Background(), p.log)
	require.NoError(p.t, err)
	require.True(p.t, report.Sound(), "%v", report.Findings)
	f, err := os.Open(p.log)
	require.NoError(p.t, err)
	defer f.Close() //nolint:errcheck // only read
	var all []audit.Event
	require.NoError(p.t, audit.Scan(f, func(l audit.Line) error {
		e, err := audit.Decode(l.Bytes)
		all = append(all, e)
		return err
	}))
	return all
}

// stream returns the ids of the messages in the stream, in its order.
func (p *place) stream() []string {
	p.t.Helper()
	nc, err := nats.Connect(p.nats)
	require.NoError(p.t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(p.t, err)
	ctx := context.Background()
	str, err := js.Stream(ctx, "HOOKTRAIL_AUDIT")
	require.NoError(p.t, err)
	info, err := str.Info(ctx)
	require.NoError(p.t, err)
	var ids []string
	for n := info.State.FirstSeq; n <= info.State.LastSeq; n++ {
		m, err := str.GetMsg(ctx, n)
		require.NoError(p.t, err)
		ids = append(ids, m.Header.Get("Nats-Msg-Id"))
	}
	return ids
}

// requireShipped requires that the stream hold every event of the log, once.
func (p *place) requireShipped() {
	p.t.Helper()
	var want []string
	for _, e := range p.events() {
		want = append(want, e.EventID)
	}
	require.ElementsMatch(p.t, want, p.stream())
}

// A natsProcess is a nats-server that can be killed and started again on the
// same address and folder.
type natsProcess struct {
	t         *testing.T
	dir, addr string
	cmd       *exec.Cmd
	ready     chan error
}

// newNATS starts a server and makes the stream.
func newNATS(p *place) *natsProcess {
	p.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	n := &natsProcess{t: p.t, dir: filepath.Join(p.dir, "nats"), addr: ln.Addr().String()}
	require.NoError(p.t, ln.Close())
	p.nats = "nats://" + natsToken + "@" + n.addr
	n.start()
	n.wait()
	made := p.run("", "ship", "--create-stream")
	require.Zero(p.t, made.status, made.stderr)
	return n
}

// start starts the server and does not wait for it.
func (n *natsProcess) start() {
	n.t.Helper()
	self, err := os.Executable()
	require.NoError(n.t, err)
	cmd := &exec.Cmd{Path: self, Args: []string{"nats-server", n.dir, n.addr}, Env: os.Environ()}
	stdin, err := cmd.StdinPipe()
	require.NoError(n.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(n.t, err)
	require.NoError(n.t, cmd.Start())
	n.cmd, n.ready = cmd, make(chan error, 1)
	ready := n.ready
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil && line != "ready <nil>\n" {
			err = fmt.Errorf("nats-server: %s", line)
		}
		ready <- err
	}()
	n.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = stdin.Close()
		_ = cmd.Wait()
	})
}

func (n *natsProcess) wait() {
	n.t.Helper()
	require.NoError(n.t, <-n.ready)
}

// A service is a process that goes on until it is told to stop.
type service struct {
	t   *testing.T
	cmd *exec.Cmd
	out lines
	end chan error
}

// lines is what a process has said so far.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (p *place) start(args ...string) *service {
	p.t.Helper()
	s := &service{t: p.t, cmd: p.command(args...), end: make(chan error, 1)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	require.NoError(p.t, s.cmd.Start())
	go func() { s.end <- s.cmd.Wait() }()
	p.t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// status waits for the end, and returns the exit status.
func (s *service) status() int {
	s.t.Helper()
	select {
	case err := <-s.end:
		return status(err)
	case <-time.After(60 * time.Second):
		require.Fail(s.t, "the process did not end", s.out.String())
		return -1
	}
}

func status(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

// number reads a count from the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}
