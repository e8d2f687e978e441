package ship

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hooktrail/internal/regular"
)

// InProcess is an embedded server.
type InProcess = nats.InProcessConnProvider

// A link is a connection that lives until its first fault. It never reconnects:
// what a lost connection held is known by its acknowledgements only, so a new
// start from the cursor is the one way on.
type link struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	secrets []string

	mu     sync.Mutex
	dialed error         // of the last address that was tried
	cause  error         // what the server said outside of any request
	failed chan struct{} // closed when cause is set or the connection ended
	once   sync.Once
}

// dial connects within ctx and c.ConnectTimeout. Errors hold no secrets.
func dial(ctx context.Context, c Conn) (*link, error) {
	l := &link{failed: make(chan struct{}), secrets: secretsOf(c.URL)}
	opts, urls, err := l.options(ctx, c)
	if err != nil {
		return nil, err
	}
	type result struct {
		nc  *nats.Conn
		err error
	}
	// The library takes no context, and a handshake with several servers has
	// no bound of its own: whoever waits here waits no longer than ctx.
	done := make(chan result, 1)
	go func() {
		nc, err := nats.Connect(strings.Join(urls, ","), opts...)
		done <- result{nc, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, l.clean("connect to NATS", l.unreachable(r.err))
		}
		l.nc = r.nc
	case <-ctx.Done():
		go func() {
			if r := <-done; r.nc != nil {
				r.nc.Close()
			}
		}()
		return nil, fmt.Errorf("connect to NATS: %w", ctx.Err())
	}
	if l.js, err = jetstream.New(l.nc, jetstream.WithPublishAsyncMaxPending(1<<16)); err != nil {
		l.nc.Close()
		return nil, l.clean("connect to NATS", err)
	}
	return l, nil
}

func (l *link) options(ctx context.Context, c Conn) ([]nats.Option, []string, error) {
	timeout := c.ConnectTimeout
	if d, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(d), time.Millisecond))
	}
	opts := []nats.Option{
		nats.Name("hooktrail ship"),
		nats.Timeout(timeout),
		nats.NoReconnect(),
		nats.SkipHostLookup(), // the dialer looks names up, within the timeout
		nats.SetCustomDialer(dialer{ctx, timeout, l}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.fail(err) }),
		nats.ClosedHandler(func(nc *nats.Conn) {
			err := nc.LastError()
			if err == nil {
				err = nats.ErrConnectionClosed
			}
			l.fail(err)
		}),
	}
	auth, err := l.auth(c)
	if err != nil {
		return nil, nil, err
	}
	opts = append(opts, auth...)
	if c.InProcess != nil {
		return append(opts, nats.InProcessServer(c.InProcess)), nil, nil
	}
	urls, err := servers(c.URL)
	if err != nil {
		return nil, nil, err
	}
	if c.CAFile != "" {
		opts = append(opts, nats.RootCAs(c.CAFile))
	}
	if c.CertFile != "" || c.KeyFile != "" {
		if c.CertFile == "" || c.KeyFile == "" {
			return nil, nil, errors.New("mTLS needs both a certificate and a key file")
		}
		opts = append(opts, nats.ClientCert(c.CertFile, c.KeyFile))
	}
	return opts, urls, nil
}

func (l *link) auth(c Conn) ([]nats.Option, error) {
	var opts []nats.Option
	if c.CredsFile != "" {
		opts = append(opts, nats.UserCredentials(c.CredsFile))
	}
	if c.NkeyFile != "" {
		o, err := nats.NkeyOptionFromSeed(c.NkeyFile)
		if err != nil {
			return nil, fmt.Errorf("read nkey %s: not usable", c.NkeyFile) // the cause may quote the seed
		}
		opts = append(opts, o)
	}
	if c.TokenFile != "" {
		t, err := ReadSecret(c.TokenFile)
		if err != nil {
			return nil, err
		}
		l.secrets = append(l.secrets, t)
		opts = append(opts, nats.Token(t))
	}
	if c.User != "" || c.PasswordFile != "" {
		p := ""
		if c.PasswordFile != "" {
			var err error
			if p, err = ReadSecret(c.PasswordFile); err != nil {
				return nil, err
			}
			l.secrets = append(l.secrets, p)
		}
		opts = append(opts, nats.UserInfo(c.User, p))
	}
	return opts, nil
}

// ReadSecret reads a token or password from the first line of a file.
func ReadSecret(path string) (string, error) {
	b, err := regular.Read(path, 64<<10)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	s, _, _ := strings.Cut(string(b), "\n")
	if s = strings.TrimSpace(s); s == "" {
		return "", fmt.Errorf("read secret: %s is empty", path)
	}
	return s, nil
}

// dialer dials within the context that was given to dial.
type dialer struct {
	ctx     context.Context //nolint:containedctx // the library's interface has none
	timeout time.Duration
	link    *link
}

// Dial connects to one address and keeps why it could not.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	nd := net.Dialer{Timeout: d.timeout}
	c, err := nd.DialContext(d.ctx, network, address)
	d.link.mu.Lock()
	defer d.link.mu.Unlock()
	d.link.dialed = err
	return c, err
}

// unreachable puts the network's own words in the place of "no servers".
func (l *link) unreachable(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(err, nats.ErrNoServers) && l.dialed != nil {
		return l.dialed
	}
	return err
}

// fail remembers the first thing that went wrong and wakes whoever waits.
func (l *link) fail(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	if l.cause == nil {
		l.cause = err
	}
	l.mu.Unlock()
	l.once.Do(func() { close(l.failed) })
}

// broken returns the cause of a closed failed channel.
func (l *link) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// clean wraps an error of the library without the secrets its text may hold.
func (l *link) clean(op string, err error) error {
	return &opError{op: op, text: mask(err.Error(), l.secrets), err: err}
}

func (l *link) close() {
	if l != nil && l.nc != nil {
		l.nc.Close()
	}
}

// An opError is an error whose text was cleaned. The cause stays in reach of
// errors.Is, but its text is not shown.
type opError struct {
	op, text string
	err      error
}

func (e *opError) Error() string { return e.op + ": " + e.text }
func (e *opError) Unwrap() error { return e.err }
