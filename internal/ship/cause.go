package ship

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The causes that callers ask for.
var (
	// ErrStalled says that the server acknowledged nothing for too long.
	ErrStalled = errors.New("no acknowledgement")
	// ErrBusy says that another shipper is at work on the same cursor.
	ErrBusy = errors.New("another shipper is at work")
	// ErrNoStream says that no stream takes the events.
	ErrNoStream = errors.New("no stream")
	// ErrNoRead says that the account may not read the stream.
	ErrNoRead = errors.New("the account has not the right to read it")
)

// The server's codes that need an explanation.
const (
	codeStoreFull    = 10077 // maximum messages or bytes exceeded, discard new
	codeWrongStream  = 10060 // expected stream does not match
	codeTooLarge     = 10054 // over the stream's own limit for a message
	codeNoJetStream  = 10039 // JetStream not enabled for the account
	codeTooMany      = 10167 // too many requests in flight
	codeNoStorage    = 10047 // insufficient storage
	codeInsufficient = 10023 // insufficient resources
)

// explain turns what came back for a publish into words that say what to do.
func (l *link) explain(o *Options, err error) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("publish: %w takes %s.> on this server; make it with hooktrail ship --create-stream", ErrNoStream, o.Subject)
	case errors.As(err, &api):
		switch int(api.ErrorCode) {
		case codeStoreFull, codeNoStorage, codeInsufficient:
			return l.clean(fmt.Sprintf("publish: stream %s is full; the log keeps what it did not take", o.Stream), err)
		case codeWrongStream:
			return l.clean(fmt.Sprintf("publish: %s.> goes to another stream than %s", o.Subject, o.Stream), err)
		case codeNoJetStream:
			return l.clean("publish: this account has no JetStream", err)
		}
		return l.clean("publish", err)
	case errors.Is(err, nats.ErrPermissionViolation):
		return l.clean("publish: the account has not the right", err)
	}
	return l.clean("publish", err)
}

// tooLarge tells a refusal that is about one message and no other.
func tooLarge(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeTooLarge || errors.Is(err, nats.ErrMaxPayload)
}

// transient tells whether a new connection soon may do better.
func transient(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode == codeTooMany
	}
	return !errors.Is(err, ErrNoStream) && !errors.Is(err, nats.ErrPermissionViolation) &&
		!errors.Is(err, nats.ErrAuthorization) && !errors.Is(err, ErrStalled) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// backOff is how long an inline shipper leaves a server alone after the n-th
// failure in a row: 2 s, 4 s, 8 s … 5 min.
func backOff(n int) time.Duration {
	return min(time.Second<<min(max(n, 1), 9), 5*time.Minute)
}
