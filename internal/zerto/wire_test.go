package zerto

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestParseDate(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"2019-07-20T19:30:19Z", "2019-07-20T19:30:19Z"},
		{"2019-07-11T16:51:07.022Z", "2019-07-11T16:51:07.022Z"},
		{"2019-07-11T16:51:07.0221234Z", "2019-07-11T16:51:07.0221234Z"},
		{"2019-07-20T19:30:19+03:00", "2019-07-20T16:30:19Z"},
		{"2019-07-20T19:30:19", "2019-07-20T19:30:19Z"},
		{"/Date(1520423877045)/", "2018-03-07T11:57:57.045Z"},
		{"/Date(1520423877045+0300)/", "2018-03-07T11:57:57.045Z"},
		{"/Date(1520423877045-0500)/", "2018-03-07T11:57:57.045Z"},
		{"/Date(-62135596800000)/", ""},
		{"0001-01-01T00:00:00", ""},
		{"9999-12-31T23:59:59.9999999", ""},
		{"/Date()/", ""},
		{"/Date(1", ""},
		{"yesterday", ""},
		{"", ""},
	} {
		got, ok := parseDate(tt.in)
		require.Equal(t, tt.want != "", ok, tt.in)
		if ok {
			require.Equal(t, tt.want, got.Format(time.RFC3339Nano), tt.in)
		}
	}
}

func TestDecodeRows(t *testing.T) {
	var rows []vmRow
	require.NoError(t, decode([]byte(`[{"vmName":"a","link":{"identifier":"g.vm-1?VpgIdentifier=v1"},"status":"MeetingSLA","subStatus":"0","isVmExists":null,"actualRPO":7.5,"unknown":{"deep":[1]}}]`), &rows))
	require.Equal(t, "a", string(rows[0].VmName))
	require.Equal(t, "g.vm-1", rows[0].id())
	require.Equal(t, "v1", rows[0].group())
	require.Equal(t, enum{number: -1, name: "MeetingSLA", known: true}, rows[0].Status)
	require.Equal(t, enum{number: 0, known: true}, rows[0].SubStatus)
	require.Nil(t, rows[0].IsVmExists)

	var cps []checkpointRow
	require.NoError(t, decode([]byte(`[{"CheckpointIdentifier":9007199254740993,"TimeStamp":null,"Tag":null},{"checkpointIdentifier":"12","tag":"x"}]`), &cps))
	require.Equal(t, "9007199254740993", cps[0].id(), "all digits")
	require.True(t, cps[0].TimeStamp.IsZero())

	require.NoError(t, decode([]byte("\ufeff"+`[{"Tag":"x"}]`), &cps))
	require.Equal(t, "x", string(cps[0].Tag))

	// Two readers would see two tags.
	require.Error(t, decode([]byte(`[{"Tag":"a","tag":"b"}]`), &cps))
	require.Error(t, decode([]byte(`[{"Tag":"a","Tag":"b"}]`), &cps))
	require.Error(t, decode([]byte(`[{"Tag":["a"]}]`), &cps))
	require.Error(t, decode([]byte(`[{"Tag":"a"}] x`), &cps))
}

func TestJudge(t *testing.T) {
	n := func(i int) enum { return enum{number: i, known: true} }
	refused := map[int]bool{}
	for _, s := range []int{1, 2, 3, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 29, 30, 31, 32, 33, 35, 36, 37, 38, 39, 40} {
		refused[s] = true
	}
	for status := range 12 {
		for sub := range 46 {
			got, state := judge(n(status), n(sub), nil)
			want := refused[sub] || status == 0 || status >= 5 && status <= 8
			require.Equal(t, want, got == unfit, "%d/%d %s", status, sub, state)
			require.NotEmpty(t, state)
		}
	}
	rpo := -1.0
	got, _ := judge(n(1), n(0), &rpo)
	require.Equal(t, unfit, got)
	got, _ = judge(enum{}, enum{}, nil)
	require.NotEqual(t, unfit, got, "a state that is not given is tried")
	got, state := judge(enum{name: "Failing Over", known: true, number: -1}, n(0), nil)
	require.Equal(t, unfit, got, state)
	got, _ = judge(enum{name: "HistoryNotMeetingSLA", known: true, number: -1}, n(0), nil)
	require.Equal(t, fit, got)
}

