package ship

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The kinds of differences between the stream and the file.
const (
	// NotInStream: the file has an event that was counted as shipped and that
	// the stream has not.
	NotInStream = "not_in_stream"
	// NotInFile: the stream has an event of this log from between events that
	// the file still has.
	NotInFile = "not_in_file"
	// Altered: the file's line is not the one that was shipped.
	Altered = "altered"
	// CutTail: the stream has events behind the file's last one.
	CutTail = "cut_tail"
	// Rebuilt: from one line on, every line differs from what was shipped, as
	// when a chain was computed anew.
	Rebuilt = "rebuilt"
	// LostLog: the stream has events of this host and user that follow on
	// nothing in the file, as when a log was deleted and begun anew.
	LostLog = "lost_log"
	// Twice: the stream has an event more than once. Readers drop copies by
	// event id; it is no sign of a fault in the log.
	Twice = "twice"
)

// A Difference is one finding of Compare.
type Difference struct {
	Kind    string `json:"kind"`
	Seq     uint64 `json:"seq"`     // of the first event it is about, as the log counts
	Count   uint64 `json:"count"`   // events it is about
	EventID string `json:"eventId"` // of the first
	Message string `json:"message"`
}

// A Comparison is what Compare found.
type Comparison struct {
	InFile   uint64 `json:"inFile"`
	InStream uint64 `json:"inStream"` // of the hosts in the file, copies included
	Same     uint64 `json:"same"`
	Waiting  uint64 `json:"waiting"` // in the file and not shipped yet
	Older    uint64 `json:"older"`   // in the stream, from before the oldest file
	Others   uint64 `json:"others"`  // in the stream, of other logs on the same host

	Differences []Difference `json:"differences"`
}

// Sound tells whether nothing was found that puts the log in doubt.
func (c *Comparison) Sound() bool {
	for _, d := range c.Differences {
		if d.Kind != Twice {
			return false
		}
	}
	return true
}

// A storedEvent is what is kept of a message: enough to tell whether a line is
// the one that was shipped, and to follow the chain.
type storedEvent struct {
	id, user   string
	seq        uint64
	hash, prev [8]byte // the beginnings of the digests
	copies     int
	seen       bool // an event of this id is in the file
	ours       bool // it belongs to this log's chain
	older      bool
}

// Compare sets the stream against the file. The account must be allowed to read
// the stream. Memory grows with the events of the hosts that the log names, by
// about 150 bytes each.
func Compare(ctx context.Context, o Options) (Comparison, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Comparison{}, err
	}
	c := &comparer{o: &o, byID: map[string]*storedEvent{}, hosts: map[string]bool{}}
	r, _, err := openReader(o.Log, Position{})
	if errors.Is(err, fs.ErrNotExist) {
		return Comparison{}, fmt.Errorf("compare: %w", err)
	}
	if err != nil {
		return Comparison{}, err
	}
	defer r.close()
	cur, err := loadCursor(o.Cursor)
	if err != nil && !errors.Is(err, errCursor) {
		return Comparison{}, err
	}
	c.shipped = cur.At.Seq
	for {
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Comparison{}, err
		}
		if !l.ok {
			continue
		}
		if err := c.line(ctx, &l); err != nil {
			return Comparison{}, err
		}
	}
	c.chain()
	c.finish()
	return c.out, nil
}

type comparer struct {
	o       *Options
	shipped uint64
	hosts   map[string]bool
	stored  []*storedEvent // in the stream's order
	byID    map[string]*storedEvent
	users   map[string]bool
	out     Comparison

	last             Meta
	firstPrev        [8]byte
	lastHash         [8]byte
	missing, altered tally
	alteredRun       bool // every line since the first altered one differs
}

// A tally is the first of several and their number.
type tally struct {
	seq, n uint64
	id     string
}

func (t *tally) add(m Meta) {
	if t.n == 0 {
		t.seq, t.id = m.Seq, m.EventID
	}
	t.n++
}

