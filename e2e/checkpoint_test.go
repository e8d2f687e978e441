//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/zerto/zertotest"
)

// zvm starts a simulated ZVM and returns a configuration that guards with it.
func zvm(t *testing.T, budget string) string {
	world := zertotest.Three()
	world.Secret = "secret"
	url, stop, err := zertotest.New(world, zertotest.Options{Now: time.Now}).Listen(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { stop() })
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
	bin := product(t)
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	config := filepath.Join(dir, "config.json")
	log := filepath.Join(dir, "audit.jsonl")
	require.NoError(t, os.WriteFile(config, []byte(strings.Replace(rules, "@LOG@", log, 1)), 0o600))
	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("a-token-that-is-long-enough-for-anything\n"), 0o600))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	serve := exec.CommandContext(ctx, bin, "serve", "--config", config, "--listen", addr, "--token-file", token)
	serve.Env = []string{"HOME=" + dir}
	require.NoError(t, serve.Start())
	require.Eventually(t, func() bool {
		res, err := http.Get("http://" + addr + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return true
	}, 10*time.Second, 50*time.Millisecond)

	s := session{Args: bypass, Env: []string{"HOOK_TOKEN=a-token-that-is-long-enough-for-anything"}, Turns: []turn{bash("touch forbidden"), bash("touch ran")}}
	s.User = fmt.Sprintf(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"http","url":"http://%s/hook","headers":{"Authorization":"Bearer $HOOK_TOKEN"},"allowedEnvVars":["HOOK_TOKEN"],"timeout":180,"onFailure":"block"}]}]}}`, addr)
	r := play(t, s)
	require.False(t, r.made("forbidden"))
	require.True(t, r.made("ran"))
	told, _ := r.result(0, 0)
	require.Contains(t, told.Text, "This command is not allowed")

	stop()
	_ = serve.Wait()
	r = play(t, s)
	require.False(t, r.made("ran"), "a server that is gone blocks, by onFailure")
}
