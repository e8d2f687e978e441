package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/cli"
)

// TestInstallOnFilesAsTheyAreFound goes through the commands on files in the
// shapes of public ones, each in two ways and scopes in turn (package settings has
// every file in every way): a dry run writes nothing, twice is once, the first bytes
// come back, and what is refused stays.
func TestInstallOnFilesAsTheyAreFound(t *testing.T) {
	ways := [][]string{
		nil, {"--events", "guard", "--guard", "guard.json"}, {"--wrap"},
		{"--http", "http://127.0.0.1:8787/hook", "--token-env", "TOKEN"}, {"--wrap", "--http", "https://hooks.example/hook"},
	}
	scopes := []string{"user", "project", "local"}
	all := seen(t)
	for n, name := range slices.Sorted(maps.Keys(all)) {
		before := all[name]
		for i := n; i < n+2; i++ {
			flags, scope := ways[i%len(ways)], scopes[i%len(scopes)]
			t.Run(name+" "+scope+strings.Join(flags, " "), func(t *testing.T) {
				install := append([]string{"install", "--scope", scope}, flags...)
				h := newHouse(t, scope, before, runInside)

				status, out := h.run(append(install, "--dry-run")...)
				require.Equal(t, string(before), h.settings(), "a dry run writes nothing")
				if strings.HasPrefix(name, "refused") {
					require.Equal(t, 2, status)
					require.Contains(t, out, "the file is left as it is")
					status, _ = h.run(install...)
					require.Equal(t, 2, status)
					require.Equal(t, string(before), h.settings())
					return
				}
				require.Zero(t, status, out)
				require.Contains(t, out, "\n+")
				h.roundTrip(before, install)
			})
		}
	}
}

// TestTheProgramOnFilesAsTheyAreFound does one way of each file with the program
// as a process.
func TestTheProgramOnFilesAsTheyAreFound(t *testing.T) {
	for name, before := range seen(t) {
		if strings.HasPrefix(name, "refused") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			newHouse(t, "local", before, runProcess).roundTrip(before, []string{"install", "--scope", "local", "--wrap"})
		})
	}
}

func seen(t *testing.T) map[string][]byte {
	dir := filepath.Join("..", "..", "internal", "settings", "testdata", "seen")
	all := map[string][]byte{}
	for _, glob := range []string{"*.json", "refused/*.json"} {
		names, err := filepath.Glob(filepath.Join(dir, glob))
		require.NoError(t, err)
		for _, n := range names {
			b, err := os.ReadFile(n)
			require.NoError(t, err)
			rel, err := filepath.Rel(dir, n)
			require.NoError(t, err)
			all[filepath.ToSlash(rel)] = b
		}
	}
	require.Greater(t, len(all), 20)
	return all
}

// A house is a home and a project with one settings file.
type house struct {
	t                    *testing.T
	home, project, scope string
	file                 string
	how                  runner
}

type runner func(h house, args []string) (status int, out string)

func newHouse(t *testing.T, scope string, settings []byte, how runner) house {
	dir := t.TempDir()
	h := house{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), scope: scope, how: how}
	h.file = map[string]string{
		"user":    filepath.Join(h.home, ".claude", "settings.json"),
		"project": filepath.Join(h.project, ".claude", "settings.json"),
		"local":   filepath.Join(h.project, ".claude", "settings.local.json"),
	}[scope]
	for _, d := range []string{h.home, h.project} {
		require.NoError(t, os.MkdirAll(filepath.Join(d, ".claude"), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(h.project, "guard.json"), []byte("{}"), 0o600))
	require.NoError(t, os.WriteFile(h.file, settings, 0o600))
	return h
}

func (h house) settings() string {
	b, err := os.ReadFile(h.file)
	require.NoError(h.t, err)
	return string(b)
}

func (h house) run(args ...string) (int, string) { return h.how(h, args) }

func (h house) roundTrip(before []byte, install []string) {
	status, out := h.run(install...)
	require.Zero(h.t, status, out)
	after := h.settings()
	require.NotEqual(h.t, string(before), after)
	status, out = h.run(install...)
	require.Zero(h.t, status, out)
	require.Contains(h.t, out, "nothing to do")
	require.Equal(h.t, after, h.settings(), "twice is once")

	status, out = h.run("uninstall", "--scope", h.scope, "--dry-run")
	require.Zero(h.t, status, out)
	require.Equal(h.t, after, h.settings())
	status, out = h.run("uninstall", "--scope", h.scope)
	require.Zero(h.t, status, out)
	require.Equal(h.t, string(before), h.settings(), "the first bytes come back")
}

func (h house) env() []string {
	return []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
}

// runInside runs a command in this process.
func runInside(h house, args []string) (int, string) {
	h.t.Chdir(h.project)
	var out bytes.Buffer
	getenv := func(name string) string {
		for _, e := range h.env() {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		return ""
	}
	status := cli.Main(context.Background(), args, &cli.Stdio{In: &bytes.Buffer{}, Out: &out, Err: &out, Getenv: getenv, Environ: h.env, Now: time.Now})
	return status, out.String()
}

// runProcess runs a command as its users do.
func runProcess(h house, args []string) (int, string) {
	c := exec.Command("hooktrail", args...)
	c.Dir, c.Env = h.project, h.env()
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		require.NoError(h.t, err)
	}
	return c.ProcessState.ExitCode(), string(out)
}
