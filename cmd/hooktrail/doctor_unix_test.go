//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/zerto/zertotest"
)

// underItsName puts the program where its file is called hooktrail: an installed
// command line is run as it stands.
func underItsName(t *testing.T) {
	t.Helper()
	from := os.Getenv("HOOKTRAIL_TEST_BIN")
	if from == "" {
		var err error
		from, err = os.Executable()
		require.NoError(t, err)
	}
	to := filepath.Join(t.TempDir(), "hooktrail")
	if os.Link(from, to) != nil { // another file system
		b, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, b, 0o700))
	}
	t.Setenv("HOOKTRAIL_TEST_BIN", to)
}

// sound installs hooktrail with a catalogue, a ZVM and a stream, and returns the
// ZVM.
func (p *place) sound() *zertotest.ZVM {
	p.t.Helper()
	world := zertotest.Three()
	world.Groups[0].Latency = 100 * time.Millisecond
	world.Secret = "s3cr3t-marker"
	zvm := zertotest.New(world, zertotest.Options{Now: time.Now})
	url, stop, err := zvm.Listen(p.t.Context())
	require.NoError(p.t, err)
	p.t.Cleanup(stop)
	newNATS(p)
	p.file("secret", "s3cr3t-marker")
	p.file("config.json", fmt.Sprintf(`{
		"audit": {"log": %q}, "nats": {"url": %q},
		"zerto": {"url": %q, "auth": {"clientSecretFile": "secret"}},
		"guard": {"budget": "5s", "rules": [{"tools": ["mcp__vm__stop"], "class": "mutating", "vm": {"path": "name"}}]}}`, p.log, p.nats, url))
	got := p.run("", "install", "--guard", filepath.Join(p.dir, "config.json"))
	require.Zero(p.t, got.status, got.stderr)
	return zvm
}

func (p *place) file(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

// TestDoctorFindsNothingOnASoundSetUp: with a simulated ZVM and a real
// nats-server, before the first event and after it, and without making a tag.
func TestDoctorFindsNothingOnASoundSetUp(t *testing.T) {
	underItsName(t)
	p := newPlace(t)
	zvm := p.sound()
	doctor := []string{"doctor", "--strict", "--client", "2.1.328", "--project", p.dir}
	for range 2 {
		got := p.run("", doctor...)
		require.Zero(t, got.status, got.stdout+got.stderr)
		require.NotRegexp(t, `(?m)^(warning|failed)`, got.stdout)
		require.Empty(t, got.stderr)
		for _, want := range []string{
			"record: the event stands in the log", "fails closed:", "budget: the guard takes 15s at most", "clock:", "disk:", "siblings:", "guard: 1 rules",
			"nats: ", "stream: it refuses what it cannot hold", "round trip: the event that was fed was read back",
			"zerto: How long does a login last?", "zerto: How far is the ZVM's clock from ours?", `zerto: What platform is site "London"?`, "zerto: How many machines are protected? 3",
		} {
			require.Contains(t, got.stdout, "ok       "+want)
		}
		require.NotContains(t, got.stdout, "s3cr3t")
	}
	got := p.run("", doctor...)
	require.Contains(t, got.stdout, "ok       lock: the log's lock is free")
	require.Contains(t, got.stdout, "ok       chain: ")
	require.Empty(t, zvm.Posts())

	// A tag is made on demand only, recorded, and waited for.
	got = p.run("", append(doctor, "--tag", "app01")...)
	require.Zero(t, got.status, got.stdout)
	require.Regexp(t, `(?m)^ok       tag: .*app01`, got.stdout)
	require.Len(t, zvm.Posts(), 1)
	var steps []string
	for _, e := range p.events() {
		if e.Kind == "checkpoint" {
			steps = append(steps, e.Action+" "+e.Target)
		}
	}
	require.Equal(t, []string{"requested app01", "confirmed app01"}, steps)
	got = p.run("", append(doctor, "--tag", "app03")...) // 128 s at the least
	require.Equal(t, 1, got.status)
	require.Regexp(t, `(?m)^warning  tag: `, got.stdout)
	got = p.run("", append(doctor, "--tag", "nobody")...)
	require.Equal(t, 1, got.status)
	require.Regexp(t, `(?m)^failed   tag: .*nobody`, got.stdout)
}

// TestDoctorAsksTheServerOfAnHTTPEntry as the host would.
func TestDoctorAsksTheServerOfAnHTTPEntry(t *testing.T) {
	underItsName(t)
	p := newPlace(t)
	s, c := p.serve()
	got := p.run("", "install", "--http", c.url, "--token-env", "HOOK_TOKEN")
	require.Zero(t, got.status, got.stderr)
	doctor := func(token string, args ...string) outcome {
		cmd := p.command(append([]string{"doctor", "--client", "2.1.328", "--project", p.dir}, args...)...)
		var out strings.Builder
		cmd.Env, cmd.Stdout = append(cmd.Env, "HOOK_TOKEN="+token), &out
		err := cmd.Run()
		return outcome{out.String(), "", status(err)}
	}
	got = doctor(c.token, "--strict")
	require.Zero(t, got.status, got.stdout)
	require.Contains(t, got.stdout, "ok       record: ")
	require.Contains(t, got.stdout, "ok       fails closed: ")
	require.NotContains(t, got.stdout, c.token)

	got = doctor(c.token, "--log", filepath.Join(p.dir, "another.jsonl"))
	require.Zero(t, got.status, got.stdout)
	require.Contains(t, got.stdout, "warning  record: ")
	got = doctor("wrong")
	require.Equal(t, 1, got.status)
	require.Contains(t, got.stdout, "failed   answer: HTTP 401, on which the host lets calls run")
	got = doctor("")
	require.Equal(t, 1, got.status)
	require.Contains(t, got.stdout, "failed   answer: the entry sends $HOOK_TOKEN, which is not set here")
	require.NoError(t, s.cmd.Process.Kill())
	s.status()
	got = doctor(c.token)
	require.Equal(t, 1, got.status)
	require.Contains(t, got.stdout, "failed   answer: the server cannot be asked: ")
}