func TestPace(t *testing.T) {
	for _, tt := range []struct {
		siteType, region  string
		measured          time.Duration
		platform          platform
		cadence, expected time.Duration
	}{
		{"VCenter", "", 0, vSphere, 5 * time.Second, 4 * time.Second},
		{"vCD", "", 10 * time.Second, vSphere, 10 * time.Second, 8 * time.Second},
		{"Azure", "westeurope", 0, azure, time.Minute, 34 * time.Second},
		{"MicrosoftAzure", "", 30 * time.Second, azure, 30 * time.Second, 34 * time.Second},
		{"AWS", "us-east-2", 0, aws, 630 * time.Second, 128 * time.Second},
		{"AmazonWebServices", "", 1260 * time.Second, aws, 1260 * time.Second, 256 * time.Second},
		{"SCVMM", "", 20 * time.Second, hyperV, 20 * time.Second, 20 * time.Second},
		{"", "region", 0, otherCloud, 0, 0},
		{"Mystery", "", 0, unknownPlace, 0, 0},
	} {
		p := pace{platform: platformOf(tt.siteType, tt.region), measured: tt.measured}
		require.Equal(t, tt.platform, p.platform, tt.siteType)
		require.Equal(t, tt.cadence, p.cadence(), tt.siteType)
		require.Equal(t, tt.expected, p.expected(), tt.siteType)
		require.Positive(t, p.patience(false))
		require.Greater(t, p.patience(true), p.patience(false))
	}
}

func TestMeasure(t *testing.T) {
	row := func(s int, tag string) checkpointRow {
		return checkpointRow{Tag: text(tag), TimeStamp: stamp{time.Unix(int64(s), 0)}}
	}
	require.Zero(t, measure(nil))
	require.Zero(t, measure([]checkpointRow{row(0, ""), row(5, ""), row(10, "")}))
	require.Equal(t, 5*time.Second, measure([]checkpointRow{row(20, ""), row(0, ""), row(5, ""), row(7, "tag"), row(15, ""), row(10, ""), row(9, "tag")}))
	require.Equal(t, 60*time.Second, measure([]checkpointRow{row(0, ""), row(60, ""), row(120, ""), row(600, ""), row(660, "")}), "one gap does not count")
}

func TestPathSafe(t *testing.T) {
	for id, want := range map[string]bool{"57f502ff-3c41": true, "g-a b": true, "": false, ".": false, "..": false, "a/b": false, `a\b`: false, "a?b": false, "a#b": false, "a%2fb": false, "a\nb": false} {
		require.Equal(t, want, pathSafe(id), "%q", id)
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2019-07-20T19:30:19Z", "/Date(1520423877045+0300)/", "x", "/Date(-1)/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := parseDate(s); ok {
			require.Equal(t, time.UTC, d.Location())
			_, err := json.Marshal(d)
			require.NoError(t, err, "it can be written back")
		}
	})
}

// FuzzRows feeds any bytes where lists come in: a tag is found only if its text
// stands there, and nothing panics.
func FuzzRows(f *testing.F) {
	f.Add([]byte(`[{"CheckpointIdentifier":"1","TimeStamp":"2019-07-20T19:30:19Z","Tag":"hooktrail-x"}]`))
	f.Add([]byte(`[{"VmName":"a","VmIdentifier":"b.c","Status":1,"Link":{"identifier":"x?VpgIdentifier=y"}}]`))
	f.Add([]byte(`{"unexpected":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var cps []checkpointRow
		if decode(b, &cps) == nil {
			if listed(cps, "hooktrail-x", time.Time{}) != nil {
				var other []map[string]any
				require.NoError(t, json.Unmarshal(b, &other, jsontext.AllowInvalidUTF8(true)), "any strict reader reads it, too")
			}
			measure(cps)
		}
		var vms []vmRow
		if decode(b, &vms) == nil {
			for _, r := range vms {
				_, _, _, _ = r.id(), r.group(), r.instance(), r.siteName()
				judge(r.Status, r.SubStatus, r.ActualRPO)
			}
		}
		_, _ = parseLedger(b)
		taskID(b)
	})
}
