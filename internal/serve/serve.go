package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"hooktrail/internal/answer"
)

// A Handler is the flow: it reads one event, records the decision, and returns
// the answer. It must be safe for many calls at once, and bound what it reads.
type Handler func(ctx context.Context, body io.Reader) answer.Reply

// DefaultListen is the address where nothing else is configured.
const DefaultListen = "127.0.0.1:8377"

// Options configure a Server. Handler and Token are needed.
type Options struct {
	Handler Handler
	// Token is what the host must present as "Authorization: Bearer TOKEN".
	Token string

	// Listen is a loopback address. Empty means 127.0.0.1:8377, or none when
	// Socket is set.
	Listen string
	// Socket is the path of a Unix socket, which is made with mode 0600.
	Socket string
	// AllowRemote permits addresses that other machines reach.
	AllowRemote bool
	// MetricsListen serves /metrics, /healthz and /readyz on an address of
	// their own. Empty means beside /hook.
	MetricsListen string

	// MaxCalls is how many calls are worked on at once. Zero means 256; a call
	// beyond that waits for QueueTimeout and is then denied.
	MaxCalls int
	// QueueTimeout is how long a call waits for its turn. Zero means 5 s.
	QueueTimeout time.Duration
	// StopTimeout is how long a stop waits for the calls under way. Zero means
	// 30 s.
	StopTimeout time.Duration

	// Metrics is what /metrics shows and calls count in. Nil counts in one of
	// its own.
	Metrics *Metrics
	// Ready says why no call could be answered now, or nil.
	Ready func() error
	// Warn is told what went wrong and is in no answer. Nil drops it.
	Warn func(string)
	// Now returns the current time. It must not be nil.
	Now func() time.Time
}

// A Server answers hook calls.
type Server struct {
	o         Options
	slots     chan struct{}
	listeners []net.Listener
	servers   []*http.Server
}

// New checks the options and opens the sockets, so that a caller who goes on
// knows that hosts can connect.
func New(o Options) (*Server, error) {
	if o.Handler == nil || o.Now == nil {
		return nil, errors.New("serve: Handler and Now must be set")
	}
	if len(o.Token) < minToken {
		return nil, fmt.Errorf("serve: the token must have at least %d characters", minToken)
	}
	if o.Listen == "" && o.Socket == "" {
		o.Listen = DefaultListen
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = 256
	}
	if o.QueueTimeout <= 0 {
		o.QueueTimeout = 5 * time.Second
	}
	if o.StopTimeout <= 0 {
		o.StopTimeout = 30 * time.Second
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Server{o: o, slots: make(chan struct{}, o.MaxCalls)}
	calls := http.NewServeMux()
	calls.HandleFunc("POST /hook", s.hook)
	side := calls
	if o.MetricsListen != "" {
		side = http.NewServeMux()
	}
	side.HandleFunc("GET /metrics", s.local(s.metrics))
	side.HandleFunc("GET /healthz", s.local(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }))
	side.HandleFunc("GET /readyz", s.local(s.readyz))
	for _, l := range []struct {
		network, addr string
		mux           *http.ServeMux
	}{{"tcp", o.Listen, calls}, {"unix", o.Socket, calls}, {"tcp", o.MetricsListen, side}} {
		if l.addr == "" {
			continue
		}
		if err := s.open(l.network, l.addr, l.mux); err != nil {
			s.closeListeners()
			return nil, err
		}
	}
	return s, nil
}

func (s *Server) open(network, addr string, mux http.Handler) error {
	var (
		ln  net.Listener
		err error
	)
	if network == "unix" {
		ln, err = listenUnix(addr)
	} else {
		if !s.o.AllowRemote && !isLoopback(addr) {
			return fmt.Errorf("serve: %s is no loopback address; other machines could call it", addr)
		}
		ln, err = net.Listen(network, addr)
	}
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	s.listeners = append(s.listeners, ln)
	s.servers = append(s.servers, &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       bodyTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	})
	return nil
}

// Addrs returns the addresses that are listened on.
func (s *Server) Addrs() []string {
	var out []string
	for _, l := range s.listeners {
		out = append(out, l.Addr().String())
	}
	return out
}

// Run answers calls until ctx ends, then takes no more, waits for those under
// way, and returns. Its error says that a socket failed, or that calls were cut
// off because they took longer than StopTimeout.
func (s *Server) Run(ctx context.Context) error {
	failed := make(chan error, len(s.servers))
	for i, srv := range s.servers {
		go func() {
			if err := srv.Serve(s.listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve: %w", err)
			}
		}()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.StopTimeout)
	defer cancel()
	for _, srv := range s.servers {
		if serr := srv.Shutdown(stop); serr != nil {
			_ = srv.Close()
			err = errors.Join(err, fmt.Errorf("serve: calls under way were cut off: %w", serr))
		}
	}
	s.closeListeners() // Shutdown does not know those that Serve has not come to yet
	return err
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// listenUnix opens a socket that only this user can use. A socket that nobody
// answers on is what a killed server left.
func listenUnix(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is there and no socket", path)
		}
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("another server answers on %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	// The folder keeps others out while the socket has its first mode.
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = ln.Close()
		return nil, err
	}
	return ln, nil
}
