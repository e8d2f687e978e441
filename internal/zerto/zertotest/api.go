package zertotest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// api answers the routes under /v1. The caller holds z.mu.
func (z *ZVM) api(r *http.Request, path string, body []byte) reply {
	raw := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(raw) < 2 || !strings.EqualFold(raw[0], "v1") {
		return z.fail(http.StatusNotFound, "no such resource")
	}
	part := make([]string, 0, len(raw)-1)
	for _, s := range raw[1:] {
		u, err := url.PathUnescape(s)
		if err != nil {
			return z.fail(http.StatusBadRequest, "malformed path")
		}
		part = append(part, u)
	}
	query := map[string]string{}
	for k, v := range r.URL.Query() {
		query[strings.ToLower(k)] = v[0]
	}
	now := z.Now()
	switch strings.ToLower(part[0]) {
	case "session":
		return reply{status: http.StatusOK}
	case "localsite":
		m := z.siteRow(z.w.Local, "LocalSiteApi")
		m["SiteName"] = z.w.Local.Name
		return z.ok(z.without(m))
	case "peersites":
		return z.peers(part)
	case "virtualizationsites":
		return z.unprotected(part)
	case "serverdatetime":
		if z.w.Knobs.NoServerTime {
			return z.fail(http.StatusNotFound, "no such resource")
		}
		if len(part) > 1 && strings.EqualFold(part[1], "serverDateTimeLocal") {
			return z.exact(now.Add(z.w.Knobs.ClockSkew + z.w.Knobs.LocalOffset).UTC().Format("2006-01-02T15:04:05.000"))
		}
		return z.exact(now.Add(z.w.Knobs.ClockSkew).UTC().Format("2006-01-02T15:04:05.000Z"))
	case "events":
		return z.ok(z.events(query, now))
	case "alerts":
		return z.ok(z.alerts(query))
	case "vms":
		if len(part) > 2 {
			return z.pointsInTime(part, query, now)
		}
		return z.vms(part, query, now)
	case "tasks":
		return z.tasks(part, now)
	case "vpgs":
		return z.vpgs(r.Method, part, query, body, now)
	}
	return z.fail(http.StatusNotFound, "no such resource")
}

func (z *ZVM) siteRow(s Site, kind string) map[string]any {
	folder := "peersites"
	if kind == "LocalSiteApi" {
		folder = "localsite"
	}
	return map[string]any{"SiteIdentifier": s.ID, "SiteType": s.Type, "RegionName": s.Region, "Version": "10.0.6.0", "Location": s.Name, "UtcOffsetInMinutes": int(z.w.Knobs.LocalOffset / time.Minute), "Link": z.link(kind, folder, s.ID)}
}

func (z *ZVM) peers(part []string) reply {
	rows := []any{}
	for _, p := range z.w.Peers {
		m := z.siteRow(p, "PeerSiteApi")
		m["PeerSiteName"], m["PairingStatus"], m["Port"] = p.Name, 0, 9081
		z.without(m)
		if len(part) > 1 && p.ID == part[1] {
			return z.ok(m)
		}
		rows = append(rows, m)
	}
	if len(part) > 1 {
		return z.fail(http.StatusNotFound, "Site not found")
	}
	return z.ok(rows)
}

func (z *ZVM) unprotected(part []string) reply {
	if len(part) == 1 {
		return z.ok([]any{map[string]any{"SiteIdentifier": z.w.Local.ID, "VirtualizationSiteName": z.w.Local.Name}})
	}
	rows := []any{}
	for _, v := range z.w.Unprotected {
		rows = append(rows, map[string]any{"VmName": v.Name, "VmIdentifier": v.ID, "VmInstanceIdentifier": v.Instance, "GuestOs": "other"})
	}
	return z.ok(rows)
}

func (z *ZVM) groupSite(g *Group) (map[string]any, string) {
	s := z.w.site(g.Site)
	if s.ID == z.w.Local.ID {
		return map[string]any{"href": "https://zvm.invalid/v1/localsite", "identifier": s.ID, "rel": nil, "type": "LocalSiteApi"}, s.Name
	}
	return z.link("PeerSiteApi", "peersites", s.ID), s.Name
}

// state returns the state of g, which may change after a request for a tag.
func (z *ZVM) state(g *Group, now time.Time) (status, sub, rpo int) {
	status, sub, rpo = g.Status, g.SubStatus, 7
	if g.Initializing {
		status, rpo = 0, -1
	}
	if after := z.w.Knobs.StateChangeAfter; after > 0 {
		for _, p := range z.posts {
			if p.VPG == g.ID && !now.Before(p.At.Add(after)) {
				status, sub = z.w.Knobs.StateTo, z.w.Knobs.SubStatusTo
			}
		}
	}
	return status, sub, rpo
}

func (z *ZVM) vms(part []string, query map[string]string, now time.Time) reply {
	id := query["vmidentifier"]
	if len(part) > 1 {
		id = part[1]
	}
	rows := []any{}
	for _, v := range z.w.VMs {
		for _, gid := range v.Groups {
			g := z.w.group(gid)
			if g == nil || id != "" && !strings.EqualFold(id, v.ID) || !z.nameFits(query["vmname"], v.Name) || query["vpgname"] != "" && !strings.EqualFold(query["vpgname"], g.Name) {
				continue
			}
			rows = append(rows, z.vmRow(v, g, now))
		}
	}
	if id == "" {
		return z.ok(rows)
	}
	if len(rows) == 0 {
		switch z.w.Knobs.UnknownID {
		case "404":
			return z.fail(http.StatusNotFound, "VM not found")
		case "empty":
		default:
			return z.fail(http.StatusBadRequest, "VM identifier is not valid")
		}
	}
	if len(part) > 1 && len(rows) > 0 {
		return z.ok(rows[0])
	}
	return z.ok(rows)
}

