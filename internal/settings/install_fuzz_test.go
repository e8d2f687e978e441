package settings

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzInstall: whatever the bytes and the way, what is refused stays, what is
// installed adds our part and moves nothing else, twice is once, and installing
// and uninstalling is nothing at all.
func FuzzInstall(f *testing.F) {
	kinds := slices.Sorted(maps.Keys(ways()))
	all := samples(f)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		f.Add(all[name], uint8(i%len(kinds)))
	}
	f.Fuzz(func(t *testing.T, b []byte, way uint8) {
		o := ways()[kinds[int(way)%len(kinds)]]
		require.NoError(t, o.fill())
		before := slices.Clone(b)
		after, err := Install(b, o)
		require.Equal(t, string(before), string(b), "the input is nobody's to write to")
		if err != nil {
			require.ErrorIs(t, err, ErrRefused)
			return
		}
		again, err := Install(after, o)
		require.NoError(t, err)
		require.Equal(t, string(after), string(again), "twice is once")
		back, err := Uninstall(after)
		require.NoError(t, err)
		d, err := newDoc(before)
		if err != nil || len(d.installedEvents()) > 0 || d.wrapped() != nil {
			return // a blank file, or one that we were in already
		}
		s, is := stripper{t, before, after}, must(Parse(after))
		require.Equal(t, string(before), string(after[:is.Pos])+s.strip(d.root, is, 0)+string(after[is.End:]))
		if !emptyBrackets(d.root, o.Events) {
			require.Equal(t, string(before), string(back))
		}
	})
}

// emptyBrackets tells whether there are some where an entry of ours comes to
// stand: without a record nobody knows what space was in them.
func emptyBrackets(root *Node, events []string) bool {
	hooks := root.Get("hooks")
	if len(root.Members) == 0 || hooks.IsObject() && len(hooks.Members) == 0 {
		return true
	}
	return slices.ContainsFunc(hooks.members(), func(m Member) bool { return slices.Contains(events, m.Name) && len(m.Value.Items) == 0 })
}
