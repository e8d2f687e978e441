package zerto

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroupsOfOneIdentifier: rows may spell a group's identifier in two letter
// cases. It is one group, and each of its machines is in it.
func TestGroupsOfOneIdentifier(t *testing.T) {
	machines := []*machine{
		{name: "a", groups: []membership{{vpg: "AB-1"}}},
		{name: "b", groups: []membership{{vpg: "ab-1"}}},
	}
	targets := targetsOf(machines)
	require.Len(t, targets, 1)
	results := make([]*result, len(targets))
	results[0] = &result{}
	for _, m := range machines {
		require.Len(t, of(m, targets, results), 1, m.name)
	}
}
