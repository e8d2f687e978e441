package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/report"
	"hooktrail/internal/ship"
)

// A source is where report, explain and export take their events from.
type source struct {
	s     *Stdio
	c     *common
	nats  bool
	files []string // empty means those of the log
}

func (c *common) source(s *Stdio, nats bool, files []string) source {
	return source{s, c, nats, files}
}

// each gives every event that is not older than since to fn. once leaves out
// copies, which only a stream can hold.
func (src source) each(ctx context.Context, since time.Time, once bool, fn func(*report.Row)) (report.Totals, error) {
	if !src.nats {
		files, err := src.names()
		if err != nil {
			return report.Totals{}, err
		}
		return report.Each(ctx, src.s.In, files, since, fn)
	}
	if len(src.files) > 0 {
		return report.Totals{}, fmt.Errorf("--nats reads the stream and no file, but got %q", src.files[0])
	}
	set, err := src.c.load(src.s)
	if err != nil {
		return report.Totals{}, err
	}
	t := ship.TailOptions{Once: once}
	if !since.IsZero() {
		t.Since = since.Add(-lookBack) // it is the server's clock that counts there
	}
	return report.EachOf(since, fn, func(line func([]byte)) error {
		return readStream(ctx, src.s, &set, t, func(event []byte) error { line(event); return nil })
	})
}

// ago returns the time before which events are left out: d back from now, or the
// zero time, which leaves out none, when d is 0.
func (s *Stdio) ago(d time.Duration) (time.Time, error) {
	switch {
	case d < 0:
		return time.Time{}, fmt.Errorf("%v ago lies in the future", d)
	case d == 0:
		return time.Time{}, nil
	}
	return s.Now().Add(-d), nil
}

// names returns the named files, or those of the log.
func (src source) names() ([]string, error) {
	if len(src.files) > 0 {
		return src.files, nil
	}
	set, fault := src.c.load(src.s)
	if set.Log == "" {
		return nil, errors.New("the audit log has no place: set --log or HOME")
	}
	if fault != nil && src.c.log == "" {
		return nil, fault
	}
	files, err := audit.Files(set.Log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no log at %s yet; name one with --log", set.Log)
	}
	return files, err
}

// readStream gives the events of the configured stream to fn. Its errors quote
// no secret.
func readStream(ctx context.Context, s *Stdio, set *settings, t ship.TailOptions, fn func(event []byte) error) error {
	o := shipOptions(s, set)
	if o.URL == "" {
		return errors.New("no NATS server is set; set HOOKTRAIL_NATS_URL or nats.url in the configuration")
	}
	var own error
	err := ship.Tail(ctx, o, t, func(event []byte) error { own = fn(event); return own })
	if own != nil || err == nil {
		return own
	}
	return errors.New(ship.MaskURL(err.Error()))
}
