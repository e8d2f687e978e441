package zertotest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// between returns the listed points of g within the dates of a query, in the
// order of the knob.
func (z *ZVM) between(g *Group, query map[string]string, now time.Time) []point {
	k := &z.w.Knobs
	all := z.points(g, now)
	since, bounded := z.parse(query["startdate"])
	until, ends := z.parse(query["enddate"])
	if !bounded && k.BigList > 0 {
		for i := range k.BigList {
			all = append(all, point{id: i, at: z.start.Add(-time.Duration(i) * time.Second)})
		}
	}
	all = slices.DeleteFunc(all, func(p point) bool {
		at := p.at.Add(k.ClockSkew + k.JournalSkew).Truncate(time.Second)
		// A doubled tag is shown whatever the bounds are.
		doubled := k.TagDuplicates && p.tag != ""
		return !doubled && bounded && at.Before(since.Truncate(time.Second)) || ends && at.After(until)
	})
	switch k.Order {
	case "desc":
		slices.Reverse(all)
	case "random":
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // the order of a simulator's list
	}
	return all
}

// ends writes the first and the last point of a journal; nulls when it is empty.
func (z *ZVM) ends(all []point, row func(point) map[string]any) map[string]any {
	m := map[string]any{"Earliest": nil, "Latest": nil}
	if len(all) > 0 {
		m["Earliest"], m["Latest"] = row(all[0]), row(all[len(all)-1])
	}
	return m
}

// pointsInTime answers vms/{id}/pointsInTime[/stats]: the journal of the group
// that protects the machine.
func (z *ZVM) pointsInTime(part []string, query map[string]string, now time.Time) reply {
	if !strings.EqualFold(part[2], "pointsInTime") {
		return z.fail(http.StatusNotFound, "no such resource")
	}
	g, bad := z.groupOf(part[1], query["vpgidentifier"])
	if bad != "" {
		return z.fail(http.StatusBadRequest, bad)
	}
	if z.w.Knobs.PeerDisconnected {
		return z.fail(http.StatusInternalServerError, "The peer site is disconnected")
	}
	row := func(p point) map[string]any {
		return map[string]any{"Checkpoint": z.row(p), "RetentionSet": nil, "CanMount": map[string]any{"IsAllowed": true, "Reason": ""}}
	}
	if len(part) > 3 {
		return z.ok(z.ends(z.points(g, now), row))
	}
	rows := []any{}
	for _, p := range z.between(g, query, now) {
		rows = append(rows, row(p))
	}
	return z.ok(rows)
}

// groupOf finds the group of a machine. One in several groups needs the group's
// identifier.
func (z *ZVM) groupOf(vm, vpg string) (g *Group, bad string) {
	for _, v := range z.w.VMs {
		if !strings.EqualFold(v.ID, vm) {
			continue
		}
		for _, id := range v.Groups {
			switch {
			case vpg != "" && !strings.EqualFold(vpg, id):
			case g != nil:
				return nil, "The virtual machine is protected by more than one VPG: VpgIdentifier is required"
			default:
				g = z.w.group(id)
			}
		}
	}
	if g == nil {
		return nil, "VM identifier is not valid"
	}
	return g, ""
}
