package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/reason"
	"hooktrail/internal/ship"
)

const shipAbout = `
Ships the audit log to NATS JetStream: all that is in it, from where the last run
stopped, and then ends. An event counts as shipped when the server has
acknowledged it. The status is 0 when nothing is left, 1 when events were too
large for the server, a purged stream took them for copies, or another shipper is
at work and not done, 2 when shipping failed; what was not shipped stays in the
log for the next run.`

// shipFlags are what shipping can be told beside the configuration.
type shipFlags struct {
	common
	cursor, url     string
	stream, subject string
	creds, token    string
	stall           time.Duration
}

func (f *shipFlags) register(fs *flag.FlagSet) {
	f.common.register(fs)
	fs.StringVar(&f.cursor, "cursor", "", "cursor `file` (default ship.cursor beside the log)")
	fs.StringVar(&f.url, "nats", "", "NATS `servers`, separated by commas (default $HOOKTRAIL_NATS_URL)")
	fs.StringVar(&f.stream, "stream", "", "`name` of the stream (default HOOKTRAIL_AUDIT)")
	fs.StringVar(&f.subject, "subject", "", "`prefix` of the subjects (default hooktrail.audit.v1)")
	fs.StringVar(&f.creds, "creds", "", "credentials `file` (JWT and key)")
	fs.StringVar(&f.token, "nats-token-file", "", "`file` with the server's token")
	fs.DurationVar(&f.stall, "stall", 0, "give up after this `long` without an acknowledgement (default 8s)")
}

// apply puts the flags over the settings.
func (f *shipFlags) apply(set *settings) {
	n := &set.NATS
	n.URL, n.CursorFile = cmp.Or(f.url, n.URL), cmp.Or(f.cursor, n.CursorFile)
	n.Stream, n.Subject = cmp.Or(f.stream, n.Stream), cmp.Or(f.subject, n.Subject)
	n.CredsFile, n.TokenFile = cmp.Or(f.creds, n.CredsFile), cmp.Or(f.token, n.TokenFile)
}

// shipOptions makes the options of shipping from the settings. Notes go into the
// audit log when it can be opened.
func shipOptions(s *Stdio, set *settings) ship.Options {
	n := &set.NATS
	o := ship.Options{
		Log: set.Log, Cursor: n.CursorFile, Stream: n.Stream, Subject: n.Subject, Now: s.Now,
		Conn: ship.Conn{
			URL: n.URL, CredsFile: n.CredsFile, NkeyFile: n.NkeyFile, TokenFile: n.TokenFile,
			User: n.User, PasswordFile: n.PasswordFile,
			CAFile: n.TLS.CAFile, CertFile: n.TLS.CertFile, KeyFile: n.TLS.KeyFile,
		},
	}
	if l, err := set.open(s); err == nil {
		o.Note = func(ctx context.Context, action, message string) error {
			return l.Record(ctx, &audit.Event{
				Kind: audit.LogKind, Action: action, Decision: reason.None, Reason: reason.Observed, Message: message,
			})
		}
	}
	return o
}

// shipInline ships from a hook after its answer was delivered. It prints nothing
// and changes nothing: what it could not do stays in the log.
func shipInline(ctx context.Context, s *Stdio, set *settings) {
	if set.NATS.URL == "" || set.Log == "" {
		return
	}
	// A panic here would make a second answer of the one that was delivered.
	defer func() { _ = recover() }()
	_ = ship.Inline(ctx, shipOptions(s, set), time.Duration(set.NATS.InlineBudget))
}

