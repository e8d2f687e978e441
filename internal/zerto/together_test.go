package zerto

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/zerto/zertotest"
)

// TestCallsOfOneMomentShareOneRequest starts calls of one process and of others
// (each a Provider of its own) at about the same time.
func TestCallsOfOneMomentShareOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, one(zertotest.Group{}))
		var wg sync.WaitGroup
		for i := range 20 {
			p := l.p
			if i%2 == 0 {
				p = l.provider(config.ZertoAuth{ClientSecretEnv: "S"})
			}
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				out := l.call(p, 20*time.Second, guard.VM{Ref: "app01"})
				require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
			})
		}
		wg.Wait()
		require.Len(t, l.tags(), 1)
	})
}

// TestGroupsDoNotWaitForEachOther has one call for 20 machines in 20 groups, and
// 20 calls for one each.
func TestGroupsDoNotWaitForEachOther(t *testing.T) {
	w := zertotest.World{}
	var names []string
	for i := range 20 {
		g := fmt.Sprintf("g%d", i)
		w.Groups = append(w.Groups, zertotest.Group{ID: g, Name: g, Latency: 10 * time.Second})
		names = append(names, "app"+g)
		w.VMs = append(w.VMs, zertotest.VM{Name: "app" + g, ID: "a1.vm-" + g, Groups: []string{g}})
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, w)
		start := time.Now()
		out := l.protect(60*time.Second, names...)
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Less(t, time.Since(start), 14*time.Second)
		require.Len(t, l.tags(), 20)
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, w)
		start := time.Now()
		var wg sync.WaitGroup
		for _, n := range names {
			wg.Go(func() {
				out := l.protect(60*time.Second, n)
				require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
			})
		}
		wg.Wait()
		require.Less(t, time.Since(start), 14*time.Second)
		require.Len(t, l.tags(), 20)
	})
}

// TestNoChangeIsCoveredByATagOfItsOwnTime is a property test. Calls of several
// processes run at random times over shared groups with random latencies and
// budgets; some processes die in the middle. For every call let through, and for
// each machine of it: the tag it is told of was listed before; and no change was
// let through on that group between that tag's request and its listing.
func TestNoChangeIsCoveredByATagOfItsOwnTime(t *testing.T) {
	runs := 25
	if testing.Short() {
		runs = 10
	}
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) { randomSchedule(t, uint64(seed)) })
	}
}

func randomSchedule(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	w := zertotest.World{Peers: []zertotest.Site{{ID: "p1", Name: "P1", Type: "Azure"}, {ID: "p2", Name: "P2", Type: "AWS"}, {ID: "p3", Name: "P3", Type: "other"}}}
	for i := range 4 {
		g := zertotest.Group{ID: fmt.Sprintf("g%d", i), Site: []string{"", "p1", "p2", "p3"}[r.IntN(4)], Latency: time.Duration(r.IntN(60000)) * time.Millisecond, ListLag: time.Duration(r.IntN(3000)) * time.Millisecond, Cadence: time.Duration(2+r.IntN(60)) * time.Second}
		if r.IntN(6) == 0 {
			g.Latency = -1
		}
		g.Name = g.ID
		w.Groups = append(w.Groups, g)
	}
	for i := range 5 {
		v := zertotest.VM{Name: fmt.Sprintf("vm%d", i), ID: fmt.Sprintf("a.vm-%d", i)}
		for _, g := range r.Perm(4)[:1+r.IntN(3)] {
			v.Groups = append(v.Groups, w.Groups[g].ID)
		}
		w.VMs = append(w.VMs, v)
	}
	if r.IntN(3) == 0 {
		w.Knobs.PostLost = true
	}
	if r.IntN(4) == 0 {
		w.Knobs.Faults = []zertotest.Fault{{Path: "/checkpoints", Skip: r.IntN(20), Times: r.IntN(5) + 1, Status: 503}}
	}
	l := newLab(t, w)
	type passed struct {
		at   time.Time
		vms  []string
		tags map[string]string // group -> tag
	}
	var mu sync.Mutex
	var through []passed
	var wg sync.WaitGroup
	for range 14 {
		start := time.Duration(r.IntN(180)) * time.Second
		budget := time.Duration(3+r.IntN(100)) * time.Second
		vms := []string{fmt.Sprintf("vm%d", r.IntN(5))}
		if r.IntN(3) == 0 {
			vms = append(vms, fmt.Sprintf("vm%d", r.IntN(5)))
		}
		dies := time.Duration(-1)
		if r.IntN(5) == 0 {
			dies = time.Duration(r.IntN(20000)) * time.Millisecond
		}
		p := l.provider(config.ZertoAuth{ClientSecretEnv: "S"})
		wg.Go(func() {
			time.Sleep(start)
			ctx, cancel := context.WithTimeout(context.Background(), budget)
			defer cancel()
			if dies >= 0 {
				time.AfterFunc(dies, cancel) // what it asked for is left behind
			}
			var refs []guard.VM
			for _, v := range vms {
				refs = append(refs, guard.VM{Ref: v})
			}
			out := p.Protect(ctx, guard.Request{VMs: refs, Report: l.report})
			if out.Code != reason.GuardCheckpointConfirmed {
				return
			}
			tags := map[string]string{}
			for _, c := range out.Checkpoints {
				if c.State == "confirmed" {
					tags[c.VPG] = c.Tag
				}
			}
			mu.Lock()
			defer mu.Unlock()
			through = append(through, passed{time.Now(), vms, tags})
		})
	}
	wg.Wait()
	posts := map[string]zertotest.Post{}
	for _, p := range l.z.Posts() {
		require.NotContains(t, posts, p.Tag, "seed %d: one request a tag", seed)
		posts[p.Tag] = p
	}
	groups := map[string][]string{}
	for _, v := range w.VMs {
		groups[v.Name] = v.Groups
	}
	for _, c := range through {
		for _, v := range c.vms {
			good := 0
			for _, g := range groups[v] {
				if tag, ok := c.tags[g]; ok {
					p := posts[tag]
					require.Equal(t, g, p.VPG, "seed %d", seed)
					require.False(t, p.Listed.IsZero() || p.Listed.After(c.at), "seed %d: %s let through at %s on %s, listed %s", seed, v, c.at, tag, p.Listed)
					for _, other := range through {
						for _, ov := range other.vms {
							for _, og := range groups[ov] {
								require.False(t, og == g && other.at.After(p.At) && other.at.Before(p.Listed), "seed %d: a change at %s between request %s and listing %s of %s", seed, other.at, p.At, p.Listed, tag)
							}
						}
					}
					good++
				}
			}
			require.Positive(t, good, "seed %d: %s has no tag", seed, v)
		}
	}
}

