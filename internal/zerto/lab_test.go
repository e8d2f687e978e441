package zerto

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/zerto/zertotest"
)

// marker is the secret of every test: it must never be shown.
const marker = "s3cr3t-marker-4711"

// A lab is a simulated ZVM, a provider for it and the events it reported. It is
// made inside a bubble of synctest, whose clock is virtual.
type lab struct {
	t     *testing.T
	z     *zertotest.ZVM
	p     *Provider
	state string
	dial  dialer

	mu     sync.Mutex
	events []event
}

type event struct {
	action  string
	point   guard.Checkpoint
	message string
	at      time.Time
}

func newLab(t *testing.T, w zertotest.World) *lab {
	t.Helper()
	w.Secret = marker
	l := &lab{t: t, z: zertotest.New(w, zertotest.Options{Now: time.Now}), state: filepath.Join(t.TempDir(), "state", "checkpoints.json")}
	dial, stop := l.z.Pipe()
	l.dial = dial
	t.Cleanup(stop)
	l.p = l.provider(config.ZertoAuth{ClientID: "zerto-api", ClientSecretEnv: "SECRET"})
	return l
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// provider makes a provider as a process of its own would.
func (l *lab) provider(auth config.ZertoAuth) *Provider {
	l.t.Helper()
	p, err := New(Options{
		Config:      config.Zerto{URL: "http://127.0.0.1:9669", Auth: auth},
		StateFile:   l.state,
		Getenv:      func(string) string { return marker },
		Now:         time.Now,
		DialContext: l.dial,
	})
	require.NoError(l.t, err)
	l.t.Cleanup(func() { require.NoError(l.t, p.Close(context.Background())) })
	return p
}

func (l *lab) report(action string, c guard.Checkpoint, message string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event{action, c, message, time.Now()})
	return nil
}

// actions returns what was reported, in order.
func (l *lab) actions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var s []string
	for _, e := range l.events {
		s = append(s, e.action)
	}
	return s
}

// protect makes a call for the machines of these names, and checks what holds
// for every outcome: it comes in time and shows no secret.
func (l *lab) protect(budget time.Duration, names ...string) guard.Outcome {
	l.t.Helper()
	var vms []guard.VM
	for _, n := range names {
		vms = append(vms, guard.VM{Ref: n})
	}
	return l.call(l.p, budget, vms...)
}

func (l *lab) call(p *Provider, budget time.Duration, vms ...guard.VM) guard.Outcome {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	out := p.Protect(ctx, guard.Request{Tool: "t", VMs: vms, Report: l.report})
	require.NoError(l.t, ctx.Err(), "the answer comes before the context ends")
	require.NotEmpty(l.t, out.Code)
	require.NotEmpty(l.t, out.Message)
	l.mu.Lock()
	defer l.mu.Unlock()
	all := out.Message + out.Context
	for _, e := range l.events {
		all += e.message
	}
	require.NotContains(l.t, all, marker)
	require.NotContains(l.t, all, "token-")
	require.Less(l.t, len(out.Message), 4000)
	return out
}

func (l *lab) tags() []string {
	var s []string
	for _, p := range l.z.Posts() {
		s = append(s, p.Tag)
	}
	return s
}

func one(g zertotest.Group) zertotest.World {
	if g.ID == "" {
		g.ID = "g1"
	}
	if g.Name == "" {
		g.Name = "Group 1"
	}
	return zertotest.World{Groups: []zertotest.Group{g}, VMs: []zertotest.VM{{Name: "app01", ID: "a1.vm-1", Groups: []string{g.ID}}}}
}

func cloud(siteType string) zertotest.World {
	w := one(zertotest.Group{Site: "p1"})
	w.Peers = []zertotest.Site{{ID: "p1", Name: "Cloud", Type: siteType, Region: "region-1"}}
	return w
}

func joined(s []string) string { return strings.Join(s, " ") }