func (z *ZVM) nameFits(filter, name string) bool {
	switch z.w.Knobs.NameFilter {
	case "exact":
		return filter == "" || strings.EqualFold(filter, name)
	case "ignored":
		return true
	}
	return strings.Contains(strings.ToLower(name), strings.ToLower(filter))
}

func (z *ZVM) vmRow(v VM, g *Group, now time.Time) map[string]any {
	status, sub, rpo := z.state(g, now)
	site, name := z.groupSite(g)
	l := z.link("VmApi", "vms", v.ID+"?VpgIdentifier="+g.ID)
	if v.Instance != "" {
		l["instance_identifier"] = v.Instance
	}
	return z.without(map[string]any{
		"VmName": v.Name, "VmIdentifier": v.ID, "VpgName": g.Name, "VpgIdentifier": g.ID, "Status": status, "SubStatus": sub, "ActualRPO": rpo,
		"IsVmExists": !v.Gone, "Priority": 1, "Entities": map[string]any{"Protected": 0, "Recovery": 0},
		"ProtectedSite": site, "ProtectedSiteName": name, "RecoverySite": z.link("PeerSiteApi", "peersites", "r"), "RecoverySiteName": "recovery site",
		"LastTest": nil, "OrganizationName": "", "Volumes": []any{}, "Link": l,
	})
}

func (z *ZVM) tasks(part []string, now time.Time) reply {
	rows := []any{}
	for _, p := range z.posts {
		if gone := z.w.Knobs.TaskGoneAfter; gone > 0 && !now.Before(p.At.Add(gone)) {
			continue
		}
		t := z.task(p, now)
		if len(part) > 1 && part[1] == p.Task {
			return z.ok(z.without(t))
		}
		rows = append(rows, t)
	}
	if len(part) > 1 {
		return z.fail(http.StatusNotFound, "Task not found")
	}
	return z.ok(rows)
}

func (z *ZVM) vpgRow(g *Group, now time.Time) map[string]any {
	status, sub, rpo := z.state(g, now)
	site, name := z.groupSite(g)
	return z.without(map[string]any{
		"VpgName": g.Name, "VpgIdentifier": g.ID, "VmsCount": 1, "Status": status, "StatusDescription": g.Description, "SubStatus": sub, "ActualRPO": rpo,
		"ProgressPercentage": 0, "Priority": 1, "ProtectedSite": site, "ProtectedSiteName": name, "RecoverySite": z.link("PeerSiteApi", "peersites", "r"),
		"ActiveProcessesApi": map[string]any{"RunningFailOverTestApi": nil}, "Link": z.link("VpgApi", "vpgs", g.ID),
	})
}

func (z *ZVM) vpgs(method string, part []string, query map[string]string, body []byte, now time.Time) reply {
	if len(part) == 1 {
		rows := []any{}
		for i := range z.w.Groups {
			if strings.Contains(strings.ToLower(z.w.Groups[i].Name), strings.ToLower(query["name"])) {
				rows = append(rows, z.vpgRow(&z.w.Groups[i], now))
			}
		}
		return z.ok(rows)
	}
	switch strings.ToLower(part[1]) {
	case "statuses":
		return z.exact([]string{"Initializing", "MeetingSLA", "NotMeetingSLA", "RpoNotMeetingSLA", "HistoryNotMeetingSLA", "FailingOver", "Moving", "Deleting", "Recovered"})
	case "substatuses":
		return z.exact([]string{"None", "InitialSync", "Creating"})
	case "entitytypes":
		return z.exact([]string{"VCVpg", "VCvApp", "VCDvApp", "AWS", "HyperV"})
	}
	g := z.w.group(part[1])
	switch {
	case g == nil:
		return z.fail(http.StatusNotFound, "VPG not found")
	case len(part) == 2:
		return z.ok(z.vpgRow(g, now))
	case !strings.EqualFold(part[2], "checkpoints"):
		return z.fail(http.StatusNotFound, "no such resource")
	case method == http.MethodPost:
		return z.tag(g, body, now)
	}
	return z.checkpoints(g, part, query, now)
}

func (z *ZVM) tag(g *Group, body []byte, now time.Time) reply {
	var m map[string]string
	if json.Unmarshal(body, &m) != nil {
		return z.fail(http.StatusBadRequest, "failed parsing the body")
	}
	for k, v := range m {
		if strings.EqualFold(k, "checkpointName") && v != "" {
			return z.exact(z.post(g, v, now).Task)
		}
	}
	return z.fail(http.StatusBadRequest, "failed parsing the body")
}

func (z *ZVM) checkpoints(g *Group, part []string, query map[string]string, now time.Time) reply {
	if z.w.Knobs.PeerDisconnected {
		return z.fail(http.StatusInternalServerError, "The peer site is disconnected")
	}
	if len(part) > 3 {
		return z.ok(z.ends(z.points(g, now), z.row))
	}
	rows := []any{}
	for _, p := range z.between(g, query, now) {
		rows = append(rows, z.row(p))
	}
	return z.ok(rows)
}
