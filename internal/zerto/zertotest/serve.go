package zertotest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A reply is one answer, before the knobs that break it.
type reply struct {
	status int
	header map[string]string
	body   []byte
}

// ServeHTTP answers as a ZVM would, unless a knob says otherwise.
func (z *ZVM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	z.mu.Lock()
	z.requests = append(z.requests, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, At: z.Now()})
	fault := z.fault(r)
	delay, skew := z.w.Knobs.Delay, z.w.Knobs.ClockSkew
	z.mu.Unlock()
	if fault != nil {
		delay += fault.Hang
	}
	if delay > 0 && !z.pause(r.Context(), delay) {
		panic(http.ErrAbortHandler)
	}
	if fault != nil && fault.Reset {
		panic(http.ErrAbortHandler)
	}
	a := z.answer(r, body, fault)
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("Date", z.Now().Add(skew).UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
	w.WriteHeader(a.status)
	if fault != nil && fault.Half {
		_, _ = w.Write(a.body[:len(a.body)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(a.body)
}

// pause waits in the simulated time. It is false when the caller hangs up.
func (z *ZVM) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(time.Duration(float64(d) / z.o.Speed))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// fault returns the first fault that meets r. The caller holds z.mu.
func (z *ZVM) fault(r *http.Request) *Fault {
	for i := range z.w.Knobs.Faults {
		f := &z.w.Knobs.Faults[i]
		if f.Method != "" && f.Method != r.Method || !strings.Contains(strings.ToLower(r.URL.Path), strings.ToLower(f.Path)) {
			continue
		}
		z.hits[i]++
		if n := z.hits[i]; n > f.Skip && (f.Times == 0 || n <= f.Skip+f.Times) {
			return f
		}
	}
	return nil
}

func (z *ZVM) answer(r *http.Request, body []byte, f *Fault) reply {
	if f != nil && (f.Status != 0 || f.Body != "") {
		return reply{status: max(f.Status, http.StatusOK), header: f.Header, body: []byte(f.Body)}
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	path := strings.TrimRight(r.URL.EscapedPath(), "/")
	if a, ok := z.login(r, path, body); ok {
		return a
	}
	if a, ok := z.admit(r, path); !ok {
		return a
	}
	a := z.api(r, path, body)
	if z.w.Knobs.PostLost && r.Method == http.MethodPost && strings.HasSuffix(strings.ToLower(path), "/checkpoints") {
		panic(http.ErrAbortHandler)
	}
	return a
}

// login answers what needs no token.
func (z *ZVM) login(r *http.Request, path string, body []byte) (reply, bool) {
	k, low := &z.w.Knobs, strings.ToLower(path)
	now := z.Now()
	switch {
	case strings.HasPrefix(low, "/auth/") && k.Windows, low == "/v1/session/add" && !k.Windows:
		return z.fail(http.StatusNotFound, "no such resource"), true
	case low == "/auth/realms/zerto/.well-known/openid-configuration":
		return z.ok(map[string]any{"issuer": "https://zvm.invalid/auth/realms/zerto"}), true
	case low == "/auth/realms/zerto/protocol/openid-connect/token":
		form, err := url.ParseQuery(string(body))
		secret := form.Get("client_secret") + form.Get("password")
		if err != nil || r.Method != http.MethodPost || form.Get("client_id") == "" || z.w.Secret != "" && secret != z.w.Secret {
			b, _ := json.Marshal(map[string]string{"error": "invalid_client", "error_description": "Invalid client or Invalid client credentials"})
			return reply{status: http.StatusUnauthorized, body: b}, true
		}
		token := fmt.Sprintf("token-%016x%016x", rand.Uint64(), rand.Uint64()) //nolint:gosec // tokens of a simulator
		z.tokens[token] = now.Add(k.TokenTTL)
		z.noScope[token] = form.Get("scope") != "openid"
		return z.exact(map[string]any{"access_token": token, "expires_in": int(k.TokenTTL / time.Second), "refresh_expires_in": 0, "token_type": "Bearer", "not-before-policy": 0, "scope": form.Get("scope")}), true
	case low == "/v1/session/add":
		basic, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
		_, secret, _ := strings.Cut(string(basic), ":")
		if z.w.Secret != "" && secret != z.w.Secret {
			return z.fail(http.StatusUnauthorized, "Invalid credentials"), true
		}
		token := fmt.Sprintf("%016x-session", rand.Uint64()) //nolint:gosec // sessions of a simulator
		z.tokens[token] = now.Add(k.SessionIdle)
		return reply{status: http.StatusOK, header: map[string]string{"x-zerto-session": token}}, true
	}
	return reply{}, false
}

// admit checks the token or session of a call.
func (z *ZVM) admit(r *http.Request, path string) (reply, bool) {
	k, now := &z.w.Knobs, z.Now()
	post := r.Method == http.MethodPost && strings.HasSuffix(strings.ToLower(path), "/checkpoints")
	z.calls++
	if !z.revoked && (k.RevokeAfter > 0 && z.calls > k.RevokeAfter || k.RevokeOnPost && post) {
		z.revoked = true
		clear(z.tokens)
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if k.Windows {
		token = r.Header.Get("x-zerto-session")
	}
	end, known := z.tokens[token]
	switch {
	case !known || !now.Before(end), k.RequireScope && z.noScope[token]:
		return z.fail(http.StatusUnauthorized, "Authorization has been denied for this request"), false
	case k.Unlicensed:
		return z.fail(http.StatusBadRequest, licence), false
	}
	if k.Windows {
		z.tokens[token] = now.Add(k.SessionIdle)
	}
	return reply{}, true
}

// ok writes v in the spelling of the version.
func (z *ZVM) ok(v any) reply {
	if z.w.Knobs.Casing == "camel" {
		v = camel(v)
	}
	return z.exact(v)
}

func (z *ZVM) exact(v any) reply {
	b, err := json.Marshal(v)
	if err != nil {
		return reply{status: http.StatusInternalServerError}
	}
	return reply{status: http.StatusOK, body: b}
}

// fail writes an error in the form of the knob.
func (z *ZVM) fail(status int, message string) reply {
	var b []byte
	header := map[string]string{}
	switch z.w.Knobs.ErrorBody {
	case "keycloak":
		b, _ = json.Marshal(map[string]string{"error": "invalid_request", "error_description": message})
	case "html":
		header["Content-Type"] = "text/html"
		b = []byte("<html><body><h1>" + message + "</h1></body></html>")
	case "empty":
	default:
		b, _ = json.Marshal(map[string]string{"Message": message})
	}
	return reply{status: status, header: header, body: b}
}

// camel lowers the first letter of every name.
func camel(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[strings.ToLower(k[:1])+k[1:]] = camel(x)
		}
		return m
	case []any:
		s := make([]any, len(v))
		for i, x := range v {
			s[i] = camel(x)
		}
		return s
	case []map[string]any:
		s := make([]any, len(v))
		for i, x := range v {
			s[i] = camel(x)
		}
		return s
	}
	return v
}

func (z *ZVM) link(kind, folder, id string) map[string]any {
	return map[string]any{"href": "https://zvm.invalid/v1/" + folder + "/" + id, "identifier": id, "rel": nil, "type": kind}
}

// without takes the top-level identifiers away if the knob says so.
func (z *ZVM) without(m map[string]any) map[string]any {
	if z.w.Knobs.OmitTopLevelIDs {
		maps.DeleteFunc(m, func(k string, _ any) bool {
			return slices.Contains([]string{"VmIdentifier", "VpgIdentifier", "SiteIdentifier", "TaskIdentifier"}, k)
		})
	}
	return m
}
