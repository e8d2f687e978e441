package zertotest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// A point is one checkpoint of a journal.
type point struct {
	id    int
	at    time.Time
	tag   string
	shown time.Time // when the list begins to show it
}

// post takes a request for a tag. The caller holds z.mu.
func (z *ZVM) post(g *Group, tag string, now time.Time) Post {
	k := &z.w.Knobs
	if n := k.TagTruncatedAt; n > 0 && len(tag) > n {
		tag = tag[:n]
	}
	p := Post{VPG: g.ID, Tag: tag, At: now, Task: fmt.Sprintf("%08x-fb8c-47fe-815c-%012x.%s", rand.Uint32(), rand.Uint64()>>16, z.w.Local.ID)} //nolint:gosec // identifiers of a simulator
	if g.Latency >= 0 && !k.NeverLands && k.TaskFails == "" {
		p.Lands = now.Add(g.Latency)
		if !k.NeverListed {
			p.Listed = p.Lands.Add(g.ListLag)
		}
	}
	z.posts = append(z.posts, p)
	return p
}

// points returns what the journal of g lists at now. The caller holds z.mu.
func (z *ZVM) points(g *Group, now time.Time) []point {
	var all []point
	first := z.start.Truncate(g.Cadence).Add(-pastCount * g.Cadence)
	for t := first; !t.After(now); t = t.Add(g.Cadence) {
		all = append(all, point{at: t, shown: t})
	}
	var wiped time.Time
	for _, p := range z.posts {
		if p.VPG != g.ID {
			continue
		}
		if w := z.w.Knobs.ResyncAfter; w > 0 && !now.Before(p.At.Add(w)) {
			wiped = p.At.Add(w)
		}
		if z.w.Knobs.TagDuplicates {
			all = append(all, point{at: p.At.Add(-2 * time.Hour), shown: p.At, tag: p.Tag})
		}
		if p.Lands.IsZero() || p.Listed.IsZero() || now.Before(p.Lands) {
			continue
		}
		all = append(all, point{at: p.Lands, shown: p.Listed, tag: p.Tag})
	}
	slices.SortStableFunc(all, func(a, b point) int { return a.at.Compare(b.at) })
	for i := range all {
		all[i].id = firstAt + i
	}
	return slices.DeleteFunc(all, func(p point) bool { return p.shown.After(now) || !p.at.After(wiped) })
}

// row writes a checkpoint as the wire has it.
func (z *ZVM) row(p point) map[string]any {
	k := &z.w.Knobs
	var tag any
	if p.tag != "" {
		tag = p.tag
	}
	m := map[string]any{
		"CheckpointIdentifier": strconv.Itoa(p.id),
		"TimeStamp":            z.date(p.at.Add(k.ClockSkew + k.JournalSkew).Truncate(time.Second)),
		"Tag":                  tag,
	}
	kind := 0
	if p.tag != "" {
		kind = 1
	}
	if k.TypeOrVss != "vss" && k.TypeOrVss != "none" {
		m["Type"] = kind
	}
	if k.TypeOrVss == "vss" || k.TypeOrVss == "both" {
		m["Vss"] = false
	}
	return m
}

// date writes a time in the version's form.
func (z *ZVM) date(t time.Time) string {
	switch z.w.Knobs.Dates {
	case "iso_ms":
		return t.UTC().Format("2006-01-02T15:04:05.000Z")
	case "msjson":
		return fmt.Sprintf("/Date(%d+0300)/", t.UnixMilli())
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// parse reads a date parameter: without a zone it is the ZVM's local time.
func (z *ZVM) parse(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			if layout != time.RFC3339Nano {
				t = t.Add(-z.w.Knobs.LocalOffset)
			}
			return t, true
		}
	}
	return time.Time{}, false
}

// task writes the state of a request.
func (z *ZVM) task(p Post, now time.Time) map[string]any {
	k := &z.w.Knobs
	state, progress, why := 1, 0, ""
	var completed any
	if end := p.At.Add(k.TaskDelay); !now.Before(end) && !k.TaskNeverDone {
		state, progress, completed = 6, 100, z.date(end)
		if k.TaskFails != "" {
			state, why = 4, k.TaskFails
		}
	}
	return map[string]any{
		"TaskIdentifier": p.Task, "Type": "InsertTaggedCP", "InitiatedBy": "zerto-api", "Generation": 1,
		"Status": map[string]any{"State": state, "Progress": progress}, "Started": z.date(p.At), "Completed": completed,
		"CompleteReason": why, "IsCancellable": false,
		"RelatedEntities": map[string]any{"Vpgs": []any{z.link("VpgApi", "vpgs", p.VPG)}, "Sites": []any{}, "Hosts": []any{}, "FlrSessions": []any{}},
	}
}
