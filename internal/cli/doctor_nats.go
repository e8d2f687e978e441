package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"hooktrail/internal/settings/doctor"
	"hooktrail/internal/ship"
)

// shipTime bounds the way of the doctor's own event to the stream and back.
const shipTime = 15 * time.Second

// lookBack is how far the server's clock may be from ours for the event to be
// found again.
const lookBack = 10 * time.Minute

const waits = "nothing is lost: events wait in the log; see docs/nats.md"

// natsProbe ships what waits in the log, the event with the mark included, and
// so proves rights, stream and acknowledgement in one go. Then it looks for that
// event in the stream, where the account may read.
func natsProbe(ctx context.Context, s *Stdio, set *settings, mark string) []doctor.Check {
	if set.NATS.URL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	o := shipOptions(s, set)
	o.Note = nil // a look must not fill the log
	shipped := shipProbe(ctx, o)
	if shipped.State == doctor.Failed {
		return []doctor.Check{shipped}
	}
	all := []doctor.Check{shipped, streamProbe(ctx, o)}
	if doctor.Recorded(set.Log, mark) { // else its own check has failed
		all = append(all, roundTrip(ctx, o, s.Now(), mark))
	}
	return all
}

func shipProbe(ctx context.Context, o ship.Options) doctor.Check {
	res, err := ship.Run(ctx, o)
	switch {
	case errors.Is(err, ship.ErrBusy):
		return doctor.Check{Name: "nats", State: doctor.Warning, Detail: "another shipper is at work and does not come to the end of the log", Do: "hooktrail ship --status"}
	case errors.Is(err, fs.ErrNotExist):
		return doctor.Check{Name: "nats", State: doctor.Warning, Detail: "there is no log yet, so nothing could be shipped", Do: "run doctor again after the first event"}
	case err != nil:
		return doctor.Check{Name: "nats", State: doctor.Failed, Detail: ship.MaskURL(err.Error()), Do: waits}
	case res.Left > 0:
		return doctor.Check{Name: "nats", State: doctor.Warning, Detail: fmt.Sprintf("%d events are too large for the server's payload limit", res.Left), Do: "raise max_payload"}
	}
	return doctor.Check{Name: "nats", State: doctor.OK, Detail: shipSummary(res)}
}

// streamProbe tells where the stream would lose or change what it holds.
func streamProbe(ctx context.Context, o ship.Options) doctor.Check {
	weak, err := ship.Weaknesses(ctx, o)
	switch {
	case errors.Is(err, ship.ErrNoRead):
		return doctor.Check{Name: "stream", State: doctor.OK, Detail: "this account may not look at its settings"}
	case err != nil:
		return doctor.Check{Name: "stream", State: doctor.Failed, Detail: ship.MaskURL(err.Error()), Do: waits}
	case len(weak) > 0:
		return doctor.Check{Name: "stream", State: doctor.Warning, Detail: fmt.Sprintf("it is weaker than it should be (%d points), the first: %s", len(weak), weak[0]), Do: "hooktrail ship --create-stream names them all; docs/nats.md says how it should be made"}
	}
	return doctor.Check{Name: "stream", State: doctor.OK, Detail: "it refuses what it cannot hold, and nothing can be deleted from it"}
}

// roundTrip looks for the event that doctor has fed.
func roundTrip(ctx context.Context, o ship.Options, now time.Time, mark string) doctor.Check {
	const name = "round trip"
	host, err := os.Hostname()
	if err != nil {
		return doctor.Check{Name: name, State: doctor.Warning, Detail: "this host has no name: " + err.Error(), Do: "give it one; events are filed by it"}
	}
	found := false
	err = ship.Tail(ctx, o, ship.TailOptions{Host: host, Since: now.Add(-lookBack)}, func(event []byte) error {
		found = found || bytes.Contains(event, []byte(`"`+mark+`"`))
		return nil
	})
	switch {
	case errors.Is(err, ship.ErrNoRead):
		return doctor.Check{Name: name, State: doctor.OK, Detail: "the event was acknowledged; this account may not read it back"}
	case err != nil:
		return doctor.Check{Name: name, State: doctor.Failed, Detail: ship.MaskURL(err.Error()), Do: waits}
	case !found:
		return doctor.Check{Name: name, State: doctor.Failed, Detail: "the event that was fed is not among the stream's last ten minutes", Do: "hooktrail verify --nats; is the server's clock right?"}
	}
	return doctor.Check{Name: name, State: doctor.OK, Detail: "the event that was fed was read back from the stream"}
}
