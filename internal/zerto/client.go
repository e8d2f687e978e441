package zerto

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// maxBody bounds an answer. The largest honest one is the list of all VMs of an
// estate without a filter, about 2 KB each.
const maxBody = 64 << 20

// A client sends requests to one ZVM. Several goroutines may use it.
type client struct {
	base      *url.URL
	login     login
	clock     clock
	timeout   time.Duration // of one request
	http      *http.Client
	transport *http.Transport
	userAgent string

	tokens tokens

	mu       sync.Mutex
	lastDate time.Time     // the Date header of the last answer
	lastSeen time.Time     // when it came, by our clock
	life     time.Duration // of the last token, as the ZVM said
}

// A callError is a request that got no usable answer.
type callError struct {
	op         string // such as "GET /v1/vms"
	status     int    // zero when there was no answer
	text       string // what the answer says, cut and without secrets
	shape      bool   // the answer is not what it should be
	retryAfter time.Duration
	sent       bool // it may have reached the ZVM
	untrusted  bool // the certificate is refused
	login      bool // it was the login that failed
	err        error
}

func (e *callError) Error() string {
	var b strings.Builder
	b.WriteString(e.op)
	if e.status != 0 {
		fmt.Fprintf(&b, ": HTTP %d", e.status)
	}
	if e.text != "" {
		fmt.Fprintf(&b, ": %s", e.text)
	}
	if e.err != nil {
		fmt.Fprintf(&b, ": %v", e.err)
	}
	return b.String()
}

func (e *callError) Unwrap() error { return e.err }

// get reads path into the value. It is repeated once after 401, with a new
// login, and once after a fault of the network.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) error {
	var err error
	renewed, again := false, false
	for {
		var body []byte
		body, err = c.call(ctx, http.MethodGet, path, query, nil)
		if err == nil {
			if derr := decode(body, into); derr != nil {
				return &callError{op: "GET " + path, status: http.StatusOK, shape: true, text: c.show(body), err: errors.New("the answer is not of the expected shape")}
			}
			return nil
		}
		var ce *callError
		if !errors.As(err, &ce) || ctx.Err() != nil {
			return err
		}
		switch {
		case ce.status == http.StatusUnauthorized && !renewed:
			renewed = true
		case ce.status == 0 && !again && !ce.untrusted && !timedOut(ce.err):
			again = true
		default:
			return err
		}
	}
}

// getList reads a list; null and everything that is no list are errors.
func getList[T any](ctx context.Context, c *client, path string, query url.Values) ([]T, error) {
	var rows []T
	if err := c.get(ctx, path, query, &rows); err != nil {
		return nil, err
	}
	if rows == nil {
		return nil, &callError{op: "GET " + path, status: http.StatusOK, shape: true, err: errors.New("the answer is null, not a list")}
	}
	return rows, nil
}

// post sends body once. It is never repeated: only the list of checkpoints can
// tell whether a request without an answer was taken.
func (c *client) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return c.call(ctx, http.MethodPost, path, nil, body)
}

// call logs in if need be and makes one request. A 401 makes the token void.
func (c *client) call(ctx context.Context, verb, path string, query url.Values, body []byte) ([]byte, error) {
	token, err := c.authorize(ctx)
	if err != nil {
		return nil, err
	}
	u := *c.base
	u = *u.JoinPath(path)
	u.RawQuery = query.Encode()
	h := c.credentials(token)
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	a, err := c.do(ctx, verb, &u, verb+" "+path, h, body)
	if err != nil {
		return nil, err
	}
	if a.status == http.StatusUnauthorized {
		c.tokens.drop(token)
	}
	if a.status/100 != 2 {
		return nil, a.fail(c, verb+" "+path)
	}
	return a.body, nil
}

// An answer is what came back, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) fail(c *client, op string) *callError {
	e := &callError{op: op, status: a.status, text: c.show(a.body), sent: true}
	if a.status >= 300 && a.status < 400 {
		e.err = errors.New("the ZVM redirects, which is not followed")
	}
	e.shape = !looksLikeJSON(a)
	if s, err := strconv.Atoi(strings.TrimSpace(a.header.Get("Retry-After"))); err == nil && s >= 0 && s < 86400 {
		e.retryAfter = time.Duration(s) * time.Second
	}
	return e
}

// looksLikeJSON tells an error of the API (JSON, or no body at all) from a page
// of a proxy or a web server.
func looksLikeJSON(a *answer) bool {
	b := bytes.TrimSpace(a.body)
	if len(b) == 0 {
		t, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
		return t != "text/html"
	}
	return jsontext.Value(b).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// do makes one HTTP request, bounded in time and size. Its error is a callError.
func (c *client) do(ctx context.Context, verb string, u *url.URL, op string, h http.Header, body []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.clock.real(c.timeout))
	defer cancel()
	var r io.Reader
	if body != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, verb, u.String(), r)
	if err != nil {
		return nil, &callError{op: op, err: errors.New("the request could not be made")}
	}
	req.Header = h
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &callError{op: op, err: c.explain(ctx, err), sent: !neverSent(err), untrusted: untrusted(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, &callError{op: op, err: c.explain(ctx, err), sent: true}
	}
	if len(b) > maxBody {
		return nil, &callError{op: op, status: resp.StatusCode, shape: true, sent: true, err: fmt.Errorf("the answer is longer than %d MiB", maxBody>>20)}
	}
	c.note(resp.Header)
	return &answer{status: resp.StatusCode, header: resp.Header, body: b}, nil
}

func (c *client) note(h http.Header) {
	now := c.clock.now()
	d, err := http.ParseTime(h.Get("Date"))
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.lastDate, c.lastSeen = d, now
	}
}

// explain makes a short sentence of an error of net/http, without the URL, whose
// query may hold what the answer to the model should not repeat.
func (c *client) explain(ctx context.Context, err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if ctx.Err() != nil || timedOut(err) {
		return fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
	}
	return errors.New(c.scrub(err.Error()))
}

func timedOut(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.As(err, &ne) && ne.Timeout()
}

// untrusted tells a refusal to trust the ZVM, which no second try mends.
func untrusted(err error) bool {
	var ce *tls.CertificateVerificationError
	return errors.Is(err, errPin) || errors.As(err, &ce)
}

// neverSent tells whether the request cannot have left this machine.
func neverSent(err error) bool {
	var oe *net.OpError
	return untrusted(err) || errors.As(err, &oe) && oe.Op == "dial"
}

// show returns the first 300 bytes of an answer for people, without secrets.
// The API's errors are {"Message": …}, those of Keycloak {"error": …,
// "error_description": …}.
func (c *client) show(body []byte) string {
	var e struct {
		Message      text
		ErrorMessage text `json:"errorMessage"`
		Error        text `json:"error"`
		Description  text `json:"error_description"`
	}
	s := ""
	if decode(body, &e) == nil {
		for _, t := range []text{e.Message, e.ErrorMessage, e.Error, e.Description} {
			if t != "" {
				s = strings.TrimSpace(s + " " + string(t))
			}
		}
	}
	if s == "" {
		s = string(body[:min(len(body), 2000)])
	}
	return cut(strings.Join(strings.Fields(printable(c.scrub(s))), " "), 300)
}

// scrub takes out of s whatever we log in with.
func (c *client) scrub(s string) string {
	for _, secret := range append(c.login.secrets(), c.tokens.shown()...) {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[secret]")
		}
	}
	return s
}