// child is what the test binary does when another test starts it as a process of
// its own: one call, as a hook would make it.
func TestMain(m *testing.M) {
	if url := os.Getenv("ZERTO_TEST_CHILD"); url != "" {
		os.Exit(child(url))
	}
	os.Exit(m.Run())
}

func child(url string) int {
	p, err := New(Options{Config: config.Zerto{URL: url, Auth: config.ZertoAuth{ClientSecretEnv: "SECRET"}}, StateFile: os.Getenv("ZERTO_TEST_STATE")})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	// The parent lets all of them go at once.
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	out := p.Protect(ctx, guard.Request{VMs: []guard.VM{{Ref: "app01"}}})
	fmt.Println(out.Code, out.Message)
	return 0
}

// startChild starts a process; it waits until go is closed.
func startChild(t *testing.T, url, state string) (cmd *exec.Cmd, out *strings.Builder, release func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ZERTO_TEST_CHILD="+url, "ZERTO_TEST_STATE="+state, "SECRET="+marker)
	out = &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, out, func() { _ = in.Close() }
}

func TestTwentyProcessesShareOneRequest(t *testing.T) {
	z := zertotest.New(one(zertotest.Group{Latency: 6 * time.Second}), zertotest.Options{Now: time.Now})
	url, stop, err := z.Listen(t.Context())
	require.NoError(t, err)
	defer stop()
	state := filepath.Join(t.TempDir(), "checkpoints.json")
	var cmds []*exec.Cmd
	var outs []*strings.Builder
	var releases []func()
	for range 20 {
		cmd, out, release := startChild(t, url, state)
		cmds, outs, releases = append(cmds, cmd), append(outs, out), append(releases, release)
	}
	for _, release := range releases {
		release()
	}
	for i, cmd := range cmds {
		require.NoError(t, cmd.Wait(), outs[i].String())
		require.Contains(t, outs[i].String(), "guard_checkpoint_confirmed")
	}
	require.Len(t, z.Posts(), 1)
	records, err := Records(state)
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, "confirmed", records[0].State)
	fi, err := os.Stat(state)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
}

// TestKilledBetweenRequestAndListing kills a process with SIGKILL once its
// request has reached the ZVM. The next call finds the tag.
func TestKilledBetweenRequestAndListing(t *testing.T) {
	for _, tt := range []struct {
		name  string
		knobs zertotest.Knobs
	}{
		{"after the answer to its request", zertotest.Knobs{}},
		{"before the answer", zertotest.Knobs{Faults: []zertotest.Fault{{Path: "/v1/tasks", Hang: time.Minute}}, PostLost: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := one(zertotest.Group{Latency: 3 * time.Second})
			w.Knobs = tt.knobs
			z := zertotest.New(w, zertotest.Options{Now: time.Now})
			url, stop, err := z.Listen(t.Context())
			require.NoError(t, err)
			defer stop()
			state := filepath.Join(t.TempDir(), "checkpoints.json")
			cmd, out, release := startChild(t, url, state)
			release()
			require.Eventually(t, func() bool { return len(z.Posts()) == 1 }, 20*time.Second, 5*time.Millisecond)
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
			require.Empty(t, out.String())

			p, err := New(Options{Config: config.Zerto{URL: url, Auth: config.ZertoAuth{ClientSecretEnv: "SECRET"}}, StateFile: state, Getenv: func(string) string { return marker }})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			o := p.Protect(ctx, guard.Request{VMs: []guard.VM{{Ref: "app01"}}})
			require.Equal(t, reason.GuardCheckpointConfirmed, o.Code, o.Message)
			require.Len(t, z.Posts(), 1)
			require.Equal(t, z.Posts()[0].Tag, o.Checkpoints[0].Tag)
		})
	}
}
