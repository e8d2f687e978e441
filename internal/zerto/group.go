package zerto

import (
	"fmt"
	"strings"
)

// statuses and subStatuses are the names of a group's states. Sources disagree
// on 3 and 4, which are treated alike and named by the API where it does.
var (
	statuses = [...]string{"Initializing", "MeetingSLA", "NotMeetingSLA", "NotMeetingSLA (3)", "NotMeetingSLA (4)", "FailingOver", "Moving", "Deleting", "Recovered"}

	subStatuses = [...]string{"None", "InitialSync", "Creating", "VolumeInitialSync", "Sync", "RecoveryPossible", "DeltaSync", "NeedsConfiguration", "Error", "EmptyProtectionGroup",
		"DisconnectedFromPeerNoRecoveryPoints", "FullSync", "VolumeDeltaSync", "VolumeFullSync", "FailingOverCommitting", "FailingOverBeforeCommit", "FailingOverRollingBack", "Promoting", "MovingCommitting", "MovingBeforeCommit",
		"MovingRollingBack", "Deleting", "PendingRemove", "BitmapSync", "DisconnectedFromPeer", "ReplicationPausedUserInitiated", "ReplicationPausedSystemInitiated", "RecoveryStorageProfileError", "Backup", "RollingBack",
		"RecoveryStorageError", "JournalStorageError", "VmNotProtectedError", "JournalOrRecoveryMissingError", "AddedVmsInInitialSync", "ReplicationPausedForMissingVolume", "StoppingForFailure", "RollingBackFailOverLiveFailure", "RollingBackMoveFailure", "SplittingCommitting",
		"PreparePreseed", "JournalVmRestore"}
)

// A fitness says whether a group takes tags. The zero value does not.
type fitness int

const (
	unfit   fitness = iota // it takes none: say so at once instead of waiting
	held                   // it may hold new checkpoints back until a sync ends
	fit                    // it takes them
	unheard                // a number nobody has published: try, and trust the list only
)

// judge says whether a group in this state takes a tag, and names the state.
func judge(status, sub enum, rpo *float64) (fitness, string) {
	s, sOK := number(status, statuses[:])
	u, uOK := number(sub, subStatuses[:])
	state := name(s, sOK, status, statuses[:], "status")
	if uOK && u != 0 || !uOK && sub.known {
		state += ", " + name(u, uOK, sub, subStatuses[:], "substatus")
	}
	switch {
	case sOK && (s == 0 || s >= 5):
		return unfit, state
	case uOK && !takesTags(u) && !syncing(u):
		return unfit, state
	case rpo != nil && *rpo == -1:
		return unfit, state + ", initializing (RPO -1)"
	case !sOK && status.known, !uOK && sub.known:
		return unheard, state
	case uOK && syncing(u):
		return held, state
	}
	return fit, state
}

func takesTags(sub int) bool { return sub == 0 || sub == 5 || sub == 28 || sub == 41 }

func syncing(sub int) bool { return sub == 4 || sub == 6 || sub == 12 || sub == 23 || sub == 34 }

// number returns the state's place in names. A state that is absent counts as
// not known.
func number(e enum, names []string) (int, bool) {
	if e.name != "" {
		for i, n := range names {
			if strings.EqualFold(n, strings.ReplaceAll(e.name, " ", "")) {
				return i, true
			}
		}
		// Both spellings of 3 and 4 leave the group able to take tags.
		if l := strings.ToLower(e.name); strings.HasSuffix(l, "notmeetingsla") {
			return 2, true
		}
		return 0, false
	}
	return e.number, e.known && e.number >= 0 && e.number < len(names)
}

func name(n int, ok bool, e enum, names []string, what string) string {
	switch {
	case e.name != "":
		return printable(cut(e.name, 80))
	case ok:
		return names[n]
	case e.known:
		return fmt.Sprintf("%s %d", what, e.number)
	default:
		return what + " not given"
	}
}
