package answer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargeOutputsAreReadInTime: outputs of megabytes are read, and a hook, or
// whoever it quotes, must not hold the answer up by how it is made. What goes over
// these once for each of their parts does not come to an end here.
func TestLargeOutputsAreReadInTime(t *testing.T) {
	const size = 8 << 20
	for name, tt := range map[string]struct {
		part, want string
	}{
		"titles without an end": {"\x1b]a", plain},
		"colours":               {"\x1b[1", plain},
		"lines of braces":       {"\n{ ", fault},
		"open objects":          {`{"a":`, fault},
		"quotes":                {`"`, plain},
		"refusals cut off":      {`{"decision":"deny",`, fault},
	} {
		t.Run(name, func(t *testing.T) {
			got := Parse(Child{Event: "PreToolUse", Stdout: []byte(strings.Repeat(tt.part, size/len(tt.part)))})
			require.Equal(t, tt.want, word(got))
		})
	}
}

// TestLookalike holds the search for names that are nearly known: an answer may
// hold a million names, so nothing is copied for each.
func TestLookalike(t *testing.T) {
	for name, want := range map[string]bool{
		"permissionDecision": false, "permission_decision": true, "PermissionDecision": true, "_permission--decision_": true,
		"permissionDecisions": false, "permissionDecisio": false, "permiſſionDecision": true, "permission.decision": false, "": false, "\xff": false,
	} {
		o := members{names: []string{name}}
		require.Equal(t, want, lookalike(o, []string{"permissionDecision"}) != "", name)
	}
	o := members{names: []string{"one", "permissionDecisions", strings.Repeat("p", 1000)}}
	require.Zero(t, testing.AllocsPerRun(10, func() { _ = lookalike(o, topNames) }))
}

// TestAnObjectCutOffSaysHowFarItWasRead: the work of looking for refusals is bounded
// by it. With none counted, 256 words in front of 8 MB of one open object took longer
// than any deadline.
func TestAnObjectCutOffSaysHowFarItWasRead(t *testing.T) {
	for in, want := range map[string]int64{
		`{"decision":"block","x":[1,2,3`:   30,
		`{"decision":"block","x":[1,2,!,4`: 29,
		`{"a`:                              3,
	} {
		_, end, ok := firstObject([]byte(in))
		require.False(t, ok, in)
		require.InDelta(t, want, end, 2, in)
	}
}