func runShip(ctx context.Context, s *Stdio, args []string) int {
	fl := newFlags(s, "ship", "[--follow | --status | --create-stream] [FLAGS]", shipAbout)
	var f shipFlags
	f.register(fl)
	var (
		follow = fl.Bool("follow", false, "keep shipping until SIGINT or SIGTERM")
		status = fl.Bool("status", false, "say how far shipping is, without a server")
		asJSON = fl.Bool("json", false, "print JSON")
		rescan = fl.Bool("rescan", false, "offer the whole log again; what the stream has is left out")
		create = fl.Bool("create-stream", false, "make the stream, and ship nothing")
		spec   ship.StreamSpec
	)
	fl.IntVar(&spec.Replicas, "replicas", 1, "with --create-stream: copies in a cluster")
	fl.Int64Var(&spec.MaxBytes, "max-bytes", 0, "with --create-stream: size limit; 0 means none")
	fl.DurationVar(&spec.MaxAge, "max-age", 0, "with --create-stream: age limit; 0 means none")
	fl.DurationVar(&spec.Duplicates, "dedup-window", 0, "with --create-stream: how long copies are dropped (default 10m)")
	if status, ok := parse(s, fl, args); !ok {
		return status
	}
	if fl.NArg() > 0 {
		return shipFailed(s, fmt.Errorf("unexpected argument %q", fl.Arg(0)))
	}
	set, err := f.load(s)
	if err != nil {
		return shipFailed(s, err)
	}
	f.apply(&set)
	o := shipOptions(s, &set)
	o.Stall, o.Rescan = f.stall, *rescan
	if *status {
		return shipStatus(s, o, *asJSON)
	}
	if o.URL == "" {
		return s.fail("ship", "no NATS server is set\nhint: set HOOKTRAIL_NATS_URL, nats.url in the configuration, or --nats")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch {
	case *create:
		return shipCreate(ctx, s, o, spec)
	case *follow:
		return shipFollow(ctx, s, o)
	}
	return shipOnce(ctx, s, o, *asJSON)
}

// shipFailed says why shipping could not be done.
func shipFailed(s *Stdio, err error) int {
	return s.fail("ship", "%s", printable(ship.MaskURL(err.Error())))
}

func shipOnce(ctx context.Context, s *Stdio, o ship.Options, asJSON bool) int {
	res, err := ship.Run(ctx, o)
	if asJSON {
		if jerr := writeJSON(s.Out, res); jerr != nil {
			return shipFailed(s, jerr)
		}
	} else if err == nil || res.Acked > 0 {
		s.printf("%s\n", shipSummary(res))
	}
	switch {
	case errors.Is(err, ship.ErrBusy):
		_, _ = fmt.Fprintln(s.Err, "hooktrail ship: another shipper is at work and not done yet")
		return exitFindings
	case err != nil:
		shipFailed(s, err)
		if errors.Is(err, fs.ErrNotExist) {
			_, _ = fmt.Fprintf(s.Err, "hint: %s is made by the first hook call; see --log\n", o.Log)
		}
		return exitFailure
	case res.Purged > 0:
		_, _ = fmt.Fprintf(s.Err, "hooktrail ship: %d events are not in the stream: it was purged, and the server takes them for copies of what it had\nhint: hooktrail ship --rescan sends them when the stream's duplicate window is over (10m unless it was made otherwise)\n", res.Purged)
		return exitFindings
	case res.Left > 0:
		_, _ = fmt.Fprintf(s.Err, "hooktrail ship: %d events are too large for the server's payload limit and were left in the log\n", res.Left)
		return exitFindings
	}
	return exitOK
}

func shipSummary(r ship.Result) string {
	if r.ByOther {
		return "another shipper has shipped all"
	}
	t := fmt.Sprintf("%d events acknowledged", r.Acked)
	if r.Present > 0 {
		t += fmt.Sprintf(", %d were in the stream already", r.Present)
	}
	if r.Anew {
		t += ", the stream had lost what it held and was offered the whole log again"
	}
	if r.Shortened > 0 {
		t += fmt.Sprintf(", %d shortened to fit the server's payload limit", r.Shortened)
	}
	if r.Left > 0 {
		t += fmt.Sprintf(", %d left behind", r.Left)
	}
	if r.Unreadable > 0 {
		t += fmt.Sprintf(", %d lines of the log are no events", r.Unreadable)
	}
	return t
}

func shipFollow(ctx context.Context, s *Stdio, o ship.Options) int {
	res, err := ship.Follow(ctx, o, func(err error) {
		if err == nil {
			_, _ = fmt.Fprintln(s.Err, "hooktrail ship: works again")
			return
		}
		shipFailed(s, err)
	})
	if err != nil {
		return shipFailed(s, err)
	}
	_, _ = fmt.Fprintln(s.Err, "hooktrail ship: stopped; "+shipSummary(res))
	return exitOK
}

func shipStatus(s *Stdio, o ship.Options, asJSON bool) int {
	st, err := ship.ReadStatus(o)
	if err != nil {
		return shipFailed(s, err)
	}
	status := exitOK
	if st.Left > 0 || !st.Trouble.Since.IsZero() {
		status = exitFindings
	}
	if asJSON {
		if err := writeJSON(s.Out, st); err != nil {
			return shipFailed(s, err)
		}
		return status
	}
	s.printf("log       %s\nwritten   %d\nshipped   %d\nbacklog   %d\nacked     %d\nlag       %s\n",
		st.Log, st.Written, st.Shipped, st.Backlog, st.Acked, (time.Duration(st.LagSeconds * float64(time.Second))).Round(time.Second))
	if st.Shortened > 0 {
		s.printf("shortened %d\n", st.Shortened)
	}
	if st.Left > 0 {
		s.printf("left      %d (too large for the server)\n", st.Left)
	}
	if st.Unreadable > 0 {
		s.printf("no events %d lines\n", st.Unreadable)
	}
	if st.CursorLost {
		s.printf("%s\n", "cursor    not in this log; the next run looks through all of it")
	}
	if st.Running {
		s.printf("%s\n", "shipper   at work")
	}
	if t := st.Trouble; !t.Since.IsZero() {
		s.printf("failing   since %s, %d times: %s\n", t.Since.UTC().Format(time.RFC3339), t.Fails, t.Cause)
	}
	return status
}

func shipCreate(ctx context.Context, s *Stdio, o ship.Options, spec ship.StreamSpec) int {
	created, differs, err := ship.CreateStream(ctx, o, spec)
	if err != nil {
		return shipFailed(s, err)
	}
	name := o.Stream
	if name == "" {
		name = ship.DefaultStream
	}
	if created {
		s.printf("stream %s made\n", name)
		return exitOK
	}
	s.printf("stream %s is there already\n", name)
	for _, d := range differs {
		s.printf("warning: %s\n", d)
	}
	return exitOK
}
