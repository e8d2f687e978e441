package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"hooktrail/internal/settings/doctor"
	"hooktrail/internal/ship"
)

// shipTime bounds the way of the doctor's own event to the stream and back.
const shipTime = 15 * time.Second

// natsProbe ships what waits in the log, the event that doctor has just fed
// included, and so proves rights, stream and acknowledgement in one go.
func natsProbe(ctx context.Context, s *Stdio, set *settings) []doctor.Check {
	if set.NATS.URL == "" {
		return nil
	}
	check := func(state doctor.State, detail, do string) []doctor.Check {
		return []doctor.Check{{Name: "nats", State: state, Detail: detail, Do: do}}
	}
	ctx, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	o := shipOptions(s, set)
	o.Note = nil // a look must not fill the log
	res, err := ship.Run(ctx, o)
	switch {
	case errors.Is(err, ship.ErrBusy):
		return check(doctor.OK, "another shipper is at work", "")
	case errors.Is(err, fs.ErrNotExist):
		return check(doctor.Warning, "there is no log yet, so nothing could be shipped", "run doctor again after the first event")
	case err != nil:
		return check(doctor.Failed, ship.MaskURL(err.Error()), "nothing is lost: events wait in the log; see docs/nats.md")
	case res.Left > 0:
		return check(doctor.Warning, fmt.Sprintf("%d events are too large for the server's payload limit", res.Left), "raise max_payload")
	}
	return check(doctor.OK, shipSummary(res), "")
}