// line looks one line of the file up in the stream.
func (c *comparer) line(ctx context.Context, l *line) error {
	m := l.meta
	if !c.hosts[m.Host] {
		c.hosts[m.Host] = true
		if err := c.load(ctx, m.Host); err != nil {
			return err
		}
	}
	hash := short(lineHash(l.bytes))
	if c.out.InFile == 0 {
		c.firstPrev = short(m.Prev)
	}
	c.out.InFile++
	c.last, c.lastHash = m, hash
	s := c.byID[m.EventID]
	switch {
	case s == nil && m.Seq > c.shipped:
		c.out.Waiting++
	case s == nil:
		c.missing.add(m)
		c.alteredRun = false
	case s.hash != hash:
		s.seen, s.ours = true, true
		if c.altered.n == 0 {
			c.alteredRun = true
		}
		c.altered.add(m)
	default:
		s.seen, s.ours = true, true
		c.out.Same++
		c.alteredRun = false
	}
	return nil
}

// load reads what the stream has of a host.
func (c *comparer) load(ctx context.Context, host string) error {
	return walk(ctx, c.o, Token(host), time.Time{}, false, func(msg jetstream.Msg) error {
		m, ok := ParseMeta(msg.Data())
		if !ok {
			return nil
		}
		c.out.InStream++
		if s := c.byID[m.EventID]; s != nil {
			s.copies++
			return nil
		}
		hash := msg.Headers().Get(originalHeader)
		if hash == "" {
			hash = lineHash(msg.Data())
		}
		s := &storedEvent{id: strings.Clone(m.EventID), user: strings.Clone(m.User), seq: m.Seq, hash: short(hash), prev: short(m.Prev), copies: 1}
		c.byID[s.id] = s
		c.stored = append(c.stored, s)
		return nil
	})
}

// chain finds which of the stream's events that are in no file belong to this
// log: those that the chain leads to, forwards from what the file has, and
// backwards from the file's first line.
func (c *comparer) chain() {
	known := map[[8]byte]bool{c.lastHash: c.out.InFile > 0}
	c.users = map[string]bool{}
	for _, s := range c.stored {
		if s.ours {
			known[s.hash] = true
			c.users[s.user] = true
		}
	}
	for _, s := range c.stored {
		if !s.ours && s.prev != ([8]byte{}) && known[s.prev] {
			s.ours = true
			known[s.hash] = true
		}
	}
	before := map[[8]byte]bool{}
	if c.firstPrev != ([8]byte{}) {
		before[c.firstPrev] = true
	}
	for i := len(c.stored) - 1; i >= 0; i-- {
		if s := c.stored[i]; !s.ours && before[s.hash] {
			s.older = true
			before[s.prev] = true
		}
	}
}

func (c *comparer) finish() {
	var gone, tail, lost, twice tally
	for _, s := range c.stored {
		m := Meta{EventID: s.id, Seq: s.seq}
		if s.copies > 1 {
			twice.add(m)
		}
		switch {
		case s.seen:
		case s.older:
			c.out.Older++
		case s.ours && s.seq > c.last.Seq:
			tail.add(m)
		case s.ours:
			gone.add(m)
		case c.users[s.user] || len(c.users) == 0:
			lost.add(m)
		default:
			c.out.Others++
		}
	}
	if c.altered.n > 1 && c.alteredRun {
		c.find(Rebuilt, c.altered, "%d lines from seq %d to the end differ from what was shipped: the chain was computed anew")
	} else {
		c.find(Altered, c.altered, "%d lines differ from what was shipped, the first at seq %d")
	}
	c.find(NotInFile, gone, "%d shipped events are not in the file any more, the first is seq %d")
	c.find(CutTail, tail, "%d shipped events follow behind the file's last line, the first is seq %d: the tail was cut")
	c.find(LostLog, lost, "%d shipped events of this host and user are in no file and follow on nothing in it, the first is seq %d: a log was lost, or another log of the same user is shipped")
	c.find(NotInStream, c.missing, "%d events were counted as shipped and are not in the stream, the first is seq %d; ship --rescan sends them again")
	c.find(Twice, twice, "%d events are in the stream more than once, the first is seq %d; readers drop copies by eventId")
}

func (c *comparer) find(kind string, t tally, format string) {
	if t.n > 0 {
		c.out.Differences = append(c.out.Differences, Difference{
			Kind: kind, Seq: t.seq, Count: t.n, EventID: t.id, Message: fmt.Sprintf(format, t.n, t.seq),
		})
	}
}

func short(hexDigest string) (b [8]byte) {
	if len(hexDigest) >= 2*len(b) {
		_, _ = hex.Decode(b[:], []byte(hexDigest[:2*len(b)])) // what is no digest matches none
	}
	return b
}
