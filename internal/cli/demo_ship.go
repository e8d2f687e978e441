package cli

import (
	"context"
	"path/filepath"

	"hooktrail/internal/natsd"
	"hooktrail/internal/ship"
)

// ship takes the log to a NATS server in this process and shows what a consumer
// gets from there.
func (d *demo) ship(ctx context.Context, dir string) error {
	d.s.printf("\n%s\n", d.s.bold("Shipped to NATS JetStream, a real server in this process, and read back by a consumer."))
	srv, err := natsd.Start(natsd.Options{Dir: filepath.Join(dir, "nats")})
	if err != nil {
		return err
	}
	defer srv.Stop()
	o := ship.Options{Log: d.log, Conn: ship.Conn{InProcess: srv}, Now: d.s.Now}
	if _, _, err := ship.CreateStream(ctx, o, ship.StreamSpec{}); err != nil {
		return err
	}
	res, err := ship.Run(ctx, o)
	if err != nil {
		return err
	}
	err = ship.Tail(ctx, o, ship.TailOptions{}, func(event []byte) error {
		m, ok := ship.ParseMeta(event)
		if ok {
			d.s.printf("  %s  seq=%d kind=%s reason=%s\n", ship.Subject(ship.DefaultSubject, m), m.Seq, m.Kind, m.Reason)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c, err := ship.Compare(ctx, o)
	if err != nil {
		return err
	}
	d.s.printf("  %d events acknowledged; %d of %d are the same in log and stream\n", res.Acked, c.Same, c.InFile)
	return nil
}
