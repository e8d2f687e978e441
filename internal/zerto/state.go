package zerto

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/regular"
)

// A stateFile remembers, for all processes of an installation, what was asked
// for and how many changes were let through on each group. Its lock is a file
// of its own, so that the state can be replaced in one step.
//
// It is never proof: a tag counts only when the ZVM lists it, whatever stands
// here.
type stateFile struct {
	path  string
	clock clock
}

const (
	stateVersion  = 1
	maxState      = 16 << 20
	stateLockWait = 10 * time.Second
	keepEntries   = 50                  // of one group
	keepFor       = 30 * 24 * time.Hour // then an entry is history that only the log keeps
	keepAtLeast   = 2 * time.Hour
)

// A ledger is the content of the state file.
type ledger struct {
	Version int               `json:"version"`
	Groups  map[string]*group `json:"groups"`
}

// A group is what is remembered of one protection group.
type group struct {
	Name string `json:"name"`
	// Changes counts the calls let through on the group. A tag counts only while
	// this is what it was when the tag was asked for, or if it was seen in the
	// list while it still was.
	Changes uint64   `json:"changes"`
	Entries []*entry `json:"entries"`
}

// The states of an entry. They are only ever added.
const (
	intended  = "intended"  // about to be asked for; perhaps it was
	requested = "requested" // taken by the ZVM
	confirmed = "confirmed" // seen in the list by the calls that waited for it
	late      = "late"      // seen in the list after a call had been denied for want of it
	failed    = "failed"
	void      = "void" // a change was let through before it was seen: it covers no later call
)

// An entry is one tag that was asked for, or was about to be.
type entry struct {
	Tag      string   `json:"tag"`
	VMs      []string `json:"vms"`
	Site     string   `json:"site,omitzero"`
	Platform platform `json:"platform"`
	Task     string   `json:"task,omitzero"`
	State    string   `json:"state"`
	Changes  uint64   `json:"changes"`

	// Since is when it was asked for, by the ZVM's clock.
	Since time.Time `json:"since"`
	// Until is when the call that asked has ended for sure, by ours.
	Until       time.Time `json:"until,omitzero"`
	Unconfirmed time.Time `json:"unconfirmed,omitzero"` // when a call was first denied for want of it
	Listed      time.Time `json:"listed,omitzero"`      // when it was first seen, by our clock
	Used        time.Time `json:"used,omitzero"`        // when a call was let through on its strength

	ID   string    `json:"id,omitzero"`   // of the checkpoint
	Time time.Time `json:"time,omitzero"` // when the journal took it

	CadenceS  int64  `json:"cadenceS,omitzero"`
	ExpectedS int64  `json:"expectedS,omitzero"`
	Reason    string `json:"reason,omitzero"` // why it failed
	// Uncertain marks a failure after which the tag may land all the same.
	Uncertain bool `json:"uncertain,omitzero"`
}

func (e *entry) pending() bool { return e.State == intended || e.State == requested }

func (e *entry) seen() bool { return e.State == confirmed || e.State == late }

// pace is how fast the journal moved when the entry was made.
func (e *entry) pace() pace {
	return pace{platform: e.Platform, measured: time.Duration(e.CadenceS) * time.Second}
}

func key(vpg string) string { return strings.ToLower(vpg) }

func (l *ledger) group(vpg string) *group {
	g := l.Groups[key(vpg)]
	if g == nil {
		g = &group{}
		l.Groups[key(vpg)] = g
	}
	return g
}

func (g *group) find(tag string) *entry {
	if g == nil {
		return nil
	}
	for _, e := range g.Entries {
		if e.Tag == tag {
			return e
		}
	}
	return nil
}

// update changes the ledger under the lock. When f returns an error, nothing is
// written. A nil error means that the change is on disk.
func (s *stateFile) update(ctx context.Context, f func(*ledger) error) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the state file: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, stateLockWait)
	defer cancel()
	lock, err := regular.Lock(ctx, s.path+".lock", 5*time.Millisecond)
	if err != nil {
		return fmt.Errorf("lock the state file %s: %w", s.path, err)
	}
	defer func() { _ = lock.Close() }() // the lock ends with it; the file stays

	l, err := s.read()
	if errors.Is(err, errCorrupt) {
		// What cannot be read is kept for people and trusted for nothing.
		if err := os.Rename(s.path, s.path+".corrupt"); err != nil {
			return fmt.Errorf("set a damaged state file aside: %w", err)
		}
		l, err = empty(), nil
	}
	if err != nil {
		return err
	}
	if err := f(l); err != nil {
		return err
	}
	s.prune(l)
	return s.write(l)
}

var errCorrupt = errors.New("the state file is damaged")

func empty() *ledger { return &ledger{Version: stateVersion, Groups: map[string]*group{}} }

// read returns the ledger as it is, without the lock: the file is only ever
// replaced as a whole.
func (s *stateFile) read() (*ledger, error) {
	fi, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state file: %w", err)
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("read the state file: %s is not a file", s.path)
	}
	// Whoever can write it can make an old tag good for a new change.
	if !ours(fi) {
		return nil, fmt.Errorf("read the state file: %s can be written by others, or belongs to somebody else (mode %04o)", s.path, fi.Mode().Perm())
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("read the state file: %w", err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return nil, fmt.Errorf("read the state file: %w", err)
	}
	return parseLedger(b)
}

func parseLedger(b []byte) (*ledger, error) {
	l := &ledger{}
	if len(b) > maxState || json.Unmarshal(b, l) != nil || l.Version < 1 {
		return nil, errCorrupt
	}
	if l.Version > stateVersion {
		return nil, fmt.Errorf("the state file has version %d; this hooktrail knows %d", l.Version, stateVersion)
	}
	if l.Groups == nil {
		l.Groups = map[string]*group{}
	}
	for _, g := range l.Groups {
		if g == nil {
			return nil, errCorrupt
		}
		for _, e := range g.Entries {
			if e == nil || e.Tag == "" || e.Changes > g.Changes {
				return nil, errCorrupt
			}
		}
	}
	return l, nil
}

func (s *stateFile) prune(l *ledger) {
	now := s.clock.now()
	for k, g := range l.Groups {
		kept := g.Entries[:0]
		for i, e := range g.Entries {
			age := now.Sub(e.Until) // by our clock; the ZVM's may be far off
			if e.Until.IsZero() {
				age = now.Sub(e.Since)
			}
			if age < keepAtLeast || age < keepFor && len(g.Entries)-i <= keepEntries {
				kept = append(kept, e)
			}
		}
		g.Entries = kept
		if len(kept) == 0 {
			delete(l.Groups, k)
		}
	}
}

// write replaces the file in one step. It is on disk, folder included, when the
// error is nil.
func (s *stateFile) write(l *ledger) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the state file: %w", err)
		}
	}()
	b, err := json.Marshal(l, json.Deterministic(true), jsontext.WithIndent(" "))
	if err != nil {
		return err
	}
	dir := filepath.Dir(s.path)
	f, err := os.CreateTemp(dir, filepath.Base(s.path)+".tmp*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(append(b, '\n')); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err = os.Rename(f.Name(), s.path); err != nil {
		return err
	}
	if d, derr := os.Open(dir); derr == nil { //nolint:gosec // the folder of our own file
		_ = d.Sync() // not every file system can
		_ = d.Close()
	}
	return nil
}
