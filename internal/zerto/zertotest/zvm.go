package zertotest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options configure a ZVM.
type Options struct {
	// Now returns the real time, or that of a test. It must not be nil.
	Now func() time.Time

	// Speed is how many times faster the simulated clock runs. Zero means 1.
	Speed float64
}

// A ZVM is a simulated Zerto Virtual Manager. It is an http.Handler.
type ZVM struct {
	o     Options
	start time.Time

	mu       sync.Mutex
	w        World
	tokens   map[string]time.Time // token or session -> its end
	noScope  map[string]bool
	posts    []Post
	requests []Request
	hits     map[int]int // calls that a fault has met
	calls    int
	revoked  bool
}

// A Post is one request for a tag that was taken.
type Post struct {
	VPG, Tag, Task string
	At             time.Time // all by the simulator's clock
	Lands          time.Time // when the journal takes it; zero if it never does
	Listed         time.Time // when the list shows it; zero if it never does
}

// A Request is one HTTP request that came in.
type Request struct {
	Method, Path, Query string
	At                  time.Time
}

// New returns a ZVM for a copy of w.
func New(w World, o Options) *ZVM {
	if o.Speed <= 0 {
		o.Speed = 1
	}
	w.Groups = slices.Clone(w.Groups)
	w.fill()
	return &ZVM{o: o, w: w, start: o.Now(), tokens: map[string]time.Time{}, noScope: map[string]bool{}, hits: map[int]int{}}
}

// Now is the simulated time. A client that shares it waits as long as it would
// with a live ZVM, Speed times faster.
func (z *ZVM) Now() time.Time {
	now := z.o.Now()
	return z.start.Add(time.Duration(float64(now.Sub(z.start)) * z.o.Speed))
}

// Posts returns the requests for tags so far.
func (z *ZVM) Posts() []Post {
	z.mu.Lock()
	defer z.mu.Unlock()
	return slices.Clone(z.posts)
}

// Requests returns all requests so far.
func (z *ZVM) Requests() []Request {
	z.mu.Lock()
	defer z.mu.Unlock()
	return slices.Clone(z.requests)
}

// Logins counts the requests for a token or session so far.
func (z *ZVM) Logins() int {
	n := 0
	for _, r := range z.Requests() {
		if r.Method == http.MethodPost && (strings.HasSuffix(r.Path, "/token") || strings.HasSuffix(r.Path, "/session/add")) {
			n++
		}
	}
	return n
}

// Change changes the world while it runs.
func (z *ZVM) Change(f func(*World)) {
	z.mu.Lock()
	defer z.mu.Unlock()
	f(&z.w)
	z.w.fill()
}

// Listen serves the ZVM on a free port of the loopback address until stop is
// called.
func (z *ZVM) Listen(ctx context.Context) (url string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	return "http://" + l.Addr().String(), z.serve(l), nil
}

func (z *ZVM) serve(l net.Listener) (stop func()) {
	s := &http.Server{Handler: z, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // it ends with Close
	}()
	return func() {
		_ = s.Close()
		<-done
	}
}

// Pipe serves the ZVM without a network, so that it works under a virtual clock.
// The dial function goes into the client's transport.
func (z *ZVM) Pipe() (dial func(ctx context.Context, network, addr string) (net.Conn, error), stop func()) {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	return l.dial, z.serve(l)
}

// pipes is a listener whose connections are made in memory.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, errors.New("the simulator has stopped")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "simulator", Net: "pipe"} }
