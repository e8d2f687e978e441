//go:build e2e && linux

// Package e2e drives the real client against a scripted model on the loopback
// interface: no network and no account. CLAUDE_BIN names the client; without it
// the tests are skipped.
package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runProduct is the binary under trial, built once.
var runProduct = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hooktrail-e2e")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "hooktrail")
	out, err := exec.Command("go", "build", "-o", bin, "hooktrail/cmd/hooktrail").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

// runTurn is what a client made of one Bash call.
type runTurn struct {
	ran  bool   // the command was carried out
	told string // what the model was told of it
}

// runClient lets the client make one Bash call under these settings.
func runClient(t *testing.T, client string, settings any) runTurn {
	t.Helper()
	dir := t.TempDir()
	project, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o700))
	require.NoError(t, os.MkdirAll(project, 0o700))
	b, err := json.Marshal(settings)
	require.NoError(t, err)
	file := filepath.Join(dir, "settings.json")
	require.NoError(t, os.WriteFile(file, b, 0o600))

	model := &runModel{}
	server := httptest.NewServer(model)
	defer server.Close()
	cmd := exec.Command(client, "-p", "go", "--output-format", "stream-json", "--verbose",
		"--permission-mode", "bypassPermissions", "--settings", file)
	cmd.Dir = project
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=dummy-key",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
		"LANG=C.UTF-8", "TERM=dumb",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	late := time.AfterFunc(90*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	out, err := cmd.CombinedOutput()
	late.Stop()
	require.NoError(t, err, string(out))

	model.mu.Lock()
	defer model.mu.Unlock()
	require.NotEmpty(t, model.told, "the model was never told what became of its call")
	_, gone := os.Stat(filepath.Join(project, "marker"))
	return runTurn{ran: gone == nil, told: model.told}
}

// A runModel asks for one Bash call, notes what it is told of it, and ends.
type runModel struct {
	mu   sync.Mutex
	told string
}

func (m *runModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		_, _ = io.WriteString(w, `{"input_tokens":100}`)
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		m.answer(w, body)
	case r.Method == http.MethodHead:
	default:
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"stub"}}`, http.StatusNotFound)
	}
}

type runRequest struct {
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []struct {
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// result returns what the last message says of the call.
func (q *runRequest) result() (string, bool) {
	for _, m := range q.Messages {
		var blocks []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				var text string
				if json.Unmarshal(b.Content, &text) != nil {
					text = string(b.Content)
				}
				return text, true
			}
		}
	}
	return "", false
}

func (m *runModel) answer(w http.ResponseWriter, body []byte) {
	var q runRequest
	_ = json.Unmarshal(body, &q)
	told, done := q.result()
	if done {
		m.mu.Lock()
		m.told = told
		m.mu.Unlock()
	}
	block := map[string]any{"type": "text", "text": ""}
	delta := map[string]any{"type": "text_delta", "text": "done"}
	stop := "end_turn"
	if !done && len(q.Tools) > 0 {
		block = map[string]any{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": `{"command":"touch marker; echo RAN","description":"Touch marker"}`}
		stop = "tool_use"
	}
	usage := map[string]any{"input_tokens": 100, "output_tokens": 10}
	message := map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage}
	if !q.Stream {
		message["content"], message["stop_reason"] = []any{map[string]any{"type": "text", "text": "done"}}, "end_turn"
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []struct {
		name string
		v    map[string]any
	}{
		{"message_start", map[string]any{"message": message}},
		{"content_block_start", map[string]any{"index": 0, "content_block": block}},
		{"content_block_delta", map[string]any{"index": 0, "delta": delta}},
		{"content_block_stop", map[string]any{"index": 0}},
		{"message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage}},
		{"message_stop", map[string]any{}},
	} {
		e.v["type"] = e.name
		b, _ := json.Marshal(e.v)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, b)
	}
}
