package cli

import (
	"context"
	"errors"

	"hooktrail/internal/ship"
)

// compareStream sets the stream against the log of the settings.
func compareStream(ctx context.Context, s *Stdio, set *settings) (*ship.Comparison, error) {
	o := shipOptions(s, set)
	if o.URL == "" {
		return nil, errors.New("no NATS server is set; set HOOKTRAIL_NATS_URL or nats.url in the configuration")
	}
	c, err := ship.Compare(ctx, o)
	if err != nil {
		return nil, errors.New(ship.MaskURL(err.Error()))
	}
	return &c, nil
}

func printComparison(s *Stdio, c *ship.Comparison) {
	for _, d := range c.Differences {
		s.printf("stream: %s [%s]\n", printable(d.Message), d.Kind)
	}
	verdict := "ok"
	if !c.Sound() {
		verdict = "NOT SOUND"
	}
	s.printf("stream %s: %d events are the same in log and stream, %d wait to be shipped", verdict, c.Same, c.Waiting)
	if c.Older > 0 {
		s.printf(", %d are older than the log", c.Older)
	}
	if c.Others > 0 {
		s.printf(", %d are of other logs on this host", c.Others)
	}
	s.printf("\n")
}
