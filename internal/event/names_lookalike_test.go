package event

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamesThatLookAlike: a name that only looks like a known one would make an
// unknown event of it, which is let pass.
func TestNamesThatLookAlike(t *testing.T) {
	for _, name := range []string{"PreToolUse\x00", "Pr\u0435ToolUse", "PreToolUse\u200b", "\ufeffPreToolUse", "PreToolUse\n", "PreToolUse\ufffd"} {
		require.NotEmpty(t, NameFault(name), "%q", name)
	}
	for _, name := range []string{"PreToolUse", "SomethingNew", "Something_New2", "plugin:Event"} {
		require.Empty(t, NameFault(name), "%q", name)
	}
}
