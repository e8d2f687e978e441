//go:build !linux

package supervise

// Orphans are the processes that left their group, and whose parents are gone.
type Orphans struct{}

// AdoptOrphans does nothing here: the system has no way to find them.
func AdoptOrphans() *Orphans { return &Orphans{} }

// Kill does nothing here.
func (*Orphans) Kill() {}
