package zerto

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decode reads one JSON value of the ZVM. Names match without regard to case,
// since versions differ in it; two names that differ in case only are an error.
// A byte order mark in front is dropped: libraries of .NET like to write one.
func decode(b []byte, into any) error {
	return json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), into, json.MatchCaseInsensitiveNames(true), jsontext.AllowInvalidUTF8(true))
}

// A text is a string that some versions send as a number or null.
type text string

// UnmarshalJSONFrom reads a string, a number (all digits kept) or null.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case 'n':
		*t = ""
	case '"':
		s, err := jsontext.AppendUnquote(nil, v)
		if err != nil && !strings.ContainsRune(string(s), '\uFFFD') {
			return err
		}
		*t = text(s)
	case '0':
		*t = text(v)
	default:
		return fmt.Errorf("want a string, got %s", v.Kind())
	}
	return nil
}

// An enum is a number of a list, or its name; versions send either.
type enum struct {
	number int
	name   string
	known  bool // it was there
}

// UnmarshalJSONFrom reads a number, digits in a string, a name or null.
func (e *enum) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var t text
	if err := t.UnmarshalJSONFrom(d); err != nil {
		return err
	}
	*e = enum{}
	if t == "" {
		return nil
	}
	e.known = true
	if f, err := strconv.ParseFloat(string(t), 64); err == nil {
		e.number = -1
		if f >= 0 && f <= 1e6 && f == float64(int(f)) {
			e.number = int(f)
		}
		return nil
	}
	e.number, e.name = -1, string(t)
	return nil
}

// A stamp is a date in one of the forms that ZVMs send. A form that is not
// known is kept as the zero time: dates inform, they prove nothing.
type stamp struct{ time.Time }

// UnmarshalJSONFrom reads a date or null.
func (s *stamp) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var t text
	if err := t.UnmarshalJSONFrom(d); err != nil {
		return err
	}
	s.Time, _ = parseDate(string(t))
	return nil
}

// parseDate reads ISO 8601 with or without a fraction and a zone (none means
// UTC), and the /Date(milliseconds)/ of older versions.
func parseDate(s string) (time.Time, bool) {
	if ms, ok := strings.CutPrefix(s, "/Date("); ok {
		ms, ok = strings.CutSuffix(ms, ")/")
		if !ok {
			return time.Time{}, false
		}
		// The zone after the number is how the server would show it; the number
		// itself counts from the epoch in UTC.
		if i := strings.LastIndexAny(ms, "+-"); i > 0 {
			ms = ms[:i]
		}
		n, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			return time.Time{}, false
		}
		return sane(time.UnixMilli(n).UTC())
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return sane(t.UTC())
		}
	}
	return time.Time{}, false
}

// sane refuses years that no JSON encoder of times would write back.
func sane(t time.Time) (time.Time, bool) {
	if y := t.Year(); y < 1970 || y > 9998 {
		return time.Time{}, false
	}
	return t, true
}

// A link points from one object to another.
type link struct {
	Href          text `json:"href"`
	Identifier    text `json:"identifier"`
	Type          text `json:"type"`
	VpgIdentifier text `json:"vpg_identifier"`
	Instance      text `json:"instance_identifier"`
}

// id is the identifier without the query that rows of VMs carry in it.
func (l link) id() string {
	id, _, _ := strings.Cut(string(l.Identifier), "?")
	return id
}

// vpg is the group that a VM's link names.
func (l link) vpg() string {
	if l.VpgIdentifier != "" {
		return string(l.VpgIdentifier)
	}
	_, query, _ := strings.Cut(string(l.Identifier), "?")
	for part := range strings.SplitSeq(query, "&") {
		if k, v, _ := strings.Cut(part, "="); strings.EqualFold(k, "VpgIdentifier") {
			return v
		}
	}
	return ""
}

// A vmRow is one line of the list of VMs: one VM in one group.
type vmRow struct {
	VmName               text
	VmIdentifier         text
	VmInstanceIdentifier text
	VpgName              text
	VpgIdentifier        text
	Status               enum
	SubStatus            enum
	ActualRPO            *float64
	IsVmExists           *bool
	ProtectedSite        link
	ProtectedSiteName    text
	SourceSite           text
	Link                 link
}

func (r *vmRow) id() string { return cmp.Or(string(r.VmIdentifier), r.Link.id()) }

func (r *vmRow) group() string { return cmp.Or(string(r.VpgIdentifier), r.Link.vpg()) }

func (r *vmRow) instance() string { return string(cmp.Or(r.VmInstanceIdentifier, r.Link.Instance)) }

func (r *vmRow) siteName() string { return string(cmp.Or(r.ProtectedSiteName, r.SourceSite)) }

// A vpgRow is one group.
type vpgRow struct {
	VpgName              text
	VpgIdentifier        text
	Status               enum
	StatusDescription    text
	SubStatus            enum
	SubStatusDescription text
	ActualRPO            *float64
	ProtectedSite        link
	ProtectedSiteName    text
	SourceSite           text
	Link                 link
}

// A siteRow is the local site or a peer.
type siteRow struct {
	SiteIdentifier text
	SiteName       text
	PeerSiteName   text
	SiteType       text
	RegionName     text
	Location       text
	Link           link
}

func (s *siteRow) id() string { return cmp.Or(string(s.SiteIdentifier), s.Link.id()) }

func (s *siteRow) name() string { return string(cmp.Or(s.SiteName, s.PeerSiteName)) }

// A checkpointRow is one entry of a group's journal.
type checkpointRow struct {
	CheckpointIdentifier text
	TimeStamp            stamp
	Tag                  text
	Link                 link
}

func (c *checkpointRow) id() string { return cmp.Or(string(c.CheckpointIdentifier), c.Link.id()) }

// A taskRow is what became of a request.
type taskRow struct {
	Status struct {
		State enum
	}
	CompleteReason text
}

// An unprotectedRow is a VM that the hypervisor has and no group protects.
type unprotectedRow struct {
	VmName               text
	VmIdentifier         text
	VmInstanceIdentifier text
	Link                 link
}

func (r *unprotectedRow) id() string { return cmp.Or(string(r.VmIdentifier), r.Link.id()) }

// A virtualizationSite is a hypervisor manager that the ZVM looks at.
type virtualizationSite struct {
	SiteIdentifier text
	Link           link
}

func (v *virtualizationSite) id() string { return cmp.Or(string(v.SiteIdentifier), v.Link.id()) }

// pathSafe tells whether an identifier of the ZVM may stand in a URL path as
// one element. It is escaped as well; this keeps out what servers and proxies
// read as more than one element however it is written.
func pathSafe(id string) bool {
	if id == "" || len(id) > 300 || strings.Trim(id, ".") == "" {
		return false
	}
	for _, r := range id {
		if r < 0x20 || r == 0x7f || strings.ContainsRune(`/\?#%`, r) {
			return false
		}
	}
	return true
}
