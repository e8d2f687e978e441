package zertotest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// insertTaggedCP is the number of the one type of event that is simulated.
const insertTaggedCP = 12

// events lists how the requests for tags ended: what is left when a task is
// gone.
func (z *ZVM) events(query map[string]string, now time.Time) []any {
	k := &z.w.Knobs
	rows := []any{}
	if t := query["eventtype"]; t != "" && t != strconv.Itoa(insertTaggedCP) && !strings.EqualFold(t, "InsertTaggedCP") {
		return rows
	}
	since, bounded := z.parse(query["startdate"])
	until, ends := z.parse(query["enddate"])
	for i, p := range z.posts {
		end := p.At.Add(k.TaskDelay)
		at := end.Add(k.ClockSkew)
		switch {
		case k.TaskNeverDone || now.Before(end):
			continue
		case query["vpgidentifier"] != "" && !strings.EqualFold(query["vpgidentifier"], p.VPG):
			continue
		case bounded && at.Before(since) || ends && at.After(until):
			continue
		}
		text := fmt.Sprintf("Insert tagged checkpoint '%s' in VPG %s", p.Tag, z.w.group(p.VPG).Name)
		if k.TaskFails != "" {
			text += " failed: " + k.TaskFails
		}
		rows = append(rows, map[string]any{
			"EventType": insertTaggedCP, "EventCompletedSuccessfully": k.TaskFails == "", "Description": text,
			"OccurredOn": z.date(at), "EntityType": 0, "EventCategory": 1, "UserName": "zerto-api",
			"RelatedEntities": map[string]any{"Vpgs": []any{z.link("VpgApi", "vpgs", p.VPG)}}, "Link": z.link("EventApi", "events", strconv.Itoa(i+1)),
		})
	}
	return rows
}

// alerts lists the alert of the knob. It is on for all groups, since the
// simulator began.
func (z *ZVM) alerts(query map[string]string) []any {
	if z.w.Knobs.Alert == "" || strings.EqualFold(query["isdismissed"], "true") {
		return []any{}
	}
	affected := []any{}
	for _, g := range z.w.Groups {
		if id := query["vpgidentifier"]; id == "" || strings.EqualFold(id, g.ID) {
			affected = append(affected, z.link("VpgApi", "vpgs", g.ID))
		}
	}
	if len(affected) == 0 {
		return affected
	}
	return []any{map[string]any{
		"Level": "Warning", "Entity": "VPG", "HelpIdentifier": "VPG0003", "Description": z.w.Knobs.Alert, "IsDismissed": false,
		"TurnedOn": z.date(z.start.Add(z.w.Knobs.ClockSkew)), "AffectedVpgs": affected,
		"Site": z.link("LocalSiteApi", "localsite", z.w.Local.ID), "Link": z.link("AlertApi", "alerts", "1"),
	}}
}
