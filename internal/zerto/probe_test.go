package zerto

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/zerto/zertotest"
)

func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := zertotest.Three()
		w.Groups = append(w.Groups, zertotest.Group{ID: "g9", Name: "Paused", SubStatus: 25})
		l := newLab(t, w)
		facts, err := l.p.Probe(t.Context())
		require.NoError(t, err)
		var lines []string
		for _, f := range facts {
			lines = append(lines, fmt.Sprintf("%s %s %v", f.Question, f.Answer, f.Doubt))
		}
		all := strings.Join(lines, "\n")
		for _, want := range []string{
			"How long does a login last? 60 s false",
			`What platform is site "London"? SiteType "VCenter", read as vsphere false`,
			`What platform is site "AWS Ohio"? SiteType "AWS", read as aws false`,
			"How many machines are protected? 3 (machine and group) false",
			"HTTP 400: VM identifier is not valid false",
			"Does the filter by name take a part of a name? yes false",
			"What do the states 3 and 4 mean? RpoNotMeetingSLA, HistoryNotMeetingSLA false",
			`Can group "Cloud-AWS" be tagged, and how fast is its journal? state MeetingSLA, platform aws, a checkpoint every 10 min 30 s, a tag expected after 2 min 8 s false`,
			`Can group "Paused" be tagged, and how fast is its journal? no: its state is MeetingSLA, ReplicationPausedUserInitiated true`,
		} {
			require.Contains(t, all, want)
		}
		require.Empty(t, l.tags())
		require.NotContains(t, all, marker)
	})
	synctest.Test(t, func(t *testing.T) {
		w := zertotest.Three()
		w.Knobs.Unlicensed = true
		_, err := newLab(t, w).p.Probe(t.Context())
		require.ErrorContains(t, err, "License")
	})
}
