package zerto

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"hooktrail/internal/config"
	"hooktrail/internal/reason"
)

// Options configure a Provider. Config.URL, a way to log in and StateFile are
// required; the zero value of every other field works.
type Options struct {
	// Config holds the settings; its paths are absolute.
	Config config.Zerto

	// StateFile is used when Config.StateFile is empty. It lies beside the log.
	StateFile string

	// Getenv reads the environment for secrets. Nil means os.Getenv.
	Getenv func(string) string

	// Now returns the current time. Nil means the system's clock.
	Now func() time.Time

	// Speed is how many times faster than real time the clock behind Now runs;
	// it is for demonstrations against the simulator. Zero means 1.
	Speed float64

	// DialContext opens connections to the ZVM. Nil means a plain TCP dial.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// UserAgent is sent with every request. Empty means hooktrail.
	UserAgent string
}

const (
	defaultPrefix         = "hooktrail"
	defaultRequestTimeout = 20 * time.Second
	defaultBudget         = 150 * time.Second
)

// New returns a Provider. It opens no connection and touches no file but those
// of secrets and certificates. Its errors are faults of the configuration, with
// the code reason.ConfigInvalid.
func New(o Options) (*Provider, error) {
	p, err := newProvider(o)
	if err != nil {
		return nil, reason.Wrap(reason.ConfigInvalid, "set up the zerto provider", err)
	}
	return p, nil
}

func newProvider(o Options) (*Provider, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the documented default of Options.Now
	}
	if o.Speed <= 0 {
		o.Speed = 1
	}
	if o.UserAgent == "" {
		o.UserAgent = "hooktrail"
	}
	if o.Config.StateFile != "" {
		o.StateFile = o.Config.StateFile
	}
	if o.StateFile == "" {
		return nil, errors.New("no state file")
	}
	base, err := parseURL(o.Config.URL)
	if err != nil {
		return nil, err
	}
	login, err := readLogin(o.Config.Auth, o.Getenv)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(o.Config.TLS, o.DialContext)
	if err != nil {
		return nil, err
	}
	prefix := o.Config.TagPrefix
	if prefix == "" {
		prefix = defaultPrefix
	}
	clk := clock{now: o.Now, speed: o.Speed}
	p := &Provider{
		clock:  clk,
		prefix: prefix,
		state:  &stateFile{path: o.StateFile, clock: clk},
		client: &client{
			base: base, login: login, clock: clk, userAgent: o.UserAgent,
			timeout: o.Config.RequestTimeout.Or(defaultRequestTimeout),
			http:    newHTTPClient(transport), transport: transport,
			tokens: tokens{gate: make(chan struct{}, 1)},
		},
	}
	if o.Config.TLS.InsecureSkipVerify && o.Config.TLS.PinSHA256 == "" && base.Scheme == "https" {
		p.warnings = append(p.warnings, "the certificate of the ZVM is not verified (zerto.tls.insecureSkipVerify): whoever answers at its address can confirm checkpoints that do not exist")
	}
	return p, nil
}

// parseURL accepts https, and http on the loopback address only: a token sent
// in the clear would let anybody on the way confirm what was never made.
func parseURL(s string) (*url.URL, error) {
	if s == "" {
		return nil, errors.New("zerto.url is empty")
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("zerto.url is not a URL") // the text of err would repeat what may be a secret
	}
	switch {
	case u.User != nil:
		return nil, errors.New("zerto.url must not carry a user or password; use zerto.auth")
	case u.Host == "" || u.Opaque != "":
		return nil, errors.New("zerto.url has no host; write it like https://zvm.example")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("zerto.url must end with the host or a path")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("zerto.url is http:// and %s is not this machine; use https://", u.Hostname())
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("zerto.url must begin with https://")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
