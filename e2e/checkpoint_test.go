//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/zerto/zertotest"
)

// zvm starts a simulated ZVM and returns a configuration that guards with it.
func zvm(t *testing.T, budget string, bend ...func(*zertotest.World)) string {
	world := zertotest.Three()
	world.Secret = "secret"
	for _, b := range bend {
		b(&world)
	}
	url, stop, err := zertotest.New(world, zertotest.Options{Now: time.Now}).Listen(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { stop() })
	return zvmAt(t, url, budget)
}

// zvmAt returns a configuration that guards with the ZVM at a URL.
func zvmAt(t *testing.T, url, budget string) string {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret\n"), 0o600))
	b, err := json.Marshal(map[string]any{
		"audit": map[string]any{"log": "@LOG@"},
		"guard": map[string]any{"scope": []string{"mcp__*"}, "budget": budget, "rules": []any{
			map[string]any{"tools": []string{"mcp__vsphere__vm_power_off"}, "class": "mutating", "vm": map[string]any{"path": "vm_name"}},
		}},
		"zerto": map[string]any{"url": url, "auth": map[string]any{"clientSecretFile": secret}},
	})
	require.NoError(t, err)
	return string(b)
}

func TestACallRunsOnceItsCheckpointIsListed(t *testing.T) {
	s, g := install(t, zvm(t, "30s"))
	s.MCP = true
	s.Turns = []turn{mcp("vm_power_off", map[string]any{"vm_name": "app01"})}
	r := play(t, s)
	require.True(t, r.made("mcp-vm_power_off"))
	e := g.decided(t, "PreToolUse")
	require.Len(t, e, 1)
	require.Equal(t, "guard_checkpoint_confirmed", e[0]["reason"])
	require.Contains(t, r.last, "hook additional context", "the model is told which checkpoint there is")
	require.Contains(t, r.last, e[0]["checkpoint"].(map[string]any)["tag"])
}

func TestACallIsHeldBackWhileItsCheckpointIsNotListed(t *testing.T) {
	s, g := install(t, zvm(t, "6s"))
	s.MCP = true
	s.Turns = []turn{mcp("vm_power_off", map[string]any{"vm_name": "app02"}), mcp("vm_power_off", map[string]any{"vm_name": "nobody"})}
	r := play(t, s)
	require.False(t, r.made("mcp-vm_power_off"))
	told, _ := r.result(0, 0)
	require.True(t, told.Error)
	e := g.decided(t, "PreToolUse")
	require.Len(t, e, 2)
	require.Equal(t, "guard_checkpoint_unconfirmed", e[0]["reason"])
	require.Contains(t, []any{"guard_vm_unknown", "guard_unattended"}, e[1]["reason"])
}

// TestHTTPHook: the same guard as a server, and what happens when it is gone.
func TestHTTPHook(t *testing.T) {
	_, g := install(t, rules)
	addr, stop := serving(t, g.home, g.config)
	s := session{Args: bypass, Turns: []turn{bash("touch forbidden"), bash("touch ran")}}
	s.User, s.Env = endpoint(t, addr, obj{"onFailure": "block"})
	r := play(t, s)
	require.False(t, r.made("forbidden"))
	require.True(t, r.made("ran"))
	told, _ := r.result(0, 0)
	require.Contains(t, told.Text, "This command is not allowed")

	stop()
	r = play(t, s)
	require.False(t, r.made("ran"), "a server that is gone blocks, by onFailure")
}

const token = "a-token-that-is-long-enough-for-anything"

// serving starts hooktrail serve and returns its address once it answers.
func serving(t *testing.T, home, config string) (addr string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr = l.Addr().String()
	require.NoError(t, l.Close())
	file := filepath.Join(home, "token")
	require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	serve := exec.CommandContext(ctx, product(t), "serve", "--config", config, "--listen", addr, "--token-file", file)
	serve.Env = []string{"HOME=" + home}
	require.NoError(t, serve.Start())
	stop = sync.OnceFunc(func() { cancel(); _ = serve.Wait() })
	t.Cleanup(stop)
	require.Eventually(t, func() bool {
		res, err := http.Get("http://" + addr + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return true
	}, 20*time.Second, 50*time.Millisecond)
	return addr, stop
}

// endpoint returns settings whose guard is a server, and the environment that
// they need.
func endpoint(t *testing.T, addr string, more obj) (user string, env []string) {
	t.Helper()
	hook := obj{"type": "http", "url": "http://" + addr + "/hook", "headers": obj{"Authorization": "Bearer $HOOK_TOKEN"}, "allowedEnvVars": []any{"HOOK_TOKEN"}, "timeout": 180}
	for k, v := range more {
		hook[k] = v
	}
	b, err := json.Marshal(obj{"hooks": obj{"PreToolUse": []any{obj{"hooks": []any{hook}}}}})
	require.NoError(t, err)
	return string(b), []string{"HOOK_TOKEN=" + token}
}
