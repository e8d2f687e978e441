package cli

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings/doctor"
)

func TestDoctorAsksTheServer(t *testing.T) {
	sh := newShell(t)
	probe := func() doctor.Check {
		s := sh.stdio("", io.Discard, io.Discard)
		var c common
		set, err := c.load(s)
		require.NoError(t, err)
		checks := natsProbe(context.Background(), s, &set)
		require.Len(t, checks, 1)
		return checks[0]
	}
	sh.tokenServer()
	require.Equal(t, doctor.Warning, probe().State, "no log yet")
	sh.run(bashEvent, "hook")
	c := probe()
	require.Equal(t, doctor.Failed, c.State, "no stream yet")
	require.NotContains(t, c.Detail, "SECRETtoken")
	sh.run("", "ship", "--create-stream")
	c = probe()
	require.Equal(t, doctor.OK, c.State, c.Detail)
	require.Contains(t, c.Detail, "acknowledged")

	sh.env["HOOKTRAIL_NATS_URL"] = ""
	s := sh.stdio("", io.Discard, io.Discard)
	require.Empty(t, natsProbe(context.Background(), s, &settings{}))
}
