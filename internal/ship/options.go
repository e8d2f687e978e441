package ship

import (
	"context"
	"errors"
	"time"
)

// Options say what is shipped, and where to. Log is needed, and URL or
// InProcess; the zero value of every other field works.
type Options struct {
	// Log is the audit log. Its rotated files are found beside it.
	Log string
	// Cursor is the cursor file. Empty means ship.cursor beside the log.
	Cursor string

	Conn

	// Stream is the stream that must take the events. Empty means
	// HOOKTRAIL_AUDIT. A server that would store them elsewhere refuses them.
	Stream string
	// Subject is the prefix of the subjects. Empty means hooktrail.audit.v1.
	Subject string

	// Stall is how long a run goes on without one acknowledgement. Zero means 8 s.
	Stall time.Duration
	// Poll is how often a following run looks for new lines. Zero means 100 ms.
	Poll time.Duration
	// Window is how many lines may be unacknowledged at once. Zero means 2048.
	Window int

	// Rescan ignores the cursor: all that the stream does not have is shipped.
	Rescan bool

	// Note records in the audit log that shipping began to fail, works again,
	// or had to shorten or leave something. The words of action are those of
	// kind "log". Nil records nothing. It is called without shipping's lock on
	// the log, at most once for each change.
	Note func(ctx context.Context, action, message string) error

	// Now returns the current time. It must not be nil.
	Now func() time.Time
}

// A Conn says how to reach a server.
type Conn struct {
	// URL holds the servers, separated by commas.
	URL string
	// InProcess connects without a socket. It is a nats.InProcessConnProvider.
	InProcess InProcess

	CredsFile    string // JWT and key
	NkeyFile     string // seed
	TokenFile    string
	User         string
	PasswordFile string
	CAFile       string // PEM; empty means the system's
	CertFile     string // PEM, for mTLS
	KeyFile      string

	// ConnectTimeout bounds one connection. Zero means 3 s.
	ConnectTimeout time.Duration
}

func (o Options) withDefaults() (Options, error) {
	if o.Log == "" || o.Now == nil {
		return o, errors.New("ship: Log and Now must be set")
	}
	if o.Cursor == "" {
		o.Cursor = DefaultCursor(o.Log)
	}
	if o.Stream == "" {
		o.Stream = DefaultStream
	}
	if o.Subject == "" {
		o.Subject = DefaultSubject
	}
	if o.Stall <= 0 {
		o.Stall = 8 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.Window <= 0 {
		o.Window = 2048
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 3 * time.Second
	}
	return o, nil
}
