package serve

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/answer"
	"hooktrail/internal/event"
)

// reads is a flow that reads its event as the real one does, and denies.
func reads(_ context.Context, in io.Reader) answer.Reply {
	_, _ = event.Read(in, event.Limits{Timeout: 50 * time.Millisecond, MaxBytes: 1 << 20})
	return answer.Encode("PreToolUse", answer.Verdict{Decision: answer.Deny, Message: "no"})
}

// raw sends bytes and reads one response. It gives up long before the server's own
// limit for a body is over.
func (r *running) raw(parts ...string) (int, string) {
	r.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	require.NoError(r.t, err)
	defer c.Close() //nolint:errcheck // a test
	require.NoError(r.t, c.SetDeadline(time.Now().Add(10*time.Second)))
	for _, p := range parts {
		_, err = io.WriteString(c, p)
		require.NoError(r.t, err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(r.t, err)
	defer resp.Body.Close() //nolint:errcheck // a test
	b, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(b)
}

func head(token string, length int) string {
	return "POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\nContent-Length: " + strconv.Itoa(length) + "\r\n\r\n"
}

// TestABodyThatNeverEnds: an answer that stands is not kept back until the body's
// own limit is over, since a host that waits less lets the call run.
func TestABodyThatNeverEnds(t *testing.T) {
	r := run(t, Options{Handler: reads})
	for name, body := range map[string]string{"cut": `{"session_id"`, "complete": `{"session_id":"s"}`, "nothing": ""} {
		status, text := r.raw(head(testToken, 1<<20), body)
		require.Equal(t, 200, status, name)
		require.Contains(t, text, `"permissionDecision":"deny"`, name)
	}
	status, _ := r.raw(head("a wrong token, long enough", 1<<20))
	require.Equal(t, 401, status)
}

// TestABodyThatIsTooLong is taken to its end, so that a client that sends all
// before it reads gets its answer.
func TestABodyThatIsTooLong(t *testing.T) {
	r := run(t, Options{Handler: reads})
	const size = 8 << 20
	status, text := r.raw(head(testToken, size), strings.Repeat("x", size))
	require.Equal(t, 200, status)
	require.Contains(t, text, `"permissionDecision":"deny"`)
}

// TestAConnectionIsUsedAgain after calls that read their body, so that the limits
// of one call do not end the next.
func TestAConnectionIsUsedAgain(t *testing.T) {
	r := run(t, Options{Handler: func(ctx context.Context, in io.Reader) answer.Reply {
		reply := reads(ctx, in)
		if ctx.Err() != nil {
			panic("the call was ended")
		}
		return reply
	}})
	for range 3 {
		status, text := r.post("{}")
		require.Equal(t, 200, status)
		require.Contains(t, text, `"permissionDecisionReason":"no"`)
	}
}

// TestAnotherNameOfThisMachine is one that a web page had resolved to it.
func TestAnotherNameOfThisMachine(t *testing.T) {
	r := run(t, Options{})
	for host, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:8377": 200, "localhost:8377": 200, "[::1]:8377": 200, "LOCALHOST": 200,
		"evil.example": 403, "evil.example:8377": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403,
	} {
		for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
			status, _ := r.raw("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
			require.Equal(t, want, status, host+path)
		}
	}
}
