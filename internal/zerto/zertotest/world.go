package zertotest

import (
	"strings"
	"time"
)

// A World is what the simulated ZVM manages.
type World struct {
	// Local is the ZVM's own site. Its zero value is a vSphere site.
	Local Site
	Peers []Site

	Groups      []Group
	VMs         []VM
	Unprotected []VM // seen by the hypervisor, in no group

	// Secret is what a login must bring: the client secret or the password.
	// Empty accepts any.
	Secret string

	Knobs Knobs
}

// A Site is one site.
type Site struct {
	ID, Name string
	Type     string // SiteType; empty means VCenter
	Region   string // RegionName of cloud sites
}

// A Group is one protection group (VPG).
type Group struct {
	ID, Name string
	Site     string // ID of the protected site; empty means the local one

	// Cadence and Latency follow the site's platform when they are zero. A
	// negative Latency never lists a tag.
	Cadence, Latency time.Duration
	ListLag          time.Duration

	Status, SubStatus int  // Status 0 means 1, MeetingSLA; see Initializing
	Initializing      bool // Status 0 and RPO -1
	Description       string
}

// A VM is one machine. It is in one row for each group.
type VM struct {
	Name, ID string
	Groups   []string // IDs
	Gone     bool     // IsVmExists is false
	Instance string   // instance identifier of a cloud
}

// Knobs bend the simulator; the package's documentation lists them. The zero
// value is a healthy 10.x appliance.
type Knobs struct {
	Casing, TypeOrVss, Dates, Order, NameFilter, UnknownID, ErrorBody string

	OmitTopLevelIDs, RequireScope, RevokeOnPost, Windows, Unlicensed, NoServerTime bool

	TokenTTL, SessionIdle time.Duration
	RevokeAfter           int

	ClockSkew, LocalOffset, JournalSkew time.Duration

	TaskDelay, TaskGoneAfter               time.Duration
	TaskFails                              string
	TaskNeverDone, NeverLands, NeverListed bool

	TagTruncatedAt int
	TagDuplicates  bool

	StateChangeAfter     time.Duration
	StateTo, SubStatusTo int

	ResyncAfter      time.Duration
	PeerDisconnected bool
	Delay            time.Duration
	BigList          int
	Alert            string
	PostLost         bool

	Faults []Fault
}

// A Fault answers some calls instead of the usual way.
type Fault struct {
	Method string // empty means any
	Path   string // a part of the path, compared without regard to case
	Skip   int    // so many such calls are answered as usual first
	Times  int    // then so many are not; zero means all

	Hang   time.Duration // before the answer
	Reset  bool          // the connection breaks instead of an answer
	Half   bool          // it breaks in the middle of the usual answer's body
	Status int           // zero with Body empty: the usual answer, after Hang
	Body   string
	Header map[string]string
}

const (
	localID   = "9e09efa0-0d00-46ed-929b-f86273b28205"
	licence   = "Valid License is not provided "
	firstAt   = 7000 // identifier of the first checkpoint
	pastCount = 40   // automatic checkpoints older than the simulator
)

// timing returns the usual cadence and tag latency of a platform.
func timing(siteType string) (cadence, latency time.Duration) {
	t := strings.ToLower(siteType)
	switch {
	case strings.Contains(t, "azure"):
		return time.Minute, 34 * time.Second
	case strings.Contains(t, "aws"), strings.Contains(t, "amazon"):
		return 630 * time.Second, 128 * time.Second
	}
	return 5 * time.Second, 4 * time.Second
}

func (w *World) fill() {
	if w.Local.ID == "" {
		w.Local.ID = localID
	}
	if w.Local.Name == "" {
		w.Local.Name = "local site"
	}
	if w.Local.Type == "" {
		w.Local.Type = "VCenter"
	}
	if w.Knobs.TokenTTL == 0 {
		w.Knobs.TokenTTL = time.Minute
	}
	if w.Knobs.SessionIdle == 0 {
		w.Knobs.SessionIdle = 30 * time.Minute
	}
	if w.Knobs.TaskDelay == 0 {
		w.Knobs.TaskDelay = time.Second
	}
	for i := range w.Groups {
		g := &w.Groups[i]
		cadence, latency := timing(w.site(g.Site).Type)
		if g.Cadence == 0 {
			g.Cadence = cadence
		}
		if g.Latency == 0 {
			g.Latency = latency
		}
		if g.Status == 0 && !g.Initializing {
			g.Status = 1
		}
	}
}

func (w *World) site(id string) Site {
	for _, p := range w.Peers {
		if p.ID == id && id != "" {
			return p
		}
	}
	return w.Local
}

func (w *World) group(id string) *Group {
	for i := range w.Groups {
		if strings.EqualFold(w.Groups[i].ID, id) {
			return &w.Groups[i]
		}
	}
	return nil
}

// Three returns a world with a vSphere, an Azure and an AWS site: the machines
// app01, app02 and app03 in the groups Local, Cloud-Azure and Cloud-AWS.
func Three() World {
	return World{
		Local: Site{Name: "London"},
		Peers: []Site{
			{ID: "057cab27-f02a-443a-989d-7f14341fa9c3", Name: "Azure West", Type: "Azure", Region: "westeurope"},
			{ID: "3e4cdd0d-1064-4022-921f-6265ad6d335a", Name: "AWS Ohio", Type: "AWS", Region: "us-east-2"},
		},
		Groups: []Group{
			{ID: "57f502ff-3c41-4aff-b20a-6638205b73cd", Name: "Local"},
			{ID: "7e79035e-fb8c-47fe-815c-12ddd41708e6", Name: "Cloud-Azure", Site: "057cab27-f02a-443a-989d-7f14341fa9c3"},
			{ID: "a1b61d3c-7a0f-4ee5-9d4c-0d2f0c1a7b11", Name: "Cloud-AWS", Site: "3e4cdd0d-1064-4022-921f-6265ad6d335a"},
		},
		VMs: []VM{
			{Name: "app01", ID: "d4a6a1d5-79e9-4308-990a-7c3e616f0908.vm-38", Groups: []string{"57f502ff-3c41-4aff-b20a-6638205b73cd"}},
			{Name: "app02", ID: "0b0d8a4c-6a52-4f3a-8f5e-2f9f6b1f0a02.app02", Groups: []string{"7e79035e-fb8c-47fe-815c-12ddd41708e6"}},
			{Name: "app03", ID: "5f1c9b7e-9d1e-4c9b-8f57-7f3c1d2e4b03.i-0abc1234def567890", Groups: []string{"a1b61d3c-7a0f-4ee5-9d4c-0d2f0c1a7b11"}, Instance: "i-0abc1234def567890"},
		},
		Unprotected: []VM{{Name: "scratch", ID: "d4a6a1d5-79e9-4308-990a-7c3e616f0908.vm-77"}},
	}
}
