package zerto

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

const (
	tokenPath   = "/auth/realms/zerto/protocol/openid-connect/token" //nolint:gosec // a path, no credential
	sessionPath = "/v1/session/add"

	// assumedLife is taken for a token that does not say how long it lives.
	assumedLife = 60 * time.Second
	// sessionIdle is less than the 30 minutes after which a ZVM forgets a session.
	sessionIdle = 25 * time.Minute
)

// tokens keeps the one token or session in use, in memory only.
type tokens struct {
	gate chan struct{} // holds one value while somebody logs in

	mu    sync.Mutex
	value string
	until time.Time
	old   string // the one before: it must not be shown either
}

// current returns the token if it is good at now.
func (t *tokens) current(now time.Time) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.value, t.value != "" && now.Before(t.until)
}

func (t *tokens) set(value string, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.old, t.value, t.until = t.value, value, until
}

// drop makes value void, unless a newer one has taken its place.
func (t *tokens) drop(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value == value {
		t.old, t.value = t.value, ""
	}
}

// shown returns what must not be shown.
func (t *tokens) shown() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return []string{t.value, t.old}
}

// credentials returns the headers that carry the token.
func (c *client) credentials(token string) http.Header {
	if c.login.method == session {
		return http.Header{"X-Zerto-Session": {token}}
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

// authorize returns a token, after a login if there is none that lives long
// enough. Callers at the same time share one login.
func (c *client) authorize(ctx context.Context) (string, error) {
	t := &c.tokens
	if v, ok := t.current(c.clock.now()); ok {
		return v, nil
	}
	select {
	case t.gate <- struct{}{}:
	case <-ctx.Done():
		return "", &callError{op: "log in", login: true, err: fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)}
	}
	defer func() { <-t.gate }()
	now := c.clock.now()
	if v, ok := t.current(now); ok {
		return v, nil
	}
	v, life, err := c.logIn(ctx)
	if err != nil {
		var ce *callError
		if errors.As(err, &ce) {
			ce.login = true
		}
		return "", err
	}
	c.mu.Lock()
	c.life = life
	c.mu.Unlock()
	// A request must not start with a token that dies on the way.
	t.set(v, now.Add(life-min(30*time.Second, life/3)))
	return v, nil
}

func (c *client) logIn(ctx context.Context) (value string, life time.Duration, err error) {
	if c.login.method == session {
		return c.openSession(ctx)
	}
	form := url.Values{"grant_type": {string(c.login.method)}, "client_id": {c.login.clientID}, "scope": {"openid"}}
	if c.login.secret != "" {
		form.Set("client_secret", c.login.secret)
	}
	if c.login.method == password {
		form.Set("username", c.login.username)
		form.Set("password", c.login.password)
	}
	const op = "log in (POST " + tokenPath + ")"
	a, err := c.do(ctx, http.MethodPost, c.base.JoinPath(tokenPath), op,
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	if err != nil {
		return "", 0, err
	}
	if a.status != http.StatusOK {
		e := a.fail(c, op)
		if a.status == http.StatusNotFound {
			e.err = errors.New(`there is no Keycloak at this address; a Windows ZVM (up to 9.7) needs zerto.auth.method "session" and port 9669`)
		}
		return "", 0, e
	}
	var t struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   text   `json:"expires_in"`
	}
	// The body is not shown: it may hold the token.
	if decode(a.body, &t) != nil || t.AccessToken == "" {
		return "", 0, &callError{op: op, status: a.status, shape: true, err: errors.New("the answer holds no access_token")}
	}
	life = assumedLife
	if s, err := strconv.ParseFloat(string(t.ExpiresIn), 64); err == nil && s > 0 && s < 1e7 {
		life = time.Duration(s * float64(time.Second))
	}
	return t.AccessToken, life, nil
}

func (c *client) openSession(ctx context.Context) (value string, life time.Duration, err error) {
	const op = "log in (POST " + sessionPath + ")"
	basic := base64.StdEncoding.EncodeToString([]byte(c.login.username + ":" + c.login.password))
	body := []byte(`{"AuthenticationMethod":` + strconv.Itoa(c.login.sessionKind) + `}`)
	a, err := c.do(ctx, http.MethodPost, c.base.JoinPath(sessionPath), op,
		http.Header{"Content-Type": {"application/json"}, "Authorization": {"Basic " + basic}}, body)
	if err != nil {
		return "", 0, err
	}
	if a.status != http.StatusOK {
		e := a.fail(c, op)
		if a.status == http.StatusNotFound {
			e.err = errors.New(`this ZVM has no sessions; the appliance needs zerto.auth.method "client_credentials" or "password"`)
		}
		return "", 0, e
	}
	v := a.header.Get("X-Zerto-Session")
	if v == "" {
		return "", 0, &callError{op: op, status: a.status, shape: true, err: errors.New("the answer has no x-zerto-session header")}
	}
	return v, sessionIdle, nil
}

// closeSession ends a session of a Windows ZVM, which would hold it for half an
// hour.
func (c *client) closeSession(ctx context.Context) error {
	v, ok := c.tokens.current(c.clock.now())
	if !ok || c.login.method != session {
		return nil
	}
	c.tokens.drop(v)
	_, err := c.do(ctx, http.MethodDelete, c.base.JoinPath("/v1/session"), "DELETE /v1/session", c.credentials(v), nil)
	return err
}
