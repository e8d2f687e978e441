package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/answer"
	"hooktrail/internal/reason"
)

// maxBody bounds what a call may send, beyond the handler's own limit: a body
// that is longer is cut there, and the flow finds it broken.
const maxBody = 256 << 20

// bodyTimeout is how long a call may take to send its event, and restTimeout how
// long what is left of it is awaited when the answer stands.
const (
	bodyTimeout = 15 * time.Second
	restTimeout = time.Second
)

// An upload is a body that tells whether its end was read.
type upload struct {
	r     io.Reader
	ended atomic.Bool
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if errors.Is(err, io.EOF) {
		u.ended.Store(true)
	}
	return n, err
}

// hook answers POST /hook.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	if !authorised(r.Header.Values("Authorization"), s.o.Token) {
		s.o.Metrics.refused("token")
		_ = rc.SetReadDeadline(s.o.Now().Add(restTimeout))
		w.Header().Set("Connection", "close")
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "hooktrail: missing or wrong token", http.StatusUnauthorized)
		return
	}
	started := s.o.Now()
	in := &upload{r: r.Body}
	reply := s.answer(r.Context(), in)
	s.o.Metrics.answered(s.o.Now().Sub(started), reply.Blocked)
	if !in.ended.Load() {
		// The server writes nothing while the body is being read. And a client that
		// still sends when the connection is closed may not look for the answer.
		_ = rc.SetReadDeadline(s.o.Now().Add(restTimeout))
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxBody))
		w.Header().Set("Connection", "close")
	}
	body := body(reply)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store")
	_ = rc.SetWriteDeadline(s.o.Now().Add(bodyTimeout))
	w.WriteHeader(http.StatusOK)
	if _, err := w.Write(body); err != nil {
		s.o.Warn("the answer did not reach the host: " + err.Error())
	}
}

// answer runs the flow in its turn. It has no error: whatever goes wrong is a
// deny.
func (s *Server) answer(ctx context.Context, in io.Reader) (reply answer.Reply) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Metrics.refused("panic")
			s.o.Warn(fmt.Sprintf("panic: %v", p))
			reply = deny("hooktrail failed inside. The call was stopped before anything was changed.")
		}
	}()
	if !s.turn(ctx) {
		s.o.Metrics.refused("overload")
		s.o.Warn("a call was denied because too many were under way")
		return deny("hooktrail has too many calls to answer. The call was stopped before anything was changed; try it again.")
	}
	defer func() { <-s.slots }()
	reply = s.o.Handler(ctx, io.LimitReader(in, maxBody))
	if reply.Stderr != "" && len(reply.Stdout) == 0 {
		s.o.Warn(reply.Stderr)
	}
	return reply
}

// turn waits for a free slot.
func (s *Server) turn(ctx context.Context) bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	t := time.NewTimer(s.o.QueueTimeout)
	defer t.Stop()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// body makes the HTTP body of a reply. Where the command line would block by its
// status alone, the same is said in JSON.
func body(r answer.Reply) []byte {
	if len(r.Stdout) > 0 || !r.Blocked {
		return r.Stdout
	}
	text, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(r.Stderr, "\uFFFD"))
	if err != nil {
		text = []byte(`"blocked by hooktrail"`)
	}
	return append(append([]byte(`{"decision":"block","reason":`), text...), '}')
}

// deny is the answer when there is no flow to ask.
func deny(why string) answer.Reply {
	return answer.Encode("", answer.Verdict{Decision: answer.Deny, Code: reason.AuditUnavailable, Message: why})
}

// local answers only requests that name an address of this machine, or localhost.
// Another name is one that a web page has had resolved to here, to read what is for
// this machine's users.
func (s *Server) local(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.Trim(host, "[]")
		tcp, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if tcp != nil && !s.o.AllowRemote && !strings.EqualFold(host, "localhost") && net.ParseIP(host) == nil {
			http.Error(w, "hooktrail: "+strconv.Quote(host)+" is not how this server is called", http.StatusForbidden)
			return
		}
		h(w, r)
	}
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.o.Metrics.Write(w)
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.o.Ready != nil {
		if err := s.o.Ready(); err != nil {
			http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	_, _ = io.WriteString(w, "ok\n")
}
