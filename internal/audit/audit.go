// Package audit writes, reads and checks the log of hooktrail.
//
// # The log
//
// One event is one line: a JSON object in UTF-8 of at most MaxLine bytes, its
// newline included. Lines are numbered (seq: 1, 2, 3 …) and chained: prev is the
// hex SHA-256 of the previous line as it stands in the file, without its
// newline, so anyone can check the chain with sha256sum. The chain goes on from
// file to file when the log is rotated. The first line of every file is an
// event of kind "log" that says why the file begins there.
//
// Beside the log stand files that belong to it: NAME.lock (the lock of its
// writers), NAME.head (the last line that was written: number, hash, place),
// NAME.reserve (room for one last event on a full disk), NAME.torn-* (bytes that
// were no event and had to be cut off the log) and hmac.key (see Digest).
//
// # What is promised
//
// Record returns nil only once its events are on disk (fsync), each whole, on a
// line of its own, in one write. Any number of processes may record at once;
// they never fork the chain. A process that is killed at any moment leaves a log
// that the next one can continue. Everything ends within the context's deadline.
// What is free text is redacted before it is written.
//
// A log that was cut is never silently begun again: the head file remembers the
// last line, the next event continues from there, an event says so, and Verify
// finds the gap for as long as the files exist.
//
// # What is refused
//
// A log that is no regular file, or that holds something that never was a log
// of ours, is not touched. An event is never written in part, and never without
// the lock.
//
// # What is not promised
//
// The chain has no key: who may write the file can compute a new one from any
// place on, and who may delete can delete log and head together. That is found
// against the copies that were shipped, not from the file alone.
package audit

import (
	"crypto/hmac"
	"os"
	"os/user"
	"sync"
	"time"

	"hooktrail/internal/reason"
)

// MaxLine is the most bytes a line has, its newline included.
const MaxLine = 16 << 10

// Defaults of Options.
const (
	DefaultLockTimeout = 3 * time.Second
	DefaultRotateBytes = 100 << 20
	// diskTimeout bounds what follows the lock when the context has no deadline.
	diskTimeout = 10 * time.Second
)

// Options configure a Log. Path must be set; the zero value of every other
// field works.
type Options struct {
	// Path is the log file. It may be a symbolic link to a file elsewhere; the
	// files beside the log then stand beside the link's target.
	Path string

	// LockTimeout bounds the wait for other writers. Zero means three seconds.
	LockTimeout time.Duration

	// RotateBytes is the size above which the log moves on to a new file. Nil
	// means 100 MiB, zero means never.
	RotateBytes *int64

	// KeepFiles is how many files that were rotated by size are kept. Zero
	// means all.
	KeepFiles int

	// KeyFile holds the key of Digest. Empty means hmac.key beside the log.
	KeyFile string

	// Host, User and Product go into every event that has none of its own.
	// Empty Host and User are taken from the system.
	Host, User, Product string

	// Now returns the current time. Nil means the system's clock.
	Now func() time.Time
}

// A Log appends events to a file. It holds nothing open between calls, so the
// file may be renamed or removed at any time. It may be used by several
// goroutines at once.
type Log struct {
	o     Options
	turn  chan struct{} // one Record of this process at a time; the file lock is for the others
	names sync.Once     // fills in Host and User

	key struct {
		sync.Mutex
		bytes []byte
		err   error
	}
}

// New returns the log that o describes. It touches no file: what is wrong with
// the path is the first Record's error.
func New(o Options) (*Log, error) {
	if o.Path == "" {
		return nil, reason.Wrap(reason.AuditUnavailable, "the audit log has no path", nil)
	}
	if o.LockTimeout < 0 || o.KeepFiles < 0 || (o.RotateBytes != nil && *o.RotateBytes < 0) {
		return nil, reason.Wrap(reason.AuditUnavailable, "the audit log has a negative limit", nil)
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = DefaultLockTimeout
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of the option
	}
	if o.Product == "" {
		o.Product = "hooktrail"
	}
	return &Log{o: o, turn: make(chan struct{}, 1)}, nil
}

// Path returns the log's path as it was given.
func (l *Log) Path() string { return l.o.Path }

// identity fills in Host and User late: looking a user up can cost more than
// the rest of an event.
func (l *Log) identity() {
	l.names.Do(func() {
		if l.o.Host == "" {
			l.o.Host, _ = os.Hostname()
		}
		if l.o.User == "" {
			l.o.User = userName()
		}
	})
}

func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// Digest returns the hex HMAC-SHA-256 of data under the key of this
// installation: equal inputs can be matched, short secrets cannot be guessed.
// The key is made on first use. Without a usable key the result is empty, and
// KeyError says why; the event is recorded all the same, since an event without
// a digest is worth more than none.
func (l *Log) Digest(data []byte) string {
	key, err := l.loadKey()
	if err != nil {
		return ""
	}
	return hexSum(hmac.New(newSHA256, key), data)
}

// KeyError returns why the last Digest was empty, or nil.
func (l *Log) KeyError() error {
	l.key.Lock()
	defer l.key.Unlock()
	return l.key.err
}
