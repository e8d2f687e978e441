package zerto

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
	"hooktrail/internal/zerto/zertotest"
)

// TestKnobs bends the ZVM in every way it can be bent. Each row says what must
// come of it, and how many requests for a tag may be made.
func TestKnobs(t *testing.T) {
	type (
		world = zertotest.World
		knobs = zertotest.Knobs
		fault = zertotest.Fault
	)
	const (
		yes   = "guard_checkpoint_confirmed"
		no    = "guard_checkpoint_failed"
		later = "guard_checkpoint_unconfirmed"
		blind = "guard_lookup_failed"
		who   = "guard_vm_unknown"
		bare  = "guard_vm_unprotected"
		which = "guard_vm_ambiguous"
	)
	with := func(k knobs) func(*world) { return func(w *world) { w.Knobs = k } }
	faults := func(f ...fault) func(*world) { return with(knobs{Faults: f}) }
	const vms, list, task = "/v1/vms", "/checkpoints", "/v1/tasks"
	for _, tt := range []struct {
		name  string
		bend  func(*world)
		want  reason.Code
		posts int
	}{
		{"healthy", func(*world) {}, yes, 1},
		{"camel case", with(knobs{Casing: "camel"}), yes, 1},
		{"no identifiers but in links", with(knobs{OmitTopLevelIDs: true}), yes, 1},
		{"camel case, no identifiers", with(knobs{Casing: "camel", OmitTopLevelIDs: true, TypeOrVss: "none"}), yes, 1},
		{"kind as Vss", with(knobs{TypeOrVss: "vss"}), yes, 1},
		{"kind as both", with(knobs{TypeOrVss: "both"}), yes, 1},
		{"dates with milliseconds", with(knobs{Dates: "iso_ms"}), yes, 1},
		{"Microsoft dates", with(knobs{Dates: "msjson"}), yes, 1},
		{"newest first", with(knobs{Order: "desc"}), yes, 1},
		{"no order", with(knobs{Order: "random"}), yes, 1},
		{"exact filter", with(knobs{NameFilter: "exact"}), yes, 1},
		{"no filter", with(knobs{NameFilter: "ignored"}), yes, 1},
		{"scope required", with(knobs{RequireScope: true}), yes, 1},
		{"token void after 12 calls", with(knobs{RevokeAfter: 12}), yes, 1},
		{"token void at the request", with(knobs{RevokeOnPost: true}), blind, 0},
		{"unlicensed", with(knobs{Unlicensed: true}), blind, 0},
		{"ZVM an hour ahead", with(knobs{ClockSkew: time.Hour}), yes, 1},
		{"ZVM a day behind", with(knobs{ClockSkew: -24 * time.Hour}), yes, 1},
		{"ZVM two years behind", with(knobs{ClockSkew: -2 * 365 * 24 * time.Hour}), yes, 1},
		{"ZVM in another zone", with(knobs{LocalOffset: 5 * time.Hour}), yes, 1},
		{"no server time", with(knobs{NoServerTime: true, ClockSkew: 3 * time.Hour}), yes, 1},
		{"task takes long", with(knobs{TaskDelay: time.Hour}), yes, 1},
		{"task never completes", with(knobs{TaskNeverDone: true}), yes, 1},
		{"task completes before the tag", with(knobs{TaskDelay: time.Millisecond}), yes, 1},
		{"task gone", with(knobs{TaskGoneAfter: time.Second}), yes, 1},
		{"task fails", with(knobs{TaskFails: "Journal is not available"}), no, 1},
		{"task completes without tag", with(knobs{NeverLands: true}), later, 1},
		{"tag never listed", with(knobs{NeverListed: true}), later, 1},
		{"tag cut short", with(knobs{TagTruncatedAt: 20}), later, 1},
		{"tag listed twice", with(knobs{TagDuplicates: true}), yes, 1},
		{"a tag of another time, never listed", with(knobs{TagDuplicates: true, NeverListed: true}), later, 1},
		{"journal stamped 20 minutes behind", with(knobs{JournalSkew: -20 * time.Minute}), yes, 1},
		{"journal stamped 20 minutes ahead", with(knobs{JournalSkew: 20 * time.Minute}), yes, 1},
		{"starts to fail over in the wait", func(w *world) {
			w.Groups[0].Latency = -1
			w.Knobs = knobs{StateChangeAfter: 2 * time.Second, StateTo: 5}
		}, no, 1},
		{"re-sync wipes the journal", with(knobs{ResyncAfter: 2 * time.Second, NeverListed: true}), later, 1},
		{"peer disconnected", with(knobs{PeerDisconnected: true}), blind, 0},
		{"slow answers", with(knobs{Delay: 500 * time.Millisecond}), yes, 1},
		{"very slow answers", with(knobs{Delay: 12 * time.Second}), blind, 0},
		{"20,000 rows without startDate", with(knobs{BigList: 20000}), yes, 1},
		{"answer to the request lost", with(knobs{PostLost: true}), yes, 1},
		{"answer lost, never listed", with(knobs{PostLost: true, NeverListed: true}), later, 1},

		{"Initializing", func(w *world) { w.Groups[0].Initializing = true }, no, 0},
		{"FailingOver", func(w *world) { w.Groups[0].Status = 5 }, no, 0},
		{"Moving", func(w *world) { w.Groups[0].Status = 6 }, no, 0},
		{"paused by the user", func(w *world) { w.Groups[0].SubStatus = 25 }, no, 0},
		{"journal storage error", func(w *world) { w.Groups[0].SubStatus = 31 }, no, 0},
		{"not meeting SLA", func(w *world) { w.Groups[0].Status = 2 }, yes, 1},
		{"status 3", func(w *world) { w.Groups[0].Status = 3 }, yes, 1},
		{"status 4", func(w *world) { w.Groups[0].Status = 4 }, yes, 1},
		{"delta sync", func(w *world) { w.Groups[0].SubStatus = 6 }, yes, 1},
		{"unknown status 9", func(w *world) { w.Groups[0].Status = 9 }, yes, 1},
		{"unknown substatus 43", func(w *world) { w.Groups[0].SubStatus = 43 }, yes, 1},

		{"gone from the hypervisor", func(w *world) { w.VMs[0].Gone = true }, bare, 0},
		{"two of one name", func(w *world) {
			w.VMs = append(w.VMs, zertotest.VM{Name: "app01", ID: "b1.vm-1", Groups: []string{"g1"}})
		}, which, 0},
		{"a namesake that is not protected", func(w *world) { w.Unprotected = []zertotest.VM{{Name: "app01", ID: "b1.vm-7"}} }, which, 0},
		{"other letter case", func(w *world) { w.VMs[0].Name = "APP01" }, who, 0},
		{"longer name", func(w *world) { w.VMs[0].Name = "app011" }, who, 0},
		{"trailing blank", func(w *world) { w.VMs[0].Name = "app01 " }, who, 0},
		{"nothing protected", func(w *world) { w.VMs = nil }, who, 0},
		{"seen, not protected", func(w *world) { w.VMs, w.Unprotected = nil, []zertotest.VM{{Name: "app01", ID: "a1.vm-1"}} }, bare, 0},

		{"look-up 400", faults(fault{Path: vms, Status: 400, Body: `{"Message":"VM identifier app01 is not valid"}`}), who, 0},
		{"look-up 404", faults(fault{Path: vms, Status: 404, Body: `{}`}), who, 0},
		{"look-up 400, licence", faults(fault{Path: vms, Status: 400, Body: `{"Message":"Valid License is not provided "}`}), blind, 0},
		{"look-up 400, permission", faults(fault{Path: vms, Status: 400, Body: `{"Message":"no permission"}`}), blind, 0},
		{"look-up 400, token", faults(fault{Path: vms, Status: 400, Body: `{"Message":"token expired"}`}), blind, 0},
		{"look-up 400, permission, named like a machine", func(w *world) {
			w.VMs = nil
			w.Knobs.Faults = []fault{{Path: vms, Status: 400, Body: `{"Message":"VM identifier app01 is not valid for app01-token"}`}}
		}, blind, 0},
		{"look-up 400, login", faults(fault{Path: vms, Status: 400, Body: `{"error":"invalid_grant"}`}), blind, 0},
		{"look-up 404, a page", faults(fault{Path: vms, Status: 404, Body: `<html>nginx</html>`}), blind, 0},
		{"look-up 401", faults(fault{Path: vms, Status: 401}), blind, 0},
		{"look-up 401 once", faults(fault{Path: vms, Status: 401, Times: 1}), yes, 1},
		{"look-up 403", faults(fault{Path: vms, Status: 403, Body: `{}`}), blind, 0},
		{"look-up 429", faults(fault{Path: vms, Status: 429, Header: map[string]string{"Retry-After": "7"}}), blind, 0},
		{"look-up 500", faults(fault{Path: vms, Status: 500, Body: `{"Message":"VM does not exist"}`}), blind, 0},
		{"look-up 502", faults(fault{Path: vms, Status: 502, Body: `<html>gateway</html>`}), blind, 0},
		{"look-up 302", faults(fault{Path: vms, Status: 302, Header: map[string]string{"Location": "http://127.0.0.1:9/login"}}), blind, 0},
		{"look-up is a page", faults(fault{Path: vms, Body: `<html>login</html>`}), blind, 0},
		{"look-up of another shape", faults(fault{Path: vms, Body: `{"unexpected":1}`}), blind, 0},
		{"look-up is null", faults(fault{Path: vms, Body: `null`}), blind, 0},
		{"look-up is a list of other things", faults(fault{Path: vms, Body: `[{"unexpected":1}]`}), blind, 0},
		{"look-up without identifiers", faults(fault{Path: vms, Body: `[{"VmName":"app01"}]`}), blind, 0},
		{"look-up says everything twice", faults(fault{Path: vms, Body: `[{"VmName":"app01","vmName":"app02"}]`}), blind, 0},
		{"look-up is cut", faults(fault{Path: vms, Half: true}), blind, 0},
		{"look-up breaks once", faults(fault{Path: vms, Reset: true, Times: 1}), yes, 1},
		{"look-up breaks", faults(fault{Path: vms, Reset: true}), blind, 0},
		{"look-up hangs", faults(fault{Path: vms, Hang: time.Hour}), blind, 0},
		{"login hangs", faults(fault{Path: "/token", Hang: time.Hour}), blind, 0},
		{"login 400", faults(fault{Path: "/token", Status: 400, Body: `{"error":"unsupported"}`}), blind, 0},
		{"login 404", faults(fault{Path: "/token", Status: 404, Body: `{}`}), blind, 0},
		{"login is a page", faults(fault{Path: "/token", Body: `<html>`}), blind, 0},
		{"login without a token", faults(fault{Path: "/token", Body: `{}`}), blind, 0},

		{"request 400", faults(fault{Method: "POST", Path: list, Status: 400, Body: `{"Message":"no"}`}), no, 0},
		{"request 403", faults(fault{Method: "POST", Path: list, Status: 403}), no, 0},
		{"request 429", faults(fault{Method: "POST", Path: list, Status: 429, Header: map[string]string{"Retry-After": "7"}}), no, 0},
		{"request 500", faults(fault{Method: "POST", Path: list, Status: 500, Body: `{"Message":"no"}`}), no, 0},
		{"request 502", faults(fault{Method: "POST", Path: list, Status: 502, Body: `<html>gateway</html>`}), later, 0},
		{"request 503", faults(fault{Method: "POST", Path: list, Status: 503, Body: `{"Message":"busy"}`}), no, 0},
		{"request 504", faults(fault{Method: "POST", Path: list, Status: 504}), later, 0},
		{"request 302", faults(fault{Method: "POST", Path: list, Status: 302, Header: map[string]string{"Location": "/"}}), no, 0},
		{"request hangs", faults(fault{Method: "POST", Path: list, Hang: time.Hour}), later, 0},
		{"request breaks", faults(fault{Method: "POST", Path: list, Reset: true}), later, 0},
		{"request answered with something else", faults(fault{Method: "POST", Path: list, Body: `{"a":1}`}), later, 0},

		{"list of another shape from the start", faults(fault{Method: "GET", Path: list, Body: `{"unexpected":1}`}), blind, 0},
		{"list fails later", faults(fault{Method: "GET", Path: list, Skip: 1, Status: 500}), later, 1},
		{"list fails twice", faults(fault{Method: "GET", Path: list, Skip: 1, Times: 2, Status: 503}), yes, 1},
		{"list is another shape later", faults(fault{Method: "GET", Path: list, Skip: 1, Body: `[{"unexpected":1}]`}), later, 1},
		{"list hangs later", faults(fault{Method: "GET", Path: list, Skip: 1, Hang: time.Hour}), later, 1},
		{"list says 429 with a pause", faults(fault{Method: "GET", Path: list, Skip: 1, Times: 1, Status: 429, Header: map[string]string{"Retry-After": "5"}}), yes, 1},
		{"401 in the middle of the wait", faults(fault{Method: "GET", Path: list, Skip: 2, Times: 1, Status: 401}), yes, 1},
		{"401 for ever in the wait", faults(fault{Method: "GET", Path: list, Skip: 2, Status: 401}), later, 1},
		{"tasks fail", faults(fault{Path: task, Status: 500}), yes, 1},
		{"tasks are a page", faults(fault{Path: task, Body: `<html>`}), yes, 1},
		{"state of the group 404", faults(fault{Path: "/v1/vpgs/g1", Times: 1, Status: 404, Body: `{}`}), yes, 1},
		{"state of the group 500", faults(fault{Path: "/v1/vpgs/g1", Status: 500}), blind, 0},
		{"site cannot be read", faults(fault{Path: "/v1/localsite", Status: 500}), yes, 1},
		{"hypervisor cannot be read", faults(fault{Path: "/v1/virtualizationsites", Status: 500}), yes, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := one(zertotest.Group{})
				tt.bend(&w)
				l := newLab(t, w)
				out := l.protect(20*time.Second, "app01")
				require.Equal(t, tt.want, out.Code, out.Message)
				require.Len(t, l.tags(), tt.posts)
				// However odd the ZVM, a confirmed tag was listed before the answer.
				if out.Code == reason.GuardCheckpointConfirmed {
					p := l.z.Posts()[0]
					require.False(t, p.Listed.IsZero())
					require.False(t, time.Now().Before(p.Listed))
					skew := w.Knobs.ClockSkew + w.Knobs.JournalSkew
					require.WithinDuration(t, p.Lands.Add(skew), out.Checkpoints[0].Time, time.Second)
					require.Equal(t, "requested confirmed", joined(l.actions()))
				}
			})
		})
	}
}

