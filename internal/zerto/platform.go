package zerto

import (
	"slices"
	"strings"
	"time"
)

// A platform is the kind of the protected site. It decides how often the
// journal takes a checkpoint.
type platform string

const (
	vSphere      platform = "vsphere"
	azure        platform = "azure"
	aws          platform = "aws"
	hyperV       platform = "hyperv"
	otherCloud   platform = "cloud"
	unknownPlace platform = "unknown"
)

// platformOf reads a SiteType. Only "VCenter" is known from a recorded answer,
// so parts of words are enough for the others.
func platformOf(siteType, region string) platform {
	t := strings.ToLower(siteType)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t, w) })
	}
	switch {
	case has("vcenter", "vsphere", "vcd", "vmware"):
		return vSphere
	case has("azure"):
		return azure
	case has("aws", "amazon"):
		return aws
	case has("scvmm", "hyperv", "hyper-v"):
		return hyperV
	case region != "":
		return otherCloud
	}
	return unknownPlace
}

// A pace is what is known of how fast a group's journal moves.
type pace struct {
	platform platform
	measured time.Duration // spacing of recent automatic checkpoints; zero if not known
}

// nominal is the usual spacing of automatic checkpoints; zero if not known.
func (p platform) nominal() time.Duration {
	switch p {
	case vSphere:
		return 5 * time.Second
	case azure:
		return 60 * time.Second
	case aws:
		return 630 * time.Second
	case hyperV, otherCloud, unknownPlace:
	}
	return 0
}

// observed is how long a tag took to be listed where somebody measured it;
// zero if nobody did.
func (p platform) observed() time.Duration {
	switch p {
	case vSphere:
		return 4 * time.Second
	case azure:
		return 34 * time.Second
	case aws:
		return 128 * time.Second
	case hyperV, otherCloud, unknownPlace:
	}
	return 0
}

// cadence is the spacing to reckon with; zero if nothing is known.
func (p pace) cadence() time.Duration {
	if p.measured > 0 {
		return p.measured
	}
	return p.platform.nominal()
}

// expected is how long a tag should take to be listed; zero if nothing is known.
//
// Where a latency was observed, it is that, stretched when this journal is
// slower than the usual one; it is not shortened when the journal is faster,
// since nobody has seen a tag travel faster than that. Elsewhere it is one
// cadence: in all three observations the tag was listed within one.
func (p pace) expected() time.Duration {
	o, n := p.platform.observed(), p.platform.nominal()
	if o == 0 {
		return p.measured
	}
	if p.measured > n {
		return time.Duration(float64(o) * float64(p.measured) / float64(n))
	}
	return o
}

// patience is how long a request without a listed tag is still believed to be
// on its way. One whose answer was lost may never have arrived: it is given
// less.
func (p pace) patience(answered bool) time.Duration {
	e := p.expected()
	if e == 0 {
		e = 30 * time.Second
	}
	if !answered {
		return 2*e + 5*time.Second
	}
	return max(3*e, 2*p.cadence()+time.Minute)
}

// window is how far back the list is read to measure the cadence.
func (p platform) window() time.Duration {
	if n := p.nominal(); n > 0 {
		return min(max(12*n, 2*time.Minute), 2*time.Hour)
	}
	return 2 * time.Hour // enough for four of the slowest cadence known
}

// measure returns the median spacing of the last ten automatic checkpoints, or
// zero when there are fewer than four. Tagged ones come out of turn.
func measure(rows []checkpointRow) time.Duration {
	var times []time.Time
	for _, r := range rows {
		if r.Tag == "" && !r.TimeStamp.IsZero() {
			times = append(times, r.TimeStamp.Time)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	times = slices.Compact(times)
	if len(times) > 11 {
		times = times[len(times)-11:]
	}
	if len(times) < 4 {
		return 0
	}
	gaps := make([]time.Duration, 0, len(times)-1)
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, times[i].Sub(times[i-1]))
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}
