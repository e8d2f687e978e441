package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/report"
)

// restrictedServer starts a server with an admin, a box that may publish to a
// subject, and nobody, who may do nothing. It returns the URL of each.
func (sh *shell) restrictedServer(subject string) func(user string) string {
	sh.t.Helper()
	inbox := &server.SubjectPermission{Allow: []string{"_INBOX.>"}}
	only := func(subject string) *server.Permissions {
		return &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{subject}}, Subscribe: inbox}
	}
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: sh.t.TempDir(), NoLog: true, NoSigs: true,
		Users: []*server.User{
			{Username: "admin", Password: "SECRETpw"},
			{Username: "box", Password: "SECRETpw", Permissions: only(subject)},
			{Username: "nobody", Password: "SECRETpw", Permissions: only("nothing")},
		},
	})
	require.NoError(sh.t, err)
	srv.Start()
	sh.t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	require.True(sh.t, srv.ReadyForConnections(10*time.Second))
	return func(user string) string {
		return strings.Replace(srv.ClientURL(), "nats://", "nats://"+user+":SECRETpw@", 1)
	}
}

// sampleLog puts the sample log of the reports into the shell's place, and ships
// it; copies says how many of its lines the stream is to hold twice.
func (sh *shell) sampleLog(copies int) {
	sh.t.Helper()
	b, err := os.ReadFile("../report/testdata/sample-audit.jsonl")
	require.NoError(sh.t, err)
	require.NoError(sh.t, os.WriteFile(sh.env["HOOKTRAIL_LOG"], b, 0o600))
	nc, err := nats.Connect(sh.env["HOOKTRAIL_NATS_URL"])
	require.NoError(sh.t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(sh.t, err)
	str, err := js.CreateStream(sh.t.Context(), jetstream.StreamConfig{Name: "HOOKTRAIL_AUDIT", Subjects: []string{"hooktrail.audit.v1.>"}, Duplicates: 100 * time.Millisecond})
	require.NoError(sh.t, err)
	publish := func(line string) {
		var e struct{ Host, Layer, Decision, EventID string }
		if json.Unmarshal([]byte(line), &e) != nil || e.EventID == "" {
			return
		}
		msg := nats.NewMsg("hooktrail.audit.v1." + e.Host + "." + e.Layer + "." + e.Decision)
		msg.Data = []byte(line)
		msg.Header.Set("Nats-Msg-Id", e.EventID)
		_, err := js.PublishMsg(sh.t.Context(), msg)
		require.NoError(sh.t, err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for _, l := range lines {
		publish(l)
	}
	before := func() uint64 {
		info, err := str.Info(sh.t.Context())
		require.NoError(sh.t, err)
		return info.State.Msgs
	}
	stored := before()
	for _, l := range lines[:copies] { // until the window of duplicates has passed
		require.Eventually(sh.t, func() bool { publish(l); n := before(); grown := n > stored; stored = n; return grown }, 10*time.Second, 50*time.Millisecond)
	}
}

// TestReportsFromTheStreamEqualThoseFromTheFile: every report, and the story of a
// call, on the sample log. The stream holds some events twice.
func TestReportsFromTheStreamEqualThoseFromTheFile(t *testing.T) {
	sh := newShell(t)
	sh.tokenServer()
	sh.sampleLog(3)
	args := map[string][]string{"session": {"s5"}}
	for _, r := range append([]report.Info{{}}, report.Reports()...) {
		t.Run(r.Name, func(t *testing.T) {
			a := []string{"report"}
			if r.Name != "" {
				a = append(append(a, r.Name), args[r.Name]...)
			}
			a = append(a, "--since", "876000h")
			status, want, errs := sh.run("", a...)
			require.Equal(t, 0, status, errs)
			status, got, errs := sh.run("", append(a, "--nats")...)
			require.Equal(t, 0, status, errs)
			if r.Name == "integrity" { // it is asked for doubles
				require.NotEqual(t, want, got)
				return
			}
			require.Equal(t, want, got)
		})
	}
	wantStatus, want, _ := sh.run("", "explain", "toolu_0265")
	status, got, errs := sh.run("", "explain", "--nats", "toolu_0265")
	require.Equal(t, wantStatus, status, errs)
	require.Equal(t, want, got)
	require.Contains(t, got, "FINDING")
	_, want, _ = sh.run("", "report", "call", "toolu_0265", "--json")
	_, got, _ = sh.run("", "report", "call", "toolu_0265", "--json", "--nats")
	require.Equal(t, want, got)
}

// TestAStreamThatCannotBeRead says why, in words that quote no password.
func TestAStreamThatCannotBeRead(t *testing.T) {
	sh := newShell(t)
	url := sh.restrictedServer("hooktrail.audit.v1.box.>")
	for _, tt := range []struct{ name, url, want string }{
		{"no server set", "", "HOOKTRAIL_NATS_URL"},
		{"nobody there", "nats://u:SECRETpw@127.0.0.1:1", "connect to NATS"},
		{"no stream", url("admin"), "--create-stream"},
		{"no right", url("box"), "has not the right"},
		{"wrong password", strings.Replace(url("admin"), "SECRETpw", "SECRETother", 1), "uthorization"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sh.env["HOOKTRAIL_NATS_URL"] = tt.url
			for _, args := range [][]string{{"report", "--nats"}, {"report", "health", "--nats"}, {"explain", "--nats", "toolu_1"}, {"tail", "--nats"}, {"tail", "--nats", "-f"}} {
				status, out, errs := sh.run("", args...)
				require.Equal(t, 2, status, args)
				require.Empty(t, out)
				require.Contains(t, errs, tt.want, args)
				require.NotContains(t, errs, "SECRET")
			}
		})
	}
	sh.env["HOOKTRAIL_NATS_URL"] = url("admin")
	status, _, errs := sh.run("", "report", "health", "--nats", "go.mod")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "no file")
}