// TestUnknownIdentifiers tells a miss from a refusal in every form of both.
func TestUnknownIdentifiers(t *testing.T) {
	for _, tt := range []struct {
		unknown, body string
		want          reason.Code
	}{
		{"400", "message", "guard_vm_unknown"},
		{"400", "empty", "guard_vm_unknown"},
		{"400", "keycloak", "guard_vm_unknown"},
		{"400", "html", "guard_lookup_failed"}, // not from the API
		{"404", "message", "guard_vm_unknown"},
		{"404", "empty", "guard_vm_unknown"},
		{"404", "keycloak", "guard_vm_unknown"},
		{"404", "html", "guard_lookup_failed"},
		{"empty", "message", "guard_vm_unknown"},
	} {
		t.Run(tt.unknown+" "+tt.body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := one(zertotest.Group{})
				w.Knobs.UnknownID, w.Knobs.ErrorBody = tt.unknown, tt.body
				l := newLab(t, w)
				out := l.call(l.p, 10*time.Second, guard.VM{Ref: "web-7", Kind: guard.ID})
				require.Equal(t, tt.want, out.Code, out.Message)
				require.Empty(t, l.tags())
			})
		})
	}
}

// TestReferences finds a machine by whatever it is called.
func TestReferences(t *testing.T) {
	w := zertotest.Three()
	w.VMs = append(w.VMs,
		zertotest.VM{Name: "twin", ID: "v1.vm-9", Groups: []string{w.Groups[0].ID}},
		zertotest.VM{Name: "twin", ID: "v2.vm-9", Groups: []string{w.Groups[1].ID}},
		zertotest.VM{Name: "a b&c=d#e+f", ID: "v1.vm-10", Groups: []string{w.Groups[0].ID}})
	for _, tt := range []struct {
		name string
		vm   guard.VM
		want reason.Code
	}{
		{"name", guard.VM{Ref: "app01", Kind: guard.Name}, "guard_checkpoint_confirmed"},
		{"name with everything a URL knows", guard.VM{Ref: "a b&c=d#e+f"}, "guard_checkpoint_confirmed"},
		{"identifier", guard.VM{Ref: "D4A6A1D5-79e9-4308-990a-7c3e616f0908.vm-38", Kind: guard.ID}, "guard_checkpoint_confirmed"},
		{"moref", guard.VM{Ref: "vm-38", Kind: guard.Moref}, "guard_checkpoint_confirmed"},
		{"moref in two vCenters", guard.VM{Ref: "vm-9", Kind: guard.Moref}, "guard_vm_ambiguous"},
		{"moref and its vCenter", guard.VM{Ref: "vm-9", Kind: guard.Moref, Site: "v1"}, "guard_checkpoint_confirmed"},
		{"part of a moref", guard.VM{Ref: "m-38", Kind: guard.Moref}, "guard_vm_unknown"},
		{"instance", guard.VM{Ref: "i-0abc1234def567890", Kind: guard.Instance}, "guard_checkpoint_confirmed"},
		{"unknown instance", guard.VM{Ref: "i-0abc", Kind: guard.Instance}, "guard_vm_unknown"},
		{"uuid", guard.VM{Ref: "6d1c8a1e-0000-4000-8000-000000000000", Kind: guard.UUID}, "guard_vm_unknown"},
		{"a name is no identifier", guard.VM{Ref: "app01", Kind: guard.ID}, "guard_vm_unknown"},
		{"two of one name", guard.VM{Ref: "twin"}, "guard_vm_ambiguous"},
		{"two of one name, and the site", guard.VM{Ref: "twin", Site: "London"}, "guard_checkpoint_confirmed"},
		{"another site than Zerto's", guard.VM{Ref: "app01", Site: "vcenter-b"}, "guard_vm_ambiguous"},
		{"not protected", guard.VM{Ref: "scratch"}, "guard_vm_unprotected"},
		{"not protected, by moref", guard.VM{Ref: "vm-77", Kind: guard.Moref}, "guard_vm_unprotected"},
		{"wildcard", guard.VM{Ref: "*"}, "guard_vm_unknown"},
		{"wildcard within", guard.VM{Ref: "app*"}, "guard_vm_unknown"},
		{"blank", guard.VM{Ref: " \t"}, "guard_vm_unknown"},
		{"newline", guard.VM{Ref: "app01\n"}, "guard_vm_unknown"},
		{"direction mark", guard.VM{Ref: "app01\u202e"}, "guard_vm_unknown"},
		{"NUL", guard.VM{Ref: "app01\x00"}, "guard_vm_unknown"},
		{"path", guard.VM{Ref: "a/../b?x=1&y=%00"}, "guard_vm_unknown"},
		{"path by identifier", guard.VM{Ref: "../vpgs", Kind: guard.ID}, "guard_vm_unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, w)
				out := l.call(l.p, 150*time.Second, tt.vm)
				require.Equal(t, tt.want, out.Code, out.Message)
				for _, r := range l.z.Requests() {
					require.Regexp(t, `^/(auth/realms/zerto/protocol/openid-connect/token|v1/(vms|localsite|virtualizationsites(/[0-9a-f-]+/vms)?|peersites/[0-9a-f-]+|serverDateTime/serverDateTimeUtc|tasks/[0-9a-f.-]+|vpgs/[0-9a-f-]+(/checkpoints)?))$`, r.Path)
				}
				if tt.want != reason.GuardCheckpointConfirmed {
					require.Empty(t, l.tags())
					require.Empty(t, out.Context)
				}
			})
		})
	}
}

func TestAmbiguousNamesBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := one(zertotest.Group{})
		w.VMs = append(w.VMs, zertotest.VM{Name: "app01", ID: "a1.vm-9", Groups: []string{"g1"}})
		out := newLab(t, w).protect(10*time.Second, "app01")
		require.Contains(t, out.Message, "a1.vm-1 in group \"Group 1\"")
		require.Contains(t, out.Message, "a1.vm-9 in group \"Group 1\"")
	})
}

// TestSeveralGroups covers a machine in three groups of which one is healthy,
// one paused and one failing over.
func TestSeveralGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := zertotest.World{
			Groups: []zertotest.Group{{ID: "g1", Name: "G1"}, {ID: "g2", Name: "G2", SubStatus: 25}, {ID: "g3", Name: "G3", Status: 5}},
			VMs:    []zertotest.VM{{Name: "app01", ID: "a1.vm-1", Groups: []string{"g1", "g2", "g3"}}},
		}
		l := newLab(t, w)
		out := l.protect(20*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Contains(t, out.Context, `- confirmed: "app01", protection group "G1"`)
		require.Regexp(t, `NOT confirmed: "app01", protection group "G2".*ReplicationPausedUserInitiated`, out.Context)
		require.Regexp(t, `NOT confirmed: "app01", protection group "G3".*FailingOver`, out.Context)
		require.Len(t, l.tags(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		w := zertotest.World{
			Groups: []zertotest.Group{{ID: "g1", Name: "G1"}, {ID: "g2", Name: "G2", Latency: 10 * time.Second}},
			VMs:    []zertotest.VM{{Name: "app01", ID: "a1.vm-1", Groups: []string{"g1", "g2"}}},
		}
		l := newLab(t, w)
		start := time.Now()
		out := l.protect(60*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Less(t, time.Since(start), 10*time.Second, "one is enough")
		require.Len(t, l.tags(), 2, "both are tagged")
		require.Regexp(t, `NOT confirmed: "app01", protection group "G2"`, out.Context)
		// The change went into G2 before its tag was listed: that tag covers nothing.
		time.Sleep(time.Minute)
		w.VMs[0].Groups = []string{"g2"}
		l.z.Change(func(x *zertotest.World) { x.VMs = w.VMs })
		out = l.protect(60*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 3)
		require.Equal(t, l.tags()[2], out.Checkpoints[0].Tag)
	})
}

// TestSeveralMachines needs a checkpoint for each machine of a call.
func TestSeveralMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, zertotest.Three())
		out := l.protect(60*time.Second, "app01", "app02", "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 2)
		require.Len(t, out.Checkpoints, 2)

		// One of them cannot be in time: the call waits, and what is confirmed stays
		// good for the retry.
		out = l.protect(60*time.Second, "app01", "app03")
		require.Equal(t, reason.GuardCheckpointUnconfirmed, out.Code, out.Message)
		require.Contains(t, out.Message, `"app01" has a confirmed checkpoint`)
		time.Sleep(out.RetryAfter)
		out = l.protect(60*time.Second, "app01", "app03")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 4)

		out = l.protect(60*time.Second, "app01", "nobody", "scratch")
		require.Equal(t, reason.GuardVMUnprotected, out.Code, out.Message)
		require.Contains(t, out.Message, "nobody")
		require.Len(t, l.tags(), 4)
	})
}

