package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/signal"
	"strings"
	"syscall"

	"hooktrail/internal/audit"
)

const tailAbout = `Shows the last events of the log, one a line, and with -f each new one as it comes,
through rotations. --where takes conditions of the form field=value, with commas;
all must hold, and value may be several with "|" between them. --jq gives each
event to a jq expression and prints what comes out, strings without quotes; an
event at which it fails is said on standard error and passed over. What stands in
an event is shown with its control characters escaped, never raw.

Exit status: 0 fine, 2 usage or failure, also of --jq at one event.`

type tailFlags struct {
	common
	follow, pretty bool
	nats           bool
	n              int
	where          []condition
	query          *query // nil without --jq
}

func runTail(ctx context.Context, s *Stdio, args []string) int {
	var (
		f         tailFlags
		where, jq string
	)
	fl := newFlags(s, "tail", "[-f] [-n N] [--nats] [--where FIELD=VALUE,…] [--jq EXPR] [--pretty] [--log FILE]", tailAbout)
	f.register(fl)
	fl.BoolVar(&f.follow, "f", false, "go on with each new event")
	fl.BoolVar(&f.nats, "nats", false, "read the stream instead of the log: all hosts that ship to it")
	fl.IntVar(&f.n, "n", 10, "how many events to begin with")
	fl.StringVar(&where, "where", "", "only events that meet these `conditions`")
	fl.StringVar(&jq, "jq", "", "jq `expression` to apply to each event")
	fl.BoolVar(&f.pretty, "pretty", false, "a short line for people instead of JSON")
	if status, ok := parse(s, fl, args); !ok {
		return status
	}
	if fl.NArg() > 0 {
		return s.fail("tail", "unexpected argument %q; the log is named with --log", fl.Arg(0))
	}
	var err error
	if f.where, err = conditions(where); err != nil {
		return s.fail("tail", "%v", err)
	}
	if jq != "" {
		if f.query, err = newQuery(jq); err != nil {
			return s.fail("tail", "--jq: %v", err)
		}
	}
	set, fault := f.load(s)
	if set.Log == "" || fault != nil && f.log == "" {
		return s.fail("tail", "the audit log has no place: %v", fault)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if f.nats {
		err = f.runStream(ctx, s, &set)
	} else {
		err = f.run(ctx, s, set.Log)
	}
	if err != nil && !errors.Is(err, errHalt) && ctx.Err() == nil {
		return s.fail("tail", "%s", printable(err.Error()))
	}
	if f.query != nil && f.query.failed > 0 {
		return s.fail("tail", "--jq failed at %d events", f.query.failed)
	}
	return exitOK
}

// run prints the last events of the log, then follows it.
func (f *tailFlags) run(ctx context.Context, s *Stdio, path string) error {
	files, err := audit.Files(path)
	if err != nil && (!f.follow || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	follow := follower{path: path, take: func(line []byte) error {
		if !f.meets(line) {
			return nil
		}
		return f.show(s, line)
	}}
	defer follow.close()
	var last [][]byte
	for _, name := range files {
		if strings.HasSuffix(name, ".gz") {
			continue // compressed files are old; report reads them
		}
		if err := follow.open(name); err != nil {
			return err
		}
		err := follow.scan(func(line []byte) error {
			if f.meets(line) {
				if last = append(last, bytes.Clone(line)); len(last) > max(f.n, 0) {
					last = last[1:]
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, line := range last {
		if err := f.show(s, line); err != nil {
			return err
		}
	}
	if !f.follow {
		return nil
	}
	return follow.run(ctx)
}
