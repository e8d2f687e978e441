package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/settings/doctor"
	"hooktrail/internal/zerto/zertotest"
)

func TestZertoProbe(t *testing.T) {
	zvm := zertotest.New(zertotest.Three(), zertotest.Options{Now: time.Now})
	url, stop, err := zvm.Listen(t.Context())
	require.NoError(t, err)
	defer stop()
	s := &Stdio{Getenv: func(string) string { return "s3cr3t-marker" }, Now: time.Now}
	set := &settings{Log: t.TempDir() + "/audit.jsonl"}
	require.Empty(t, zertoProbe(t.Context(), s, set), "no zerto section")

	set.Zerto = &config.Zerto{URL: url, Auth: config.ZertoAuth{ClientSecretEnv: "S"}}
	checks := zertoProbe(t.Context(), s, set)
	require.Equal(t, doctor.OK, doctor.Worst(checks))
	var text []string
	for _, c := range checks {
		text = append(text, c.Detail)
	}
	require.Contains(t, strings.Join(text, "\n"), `SiteType "Azure", read as azure`)
	require.Empty(t, zvm.Posts())

	stop()
	checks = zertoProbe(t.Context(), s, set)
	require.Equal(t, doctor.Failed, doctor.Worst(checks))
	require.NotContains(t, checks[len(checks)-1].Detail, "s3cr3t")
}