func TestLogins(t *testing.T) {
	for _, tt := range []struct {
		name    string
		auth    config.ZertoAuth
		windows bool
		want    reason.Code
	}{
		{"client credentials", config.ZertoAuth{ClientID: "zerto-api", ClientSecretEnv: "S"}, false, "guard_checkpoint_confirmed"},
		{"password", config.ZertoAuth{Username: "u", PasswordEnv: "S"}, false, "guard_checkpoint_confirmed"},
		{"session", config.ZertoAuth{Method: "session", Username: "u", PasswordEnv: "S"}, true, "guard_checkpoint_confirmed"},
		{"session on an appliance", config.ZertoAuth{Method: "session", Username: "u", PasswordEnv: "S"}, false, "guard_lookup_failed"},
		{"token on a Windows ZVM", config.ZertoAuth{ClientID: "zerto-api", ClientSecretEnv: "S"}, true, "guard_lookup_failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := one(zertotest.Group{})
				w.Knobs.Windows = tt.windows
				l := newLab(t, w)
				p := l.provider(tt.auth)
				out := l.call(p, 20*time.Second, guard.VM{Ref: "app01"})
				require.Equal(t, tt.want, out.Code, out.Message)
				last := l.z.Requests()[len(l.z.Requests())-1]
				if tt.name == "session" {
					require.Equal(t, http.MethodDelete+" /v1/session", last.Method+" "+last.Path)
				}
			})
		})
	}
}

