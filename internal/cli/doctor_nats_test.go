package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/settings/doctor"
)

// states is what checks say, by name.
func states(checks []doctor.Check) map[string]doctor.State {
	m := map[string]doctor.State{}
	for _, c := range checks {
		m[c.Name] = c.State
	}
	return m
}

func TestDoctorAsksTheServer(t *testing.T) {
	sh := newShell(t)
	probe := func(mark string) []doctor.Check {
		s := sh.stdio("", io.Discard, io.Discard)
		var c common
		set, err := c.load(s)
		require.NoError(t, err)
		checks := natsProbe(context.Background(), s, &set, mark)
		for _, c := range checks {
			require.NotContains(t, c.Detail, "SECRETtoken")
		}
		return checks
	}
	type want = map[string]doctor.State
	sh.tokenServer()
	require.Equal(t, want{"nats": "warning", "stream": "failed"}, states(probe("toolu_1")), "no log yet")
	sh.run(bashEvent, "hook")
	require.Equal(t, want{"nats": "failed"}, states(probe("toolu_1")), "no stream yet")
	sh.run("", "ship", "--create-stream")
	checks := probe("toolu_1")
	require.Equal(t, want{"nats": "ok", "stream": "ok", "round trip": "ok"}, states(checks))
	require.Contains(t, checks[0].Detail, "acknowledged")
	require.Equal(t, want{"nats": "ok", "stream": "ok"}, states(probe("toolu_none")), "nothing was fed")

	// The stream has lost the event, and could lose more.
	nc, err := nats.Connect(sh.env["HOOKTRAIL_NATS_URL"])
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "HOOKTRAIL_AUDIT"))
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "HOOKTRAIL_AUDIT", Subjects: []string{"hooktrail.audit.v1.>"}})
	require.NoError(t, err)
	checks = probe("toolu_1")
	require.Equal(t, want{"nats": "ok", "stream": "warning", "round trip": "failed"}, states(checks))

	sh.env["HOOKTRAIL_NATS_URL"] = ""
	s := sh.stdio("", io.Discard, io.Discard)
	require.Empty(t, natsProbe(context.Background(), s, &settings{}, "toolu_1"))
}

// TestDoctorOfAHostThatMayOnlyPublish: docs/nats.md gives hosts no more, and that
// is no fault.
func TestDoctorOfAHostThatMayOnlyPublish(t *testing.T) {
	sh := newShell(t)
	host, err := os.Hostname()
	require.NoError(t, err)
	url := sh.restrictedServer("hooktrail.audit.v1." + host + ".>")
	sh.env["HOOKTRAIL_NATS_URL"] = url("admin")
	sh.run("", "ship", "--create-stream")
	sh.run(bashEvent, "hook")
	sh.env["HOOKTRAIL_NATS_URL"] = url("box")
	s := sh.stdio("", io.Discard, io.Discard)
	var c common
	set, err := c.load(s)
	require.NoError(t, err)
	checks := natsProbe(t.Context(), s, &set, "toolu_1")
	require.Equal(t, map[string]doctor.State{"nats": "ok", "stream": "ok", "round trip": "ok"}, states(checks))
	require.Contains(t, checks[2].Detail, "may not read")

	// One that may not even publish is told so.
	sh.env["HOOKTRAIL_NATS_URL"] = url("nobody")
	require.NoError(t, os.Remove(filepath.Join(sh.dir, "ship.cursor")))
	set, err = c.load(s)
	require.NoError(t, err)
	checks = natsProbe(t.Context(), s, &set, "toolu_1")
	require.Equal(t, map[string]doctor.State{"nats": "failed"}, states(checks))
	require.Contains(t, checks[0].Detail, "has not the right")
}
