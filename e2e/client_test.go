//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A session is one run of the client in print mode.
type session struct {
	User, Project, Local string // settings files, as text; @HOME@ and @PROJECT@ are put in
	Turns                []turn
	Args                 []string
	MCP                  bool
	Env                  []string
	Files                map[string]string // in the project
	Timeout              time.Duration     // zero means 90 s
	Inside               string            // a shell script that runs first, in a mount namespace of the client's own
	MayNotStart          bool              // the client may end before it asks the model
	Market               string            // a folder with plugins, of which "guarding" is installed first
	home                 string            // empty means a new one
}

// A run is what came of a session.
type run struct {
	*model
	Home, Project  string
	Stdout, Stderr string
	Exit           int
}

// version returns the client's version, for which check is to foretell.
func version(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(client(t), "--version").Output()
	require.NoError(t, err)
	v, _, _ := strings.Cut(string(out), " ")
	return v
}

// client returns the client's program, or ends the test.
func client(t *testing.T) string {
	bin := os.Getenv("CLAUDE_BIN")
	if bin == "" {
		found, _ := filepath.Glob(".client/node_modules/@anthropic-ai/claude-code-*/claude")
		if len(found) > 0 {
			bin, _ = filepath.Abs(found[0])
		}
	}
	if _, err := os.Stat(bin); bin != "" && err == nil {
		return bin
	}
	if os.Getenv("E2E_REQUIRE") == "1" {
		t.Fatal("the client is not installed: run e2e/install-client.sh or set CLAUDE_BIN")
	}
	t.Skip("the client is not installed: run e2e/install-client.sh or set CLAUDE_BIN")
	return ""
}

var bypass = []string{"--permission-mode", "bypassPermissions"}

// play runs a session to its end.
func play(t *testing.T, s session) *run {
	t.Helper()
	bin := client(t)
	dir := t.TempDir()
	r := &run{Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project")}
	if s.home != "" {
		r.Home = s.home
	}
	put := func(path, text string) {
		if text == "" {
			return
		}
		text = strings.NewReplacer("@HOME@", r.Home, "@PROJECT@", r.Project).Replace(text)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(r.Home, ".claude"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(r.Project, ".git"), 0o755))
	put(filepath.Join(r.Home, ".claude", "settings.json"), s.User)
	put(filepath.Join(r.Project, ".claude", "settings.json"), s.Project)
	put(filepath.Join(r.Project, ".claude", "settings.local.json"), s.Local)
	for name, text := range s.Files {
		put(filepath.Join(r.Project, name), text)
	}
	turns, _ := json.Marshal(s.Turns)
	var put2 []turn
	require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer("@HOME@", r.Home, "@PROJECT@", r.Project).Replace(string(turns))), &put2))
	r.model = newModel(t, put2)

	args := append([]string{"-p", "go on", "--output-format", "stream-json", "--verbose", "--include-hook-events"}, s.Args...)
	if s.MCP {
		self, err := os.Executable()
		require.NoError(t, err)
		conf, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"vsphere": map[string]any{"command": self, "env": map[string]string{"E2E_MCP_SERVER": "1"}}}})
		put(filepath.Join(dir, "mcp.json"), string(conf))
		args = append(args, "--mcp-config", filepath.Join(dir, "mcp.json"), "--strict-mcp-config")
	}
	limit := s.Timeout
	if limit == 0 {
		limit = 90 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	env := append(r.env("dumb"), s.Env...)
	if s.Market != "" {
		for _, words := range [][]string{{"plugin", "marketplace", "add", s.Market}, {"plugin", "install", "guarding@" + filepath.Base(s.Market)}} {
			cmd := exec.CommandContext(ctx, bin, words...)
			cmd.Dir, cmd.Env = r.Project, env
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	if s.Inside != "" {
		script := strings.NewReplacer("@HOME@", r.Home, "@PROJECT@", r.Project).Replace(s.Inside)
		own := append(namespace(t), "sh", "-c", "set -e; "+script+"\nexec \"$@\"", "sh", bin)
		cmd = exec.CommandContext(ctx, own[0], append(own[1:], args...)...)
	}
	cmd.Dir = r.Project
	cmd.Env = env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	_ = cmd.Run() // the status is looked at by the tests that care
	r.Stdout, r.Stderr, r.Exit = out.String(), errs.String(), cmd.ProcessState.ExitCode()
	require.True(t, s.MayNotStart || strings.Contains(r.Stdout, `"type":"result"`), "the client did not come to an end\n%s", r.Stderr)
	return r
}

// env is the client's environment, with the kind of its terminal.
func (r *run) env(term string) []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + r.Home, "ANTHROPIC_BASE_URL=" + r.URL, "ANTHROPIC_API_KEY=none", "DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1", "LANG=C.UTF-8", "TERM=" + term,
	}
}

// namespace returns the command that gives a program mounts of its own, or
// skips the test where this user may not have any.
func namespace(t *testing.T) []string {
	for _, own := range [][]string{{"unshare", "-m"}, {"unshare", "-Urm"}} {
		if exec.Command(own[0], append(own[1:], "mount", "-t", "tmpfs", "none", "/mnt")...).Run() == nil {
			return own
		}
	}
	t.Skip("this user may not mount anything, not even in a namespace of its own (unshare -m, unshare -Urm)")
	return nil
}

// made tells whether a file was made in the project.
func (r *run) made(name string) bool {
	_, err := os.Stat(filepath.Join(r.Project, name))
	return err == nil
}
