package zertotest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"hooktrail/internal/zerto/zertotest"
)

// A client of the simulator with a clock of its own.
type client struct {
	t     *testing.T
	z     *zertotest.ZVM
	now   time.Time
	token string
}

func newClient(t *testing.T, w zertotest.World) *client {
	t.Helper()
	c := &client{t: t, now: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)}
	w.Knobs.TokenTTL = time.Hour
	c.z = zertotest.New(w, zertotest.Options{Now: func() time.Time { return c.now }})
	_, got := c.call(http.MethodPost, "/auth/realms/zerto/protocol/openid-connect/token", "grant_type=client_credentials&client_id=c&scope=openid")
	c.token = got.Get("access_token").Str
	return c
}

func (c *client) call(method, path, body string) (int, gjson.Result) {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+c.token)
	w := httptest.NewRecorder()
	c.z.ServeHTTP(w, r)
	return w.Code, gjson.Parse(w.Body.String())
}

func (c *client) get(path string) gjson.Result {
	c.t.Helper()
	status, got := c.call(http.MethodGet, path, "")
	require.Equal(c.t, http.StatusOK, status, path)
	return got
}

const (
	local = "57f502ff-3c41-4aff-b20a-6638205b73cd"
	azure = "7e79035e-fb8c-47fe-815c-12ddd41708e6"
	app01 = "d4a6a1d5-79e9-4308-990a-7c3e616f0908.vm-38"
)

func (c *client) tag(vpg string) {
	c.t.Helper()
	status, _ := c.call(http.MethodPost, "/v1/vpgs/"+vpg+"/checkpoints", `{"checkpointName":"a tag"}`)
	require.Equal(c.t, http.StatusOK, status)
}

func TestEvents(t *testing.T) {
	c := newClient(t, zertotest.Three())
	require.Empty(t, c.get("/v1/events").Array())
	c.tag(local)
	require.Empty(t, c.get("/v1/events").Array(), "its task runs")
	c.now = c.now.Add(2 * time.Second)
	for query, want := range map[string]int{
		"": 1, "eventType=InsertTaggedCP": 1, "eventType=insertTaggedCP": 1, "eventType=12": 1, "eventType=FailOver": 0,
		"vpgIdentifier=" + local: 1, "vpgIdentifier=" + azure: 0,
		"startDate=2026-12-01T10:00:00Z": 1, "startDate=2026-12-01T10:00:02Z": 0, "endDate=2026-12-01T10:00:00Z": 0,
	} {
		require.Len(t, c.get("/v1/events?"+query).Array(), want, query)
	}
	e := c.get("/v1/events").Get("0")
	require.Equal(t, int64(12), e.Get("EventType").Int())
	require.True(t, e.Get("EventCompletedSuccessfully").Bool())
	require.Equal(t, "Insert tagged checkpoint 'a tag' in VPG Local", e.Get("Description").Str)
	require.Equal(t, "2026-12-01T10:00:01Z", e.Get("OccurredOn").Str)
}

// TestAFailedTagLeavesItsReason also when its task is gone.
func TestAFailedTagLeavesItsReason(t *testing.T) {
	w := zertotest.Three()
	w.Knobs.TaskFails, w.Knobs.TaskGoneAfter, w.Knobs.Casing = "the journal is full", 2*time.Second, "camel"
	c := newClient(t, w)
	c.tag(local)
	c.now = c.now.Add(time.Minute)
	require.Empty(t, c.get("/v1/tasks").Array())
	e := c.get("/v1/events?vpgIdentifier=" + local).Get("0")
	require.True(t, e.Get("eventCompletedSuccessfully").Exists())
	require.False(t, e.Get("eventCompletedSuccessfully").Bool())
	require.Contains(t, e.Get("description").Str, "failed: the journal is full")
}

func TestAlerts(t *testing.T) {
	require.Empty(t, newClient(t, zertotest.Three()).get("/v1/alerts").Array())
	w := zertotest.Three()
	w.Knobs.Alert = "The journal is nearly full"
	c := newClient(t, w)
	for query, want := range map[string]int{"": 1, "isDismissed=false": 1, "isDismissed=true": 0, "vpgIdentifier=" + local: 1, "vpgIdentifier=nobody": 0} {
		require.Len(t, c.get("/v1/alerts?"+query).Array(), want, query)
	}
	a := c.get("/v1/alerts?vpgIdentifier=" + local).Get("0")
	require.Equal(t, "The journal is nearly full", a.Get("Description").Str)
	require.Equal(t, local, a.Get("AffectedVpgs.0.identifier").Str)
	require.Len(t, a.Get("AffectedVpgs").Array(), 1)
}

func TestPointsInTime(t *testing.T) {
	w := zertotest.Three()
	c := newClient(t, w)
	c.tag(local)
	c.now = c.now.Add(10 * time.Second)
	since := url.QueryEscape("2026-12-01T10:00:00Z")
	points := c.get("/v1/vms/" + app01 + "/pointsInTime?startDate=" + since)
	require.Len(t, points.Array(), 4, "three automatic ones and the tag")
	require.Equal(t, "a tag", points.Get(`#(Checkpoint.Tag!=null).Checkpoint.Tag`).Str)
	require.True(t, points.Get("0.CanMount.IsAllowed").Bool())
	require.Equal(t, c.get("/v1/vpgs/"+local+"/checkpoints?startDate="+since).Raw, points.Get("#.Checkpoint").Raw, "the same journal")

	stats := c.get("/v1/vms/" + app01 + "/pointsInTime/stats")
	require.Equal(t, c.get("/v1/vpgs/"+local+"/checkpoints/stats").Get("Latest").Raw, stats.Get("Latest.Checkpoint").Raw)

	for path, want := range map[string]int{"/v1/vms/nobody/pointsInTime": http.StatusBadRequest, "/v1/vms/" + app01 + "/else": http.StatusNotFound} {
		status, _ := c.call(http.MethodGet, path, "")
		require.Equal(t, want, status, path)
	}
}

func TestPointsInTimeOfOneGroupOfSeveral(t *testing.T) {
	w := zertotest.Three()
	w.VMs[0].Groups = []string{local, azure}
	c := newClient(t, w)
	status, got := c.call(http.MethodGet, "/v1/vms/"+app01+"/pointsInTime/stats", "")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, got.Get("Message").Str, "VpgIdentifier is required")
	latest := c.get("/v1/vms/" + app01 + "/pointsInTime/stats?vpgIdentifier=" + azure).Get("Latest.Checkpoint").Raw
	require.Equal(t, c.get("/v1/vpgs/"+azure+"/checkpoints/stats").Get("Latest").Raw, latest)
}
