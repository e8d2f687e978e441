package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/natsd"
)

// A shell runs commands with an environment of its own.
type shell struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	return &shell{t: t, dir: dir, env: map[string]string{"HOME": dir, "HOOKTRAIL_LOG": filepath.Join(dir, "audit.jsonl")}}
}

func (sh *shell) stdio(in string, out, errs io.Writer) *Stdio {
	return &Stdio{
		In: strings.NewReader(in), Out: out, Err: errs,
		Getenv: func(n string) string { return sh.env[n] }, Environ: func() []string { return nil }, Now: time.Now,
	}
}

func (sh *shell) run(in string, args ...string) (status int, out, errs string) {
	sh.t.Helper()
	var o, e bytes.Buffer
	status = Main(context.Background(), args, sh.stdio(in, &o, &e))
	return status, o.String(), e.String()
}

const bashEvent = `{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"go test ./..."},"tool_use_id":"toolu_1"}`

// tokenServer starts a server with a stream's worth of disk and puts it into the
// shell's environment.
func (sh *shell) tokenServer() {
	sh.t.Helper()
	srv, err := natsd.Start(natsd.Options{Dir: filepath.Join(sh.dir, "nats"), Listen: "127.0.0.1:0", Token: "SECRETtoken-0123456789"})
	require.NoError(sh.t, err)
	sh.t.Cleanup(srv.Stop)
	sh.env["HOOKTRAIL_NATS_URL"] = strings.Replace(srv.URL(), "nats://", "nats://SECRETtoken-0123456789@", 1)
}

func TestShipCommand(t *testing.T) {
	sh := newShell(t)
	status, _, errs := sh.run("", "ship")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "HOOKTRAIL_NATS_URL")

	sh.tokenServer()
	status, _, errs = sh.run("", "ship")
	require.Equal(t, 2, status) // no log: never taken for "all is shipped"
	require.Contains(t, errs, "audit.jsonl")

	status, _, _ = sh.run(bashEvent, "hook") // there is no stream yet
	require.Equal(t, 0, status)
	status, _, errs = sh.run("", "ship")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "--create-stream")
	status, out, _ := sh.run("", "ship", "--status")
	require.Equal(t, 1, status)
	require.Contains(t, out, "failing   since")

	status, out, _ = sh.run("", "ship", "--create-stream")
	require.Equal(t, 0, status)
	require.Equal(t, "stream HOOKTRAIL_AUDIT made\n", out)
	status, out, _ = sh.run("", "ship", "--create-stream")
	require.Equal(t, 0, status)
	require.Equal(t, "stream HOOKTRAIL_AUDIT is there already\n", out)

	status, out, errs = sh.run("", "ship")
	require.Equal(t, 0, status, errs)
	require.Regexp(t, `^\d events acknowledged\n$`, out)
	status, out, _ = sh.run("", "ship", "--status", "--json")
	require.Equal(t, 0, status)
	var st struct {
		Written, Shipped, Backlog, Acked float64
		Trouble                          *struct{}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &st))
	require.Zero(t, st.Backlog)
	require.Nil(t, st.Trouble)
	require.Equal(t, st.Written, st.Shipped)

	// The hook ships by itself now, and says nothing of it.
	status, out, errs = sh.run(bashEvent, "hook")
	require.Equal(t, 0, status)
	require.Empty(t, out+errs)
	status, out, _ = sh.run("", "verify", "--nats")
	require.Equal(t, 0, status, out)
	require.Contains(t, out, "stream ok: ")

	status, out, errs = sh.run("", "tail", "--nats", "-n", "1", "--where", "kind=invocation")
	require.Equal(t, 0, status, errs)
	require.Equal(t, 1, strings.Count(out, "\n"))
	require.Contains(t, out, `"toolUseId":"toolu_1"`)

	// A tail that was cut is found against the stream.
	log := sh.env["HOOKTRAIL_LOG"]
	_, _, errs = sh.run("", "ship")
	require.Empty(t, errs)
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	cut := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	require.NoError(t, os.Truncate(log, int64(cut)))
	status, out, _ = sh.run("", "verify", "--nats", "--json")
	require.Equal(t, 1, status)
	require.Contains(t, out, `"kind":"cut_tail"`)
}

func TestShipMasksPasswords(t *testing.T) {
	for _, url := range []string{
		"nats://u:SECRETpw@127.0.0.1:1", "nats://SECRETpw@127.0.0.1:1", "nats://u:SECRETpw/x@127.0.0.1:1",
		"nats://u:SECRETpw%zz@h:1", "http://u:SECRETpw@h", "::SECRETpw",
	} {
		sh := newShell(t)
		sh.env["HOOKTRAIL_NATS_URL"] = url
		status, out, errs := sh.run(bashEvent, "hook")
		require.Equal(t, 0, status)
		require.Empty(t, out+errs)
		for _, args := range [][]string{{"ship"}, {"ship", "--create-stream"}, {"verify", "--nats"}} {
			status, o, e := sh.run("", args...)
			require.Equal(t, 2, status, args)
			out, errs = out+o, errs+e
		}
		_, o, e := sh.run("", "ship", "--status")
		require.NotContains(t, out+errs+o+e, "SECRET")
		for _, f := range []string{"audit.jsonl", "ship.cursor"} {
			b, err := os.ReadFile(filepath.Join(sh.dir, f))
			require.NoError(t, err)
			require.NotContains(t, string(b), "SECRET")
		}
	}
}

// syncBuffer is a buffer that a running command writes and a test reads.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestServeCommand(t *testing.T) {
	sh := newShell(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out, errs syncBuffer
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--embedded-nats"}, sh.stdio("", &out, &errs))
	}()
	listens := regexp.MustCompile(`listens on (127\.0\.0\.1:\d+)`)
	require.Eventually(t, func() bool { return listens.MatchString(errs.String()) }, 20*time.Second, 10*time.Millisecond, errs.String())
	url := "http://" + listens.FindStringSubmatch(errs.String())[1]
	token, err := os.ReadFile(filepath.Join(sh.dir, "serve.token"))
	require.NoError(t, err)
	client := &http.Client{Timeout: 20 * time.Second}
	post := func(body, token string) (int, string) {
		req, err := http.NewRequest(http.MethodPost, url+"/hook", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close() //nolint:errcheck // a test
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(b)
	}
	status, body := post(bashEvent, strings.TrimSpace(string(token)))
	require.Equal(t, 200, status)
	require.Empty(t, body)
	status, body = post("not an event", strings.TrimSpace(string(token)))
	require.Equal(t, 200, status)
	require.Contains(t, body, `"permissionDecision":"deny"`)
	status, _ = post(bashEvent, "wrong")
	require.Equal(t, 401, status)
	require.Eventually(t, func() bool {
		_, text, _ := sh.run("", "ship", "--status")
		return strings.Contains(text, "backlog   0\n") && strings.Contains(text, "shipper   at work\n")
	}, 20*time.Second, 20*time.Millisecond)
	cancel()
	require.Equal(t, 0, <-done)
	b, err := os.ReadFile(sh.env["HOOKTRAIL_LOG"])
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(b, []byte(`"kind":"invocation"`)))
	require.Empty(t, out.String())
	require.NotContains(t, errs.String(), strings.TrimSpace(string(token)))

	for _, args := range [][]string{
		{"--listen", "0.0.0.0:0"}, {"extra"}, {"--nats-dir", "x"}, {"--embedded-nats", "--nats-listen", "0.0.0.0:4222"},
	} {
		status, _, _ := sh.run("", append([]string{"serve"}, args...)...)
		require.Equal(t, 2, status, args)
	}
}
