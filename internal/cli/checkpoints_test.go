package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/zerto"
	"hooktrail/internal/zerto/zertotest"
)

// TestCheckpointsRefresh follows one tag from pending to late, with its event.
func TestCheckpointsRefresh(t *testing.T) {
	world := zertotest.Three()
	world.Secret = "s3cr3t-marker"
	world.Groups[2].Latency = 2 * time.Second // on AWS: not waited for at a small budget
	zvm := zertotest.New(world, zertotest.Options{Now: time.Now})
	url, stop, err := zvm.Listen(t.Context())
	require.NoError(t, err)
	defer stop()
	dir := t.TempDir()
	cfg, log := filepath.Join(dir, "c.json"), filepath.Join(dir, "audit.jsonl")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("s3cr3t-marker\n"), 0o600))
	require.NoError(t, os.WriteFile(cfg, []byte(`{"zerto":{"url":"`+url+`","auth":{"clientSecretFile":"secret"}}}`), 0o600))

	run := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		s := &Stdio{In: &bytes.Buffer{}, Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Now: time.Now}
		status := Main(context.Background(), append([]string{"checkpoints", "--config", cfg, "--log", log}, args...), s)
		require.NotContains(t, out.String()+errs.String(), "s3cr3t")
		return status, out.String(), errs.String()
	}
	status, out, _ := run()
	require.Equal(t, 0, status)
	require.Equal(t, "no checkpoint was asked for\n", out)
	status, out, _ = run("--json")
	require.Equal(t, 0, status)
	require.JSONEq(t, "[]", out)

	p, err := zerto.New(zerto.Options{Config: config.Zerto{URL: url, Auth: config.ZertoAuth{ClientSecretFile: filepath.Join(dir, "secret")}}, StateFile: filepath.Join(dir, "checkpoints.json")})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.Equal(t, reason.GuardCheckpointUnconfirmed, p.Protect(ctx, guard.Request{VMs: []guard.VM{{Ref: "app03"}}}).Code)

	status, out, _ = run()
	require.Equal(t, 0, status)
	require.Regexp(t, `(?m)^pending +20\S+ +Cloud-AWS +app03 +hooktrail-\S+ +- +- +- +-$`, out)
	require.Eventually(t, func() bool { return !time.Now().Before(zvm.Posts()[0].Listed) }, 10*time.Second, 50*time.Millisecond)
	status, out, _ = run("--refresh", "--json")
	require.Equal(t, 0, status)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &rows))
	require.Equal(t, "late", rows[0]["state"])
	require.Equal(t, zvm.Posts()[0].Tag, rows[0]["tag"])
	_, _, _ = run("--refresh")
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(b, []byte(`"action":"late"`)), string(b))

	stop()
	status, out, errs := run("--refresh") // nothing is pending any more, so nothing is asked
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "late")
}
