package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/zerto"
)

const checkpointsAbout = `Lists the checkpoints that the zerto provider asked for, the newest first.

  pending    asked for, not seen in the journal yet
  confirmed  seen in the journal by the call that waited for it
  late       seen in the journal after a call had been denied for want of it
  failed     refused by Zerto
  void       a change was let through before the tag was seen

--refresh asks Zerto for those that are pending, and records an event for each
that has landed. It lets no call through.`

// refreshTime bounds what --refresh may take.
const refreshTime = 2 * time.Minute

func runCheckpoints(ctx context.Context, s *Stdio, args []string) int {
	const name = "checkpoints"
	var c common
	fs := newFlags(s, name, "[--json] [--refresh] [--config FILE] [--log FILE]", checkpointsAbout)
	c.register(fs)
	asJSON := fs.Bool("json", false, "print a JSON array")
	refresh := fs.Bool("refresh", false, "look for the pending ones first")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	if fs.NArg() > 0 {
		return s.fail(name, "takes no argument, but got %q", fs.Arg(0))
	}
	set, err := c.load(s)
	if err != nil {
		return s.fail(name, "%v", err)
	}
	path := set.stateFile()
	if path == "" {
		return s.fail(name, "the state file has no place: set --log or HOME")
	}
	status := exitOK
	if *refresh {
		if err := refreshCheckpoints(ctx, s, &set); err != nil {
			status = s.fail(name, "refresh: %v", err)
		}
	}
	all, err := zerto.Records(path)
	if err != nil {
		return s.fail(name, "%v", err)
	}
	if *asJSON {
		err = printRecordsJSON(s, all)
	} else {
		err = printRecords(s, all)
	}
	if err != nil {
		return s.fail(name, "%v", err)
	}
	return status
}

// refreshCheckpoints looks for the pending ones. What has landed is recorded in
// the log before it is marked as known.
func refreshCheckpoints(ctx context.Context, s *Stdio, set *settings) error {
	if set.Zerto == nil {
		return errors.New("no zerto section is configured")
	}
	p, err := newZerto(s, set)
	if err != nil {
		return err
	}
	l, err := set.open(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	err = p.Refresh(ctx, recordCheckpoints(ctx, set, l))
	return errors.Join(err, p.Close(ctx))
}

func printRecordsJSON(s *Stdio, all []zerto.Record) error {
	if all == nil {
		all = []zerto.Record{}
	}
	return writeJSON(s.Out, all, jsontext.WithIndent("  "))
}

func printRecords(s *Stdio, all []zerto.Record) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(s.Out, "no checkpoint was asked for")
		return err
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "STATE\tREQUESTED\tGROUP\tMACHINES\tTAG\tCHECKPOINT\tTAKEN\tUSED\tREASON")
	for _, r := range all {
		cells := []string{r.State, stampOf(r.Since), r.VPG, r.VMs, r.Tag, r.ID, stampOf(r.Time), stampOf(r.Used), r.Reason}
		for i := range cells {
			if cells[i] = printable(cells[i]); cells[i] == "" {
				cells[i] = "-"
			}
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

func stampOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
