//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A call is one tool call that the model makes.
type call struct {
	Tool  string
	Input json.RawMessage // as the model writes it: not every text that is JSON survives a decoder
}

// A turn is one message of the model: calls, or a text that ends the session.
type turn []call

func bash(command string) turn {
	return turn{{"Bash", object(map[string]any{"command": command, "description": "run " + command})}}
}

func write(path string) turn {
	return turn{{"Write", object(map[string]any{"file_path": path, "content": "x"})}}
}

func object(v map[string]any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}

// A told is what the model was told about a call.
type told struct {
	Text  string
	Error bool
}

// A model speaks the Anthropic messages API and says its turns, one a request.
// Requests without tools are the client's own errands (titles, summaries) and
// get a word.
type model struct {
	*httptest.Server
	mu    sync.Mutex
	turns []turn
	asked int
	told  map[string]told // by tool use id
	last  string          // the last conversation that the client sent, as it came
}

func newModel(t *testing.T, turns []turn) *model {
	m := &model{turns: turns, told: map[string]told{}}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	switch {
	case err != nil:
		http.Error(w, "too long", http.StatusBadRequest)
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		_, _ = io.WriteString(w, `{"input_tokens":10}`)
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		m.message(w, body)
	default:
		http.NotFound(w, r)
	}
}

type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

func (m *model) message(w http.ResponseWriter, body []byte) {
	var req request
	_ = json.Unmarshal(body, &req)
	m.listen(req)
	text, calls := "ok", turn(nil)
	id := ""
	if len(req.Tools) > 0 {
		m.mu.Lock()
		if m.asked < len(m.turns) {
			text, calls = "", m.turns[m.asked]
		} else {
			text = "done"
		}
		m.asked++
		id = fmt.Sprintf("msg_%d", m.asked)
		m.last = string(body)
		m.mu.Unlock()
	}
	blocks := []map[string]any{}
	if text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": text})
	}
	for i, c := range calls {
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", id, i), "name": c.Tool, "input": c.Input})
	}
	stop := "end_turn"
	if len(calls) > 0 {
		stop = "tool_use"
	}
	usage := map[string]any{"input_tokens": 10, "output_tokens": 5}
	whole := map[string]any{"id": id, "type": "message", "role": "assistant", "model": req.Model, "content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream(w, whole, blocks, stop)
}

// stream says a message as server-sent events.
func stream(w io.Writer, whole map[string]any, blocks []map[string]any, stop string) {
	send := func(kind string, v map[string]any) {
		v["type"] = kind
		b, _ := json.Marshal(v)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	whole["content"], whole["stop_reason"] = []any{}, nil
	send("message_start", map[string]any{"message": whole})
	for i, b := range blocks {
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			in, _ := json.Marshal(b["input"])
			start = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(in)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 5}})
	send("message_stop", map[string]any{})
}

// listen notes what the client tells the model.
func (m *model) listen(req request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, msg := range req.Messages {
		var blocks []struct {
			Type    string          `json:"type"`
			ID      string          `json:"tool_use_id"`
			Error   bool            `json:"is_error"`
			Content json.RawMessage `json:"content"`
		}
		if msg.Role != "user" || json.Unmarshal(msg.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				m.told[b.ID] = told{flatten(b.Content), b.Error}
			}
		}
	}
}

// flatten returns the text of a result: a string, or blocks of text.
func flatten(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &blocks)
	var all []string
	for _, b := range blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

// result returns what the model was told about call i of turn n, both from 0.
func (m *model) result(n, i int) (told, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.told[fmt.Sprintf("toolu_msg_%d_%d", n+1, i)]
	return r, ok
}
