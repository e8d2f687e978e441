package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/gofrs/flock"

	"hooktrail/internal/audit"
	"hooktrail/internal/regular"
)

// maxState bounds a state file, and maxClasses what is remembered of a session.
const (
	maxState   = 8 << 20
	maxClasses = 4096
)

// fromPayloads is the source of facts that stand in payloads.
const fromPayloads = "payload"

// A state is what is remembered of one session between two hooks: how far each
// transcript was read, and how often each class of facts was recorded and met.
type state struct {
	Files map[string]*cursor        `json:"files,omitempty"`
	Have  map[string]int            `json:"have,omitempty"`  // facts on record, by class
	Got   map[string]map[string]int `json:"got,omitempty"`   // facts met, by source and class
	Order []string                  `json:"order,omitempty"` // classes, the oldest first
}

// A cursor is a place in a transcript.
type cursor struct {
	File   string          `json:"file"`             // device and inode
	Offset int64           `json:"offset"`           // of the first byte not read
	Hash   string          `json:"hash,omitempty"`   // of the bytes before Offset
	Inside bool            `json:"inside,omitempty"` // Offset lies in a line too long to be read
	Open   map[string]call `json:"open,omitempty"`
	Order  []string        `json:"order,omitempty"`
	Told   bool            `json:"told,omitempty"` // its unknown shape is on record
}

// fresh tells whether e is not on record yet, and counts it. Facts of one class
// that two sources tell are one; facts of one class that one source tells are
// several.
func (s *state) fresh(e *audit.Event, source string) bool {
	c, ok := classOf(e)
	if !ok {
		return true
	}
	k := c.key()
	if s.Got == nil {
		s.Got = map[string]map[string]int{}
	}
	if s.Have == nil {
		s.Have = map[string]int{}
	}
	if s.Got[source] == nil {
		s.Got[source] = map[string]int{}
	}
	if source == fromPayloads && s.Got[source][k] > 0 {
		return false // one payload tells of a call once, to as many hooks as are registered
	}
	if s.Have[k] == 0 && s.Got[source][k] == 0 {
		s.Order = append(s.Order, k)
	}
	s.Got[source][k]++
	if s.Got[source][k] <= s.Have[k] {
		return false
	}
	s.Have[k]++
	s.prune()
	return true
}

func (s *state) prune() {
	for len(s.Order) > maxClasses {
		k := s.Order[0]
		s.Order = s.Order[1:]
		delete(s.Have, k)
		for _, got := range s.Got {
			delete(got, k)
		}
	}
}

// A store is the state of one session on disk, locked.
type store struct {
	path string
	lock *flock.Flock
}

// openStore locks the state of a session. It gives up when ctx ends.
func openStore(ctx context.Context, dir, session string) (*store, state, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, state{}, err
	}
	h := sha256.Sum256([]byte(session))
	st := &store{path: filepath.Join(dir, hex.EncodeToString(h[:12])+".json")}
	lock, err := regular.Lock(ctx, st.path+".lock", 2*time.Millisecond)
	if err != nil {
		return nil, state{}, fmt.Errorf("lock the state of the session: %w", err)
	}
	st.lock = lock
	var s state
	b, err := readRegular(st.path, maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		st.close()
		return nil, state{}, err
	default:
		if json.Unmarshal(b, &s) != nil {
			s = state{} // the ids of the events still tell who sees them twice
		}
	}
	return st, s, nil
}

func (st *store) save(s state) error {
	b, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return err
	}
	tmp := st.path + ".new" // the lock is ours, so the name is too
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, st.path)
}

func (st *store) close() { _ = st.lock.Unlock() }

// note counts a fact that came to the record without this state's doing.
func (s *state) note(e *audit.Event) {
	c, ok := classOf(e)
	if !ok {
		return
	}
	k := c.key()
	if s.Have == nil {
		s.Have = map[string]int{}
	}
	if s.Have[k] == 0 {
		s.Order = append(s.Order, k)
	}
	s.Have[k]++
	s.prune()
}