// TestMachinesCalledLikeAFault tells what the answer says from what it repeats.
func TestMachinesCalledLikeAFault(t *testing.T) {
	for _, name := range []string{"login-01", "token", "License Server", "SESSION"} {
		synctest.Test(t, func(t *testing.T) {
			w := one(zertotest.Group{})
			w.Knobs.Faults = []zertotest.Fault{{Path: "/v1/vms", Status: 400, Body: `{"Message":"VM identifier ` + name + ` is not valid"}`}}
			l := newLab(t, w)
			out := l.protect(10*time.Second, name)
			require.Equal(t, reason.GuardVMUnknown, out.Code, out.Message)
		})
	}
}

// TestSlowAnswersNeverPassTheBudget makes every answer slower and slower. The
// lab checks that each call ends in time.
func TestSlowAnswersNeverPassTheBudget(t *testing.T) {
	for delay := 500 * time.Millisecond; delay < 22*time.Second; delay += 700 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			w := one(zertotest.Group{})
			w.Knobs.Delay = delay
			l := newLab(t, w)
			out := l.protect(20*time.Second, "app01")
			require.Contains(t, []reason.Code{"guard_checkpoint_confirmed", "guard_checkpoint_unconfirmed", "guard_lookup_failed"}, out.Code, out.Message)
			if out.Code == reason.GuardCheckpointConfirmed {
				require.False(t, time.Now().Before(l.z.Posts()[0].Listed))
			}
			require.LessOrEqual(t, len(l.tags()), 1)
		})
	}
}
