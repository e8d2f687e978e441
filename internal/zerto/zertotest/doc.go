// Package zertotest simulates a Zerto Virtual Manager: the routes of its REST
// API that a checkpoint needs, over net/http, with a clock that can be virtual
// or faster than real time. It is part of the product (the demonstration runs
// against it), so it depends on no testing package.
//
// A World says what there is: a local site and peers with their SiteType,
// protection groups with their state, cadence and tag latency, and machines in
// one to three groups. Where a group leaves its timing out, it is that of its
// protected site's platform, as observed on live systems:
//
//	            automatic checkpoint   tag listed after
//	vSphere     every 5 s              4 s
//	Azure       every 60 s             34 s
//	AWS         every 630 s            128 s
//
// A request for a tag answers at once with a task, which completes after a
// second; the tag becomes a checkpoint of its own at the latency, stamped with
// that moment in whole seconds, and is listed ListLag later.
//
// The Knobs bend the simulator into the shapes that versions and faults of real
// ZVMs have, or may have:
//
//	Casing            pascal (default), camel: spelling of field names
//	OmitTopLevelIDs   identifiers only in the Link objects
//	TypeOrVss         type (default), vss, both, none: fields of a checkpoint
//	Dates             iso (default), iso_ms, msjson
//	Order             asc (default), desc, random: of the checkpoint list
//	NameFilter        exact, contains (default), ignored: what vmName does
//	UnknownID         400 (default), 404, empty: a VM identifier nobody has
//	ErrorBody         message (default), keycloak, html, empty
//	TokenTTL          life of a token, 60 s
//	RequireScope      a token without scope=openid is refused by the API
//	RevokeAfter       all tokens become void once, after so many API calls
//	RevokeOnPost      all tokens become void at the first request for a tag
//	Windows           sessions instead of Keycloak, as up to 9.7
//	SessionIdle       life of a session without a call, 30 min
//	Unlicensed        every call fails with the licence message
//	ClockSkew         the ZVM's clock is off by this
//	LocalOffset       the ZVM's time zone: dates without Z are read in it
//	NoServerTime      serverDateTime is answered 404
//	TaskDelay         until a task completes, 1 s
//	TaskGoneAfter     tasks answer 404 from then on
//	TaskFails         the task ends as failed, with this reason, and no tag lands
//	TaskNeverDone     the task stays in progress though the tag lands
//	NeverLands        the task completes and no tag is made
//	NeverListed       the tag is made and not listed
//	TagTruncatedAt    tags are cut to so many characters
//	TagDuplicates     an entry of two hours ago has the tag, too, at once
//	StateChangeAfter  after a request for a tag the group changes to State…
//	JournalSkew       the journal's stamps are off by this, the ZVM's clock is not
//	ResyncAfter       that long after a request all checkpoints vanish
//	PeerDisconnected  the list of checkpoints is answered 500
//	Delay             before every answer
//	BigList           so many rows when the list is asked for without startDate
//	Alert             all groups are under an alert with this description
//	PostLost          the request for a tag is taken and its answer lost
//	Faults            rules: answer, hang, reset, half of a body, redirect …
//
// Two machines of one name, a moref in two vCenters, a machine in three groups,
// or one that is gone from the hypervisor are Worlds, not knobs. Unknown enum
// numbers are groups with such a Status.
package zertotest
