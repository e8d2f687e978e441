package supervise

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// orphanGrace bounds the ending of what children left behind.
const orphanGrace = 500 * time.Millisecond

// Orphans are the processes that left their group, and whose parents are gone.
type Orphans struct {
	not map[int]bool // children that we had before
}

// AdoptOrphans makes this process the parent of all that its descendants leave
// behind, so that a child that forks away (setsid) can be found. It is for a
// program that does nothing but supervise: the setting holds for the whole
// process. On other systems than Linux it does nothing.
func AdoptOrphans() *Orphans {
	o := &Orphans{not: map[int]bool{}}
	for _, pid := range children() {
		o.not[pid] = true
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	return o
}

// Kill ends all that is left. It must not be called while a Run is under way.
// Kill a process and its children become ours, so it is done until none is left.
func (o *Orphans) Kill() {
	if childless() {
		return
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	patience := time.NewTimer(orphanGrace)
	defer patience.Stop()
	// The kernel's list may miss a child while others come and go, so that one
	// empty look proves nothing.
	for empty := 0; empty < 2 && !childless(); {
		left := false
		for _, pid := range children() {
			if o.not[pid] {
				continue
			}
			left = true
			_ = unix.Kill(pid, unix.SIGKILL)
			reapNow(pid)
		}
		if !left {
			empty++
			continue
		}
		empty = 0
		select {
		case <-tick.C:
		case <-patience.C:
			return
		}
	}
}

func reapNow(pid int) {
	for {
		_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// childless tells whether there is no child at all, without reading /proc.
func childless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD)
}

// children returns the process ids of our children.
func children() []int {
	if childless() {
		return nil
	}
	threads, _ := os.ReadDir("/proc/self/task")
	var pids []int
	for _, t := range threads {
		b, err := os.ReadFile(filepath.Join("/proc/self/task", t.Name(), "children"))
		if err != nil {
			continue // the thread is gone
		}
		for _, f := range bytes.Fields(b) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
