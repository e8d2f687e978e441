package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"hooktrail/internal/settings"
)

// post gives the event to the installed URL, with the headers that the host
// would send.
func (e ours) post(ctx context.Context, o Options, event []byte) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, feedLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.own.URL, bytes.NewReader(event))
	if err != nil {
		return outcome{}, fmt.Errorf("the installed URL is none: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range e.own.Headers {
		value, missing := filledIn(value, e.own.Variables, o.Env)
		if missing != "" {
			return outcome{}, fmt.Errorf("the entry sends $%s, which is not set here; it must be where the host starts", missing)
		}
		req.Header.Set(name, value)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return outcome{}, fmt.Errorf("no answer from %s within %v", e.own.URL, feedLimit)
		}
		return outcome{}, fmt.Errorf("the server cannot be asked: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return outcome{}, fmt.Errorf("the answer of %s breaks off: %w", e.own.URL, err)
	}
	got := outcome{answer: body, said: oneLine(body), blocks: denies(body)}
	if resp.StatusCode != http.StatusOK {
		got.blocks, got.strange = false, fmt.Sprintf("HTTP %d, on which the host lets calls run: %s", resp.StatusCode, got.said)
	}
	return got, nil
}

// filledIn puts variables into a header's value as the host does: only those
// that the entry lists.
func filledIn(value string, allowed, env []string) (filled, missing string) {
	filled = os.Expand(value, func(name string) string {
		if !slices.Contains(allowed, name) {
			return ""
		}
		for _, v := range slices.Backward(env) {
			if text, ok := strings.CutPrefix(v, name+"="); ok {
				if text == "" {
					missing = name
				}
				return text
			}
		}
		missing = name
		return ""
	})
	return filled, missing
}

// denies tells whether an answer over HTTP stops a call.
func denies(body []byte) bool {
	n, err := settings.Parse(body)
	if err != nil || !n.IsObject() {
		return false
	}
	is := func(n *settings.Node, word string) bool { return n != nil && n.IsString() && n.Text == word }
	return is(n.Get("hookSpecificOutput").Get("permissionDecision"), "deny") || is(n.Get("decision"), "block")
}
