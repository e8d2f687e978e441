package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/ship"
)

const shipAbout = `
Ships the audit log to NATS JetStream: all that is in it, from where the last run
stopped, and then ends. An event counts as shipped when the server has
acknowledged it. The status is 0 when nothing is left, 1 when events were too
large for the server or another shipper is at work and not done, 2 when shipping
failed; what was not shipped stays in the log for the next run.`

// shipFlags are what ship can be told.
type shipFlags struct {
	log, cursor, url               string
	follow, status, json           bool
	create, rescan                 bool
	replicas                       int
	maxBytes                       int64
	maxAge, dedup                  time.Duration
	stall                          time.Duration
	creds, nkey, token, user, pass string
	ca, cert, key                  string
	stream, subject                string
	config                         string
}

func (f *shipFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.config, "config", "", "configuration `file`")
	fs.StringVar(&f.log, "log", "", "audit log (default $HOOKTRAIL_LOG, then the configuration)")
	fs.StringVar(&f.cursor, "cursor", "", "cursor `file` (default ship.cursor beside the log)")
	fs.StringVar(&f.url, "nats", "", "NATS servers, separated by commas (default $HOOKTRAIL_NATS_URL)")
	fs.StringVar(&f.stream, "stream", "", "stream (default HOOKTRAIL_AUDIT)")
	fs.StringVar(&f.subject, "subject", "", "prefix of the subjects (default hooktrail.audit.v1)")
	fs.StringVar(&f.creds, "creds", "", "credentials `file` (JWT and key)")
	fs.StringVar(&f.nkey, "nkey", "", "nkey seed `file`")
	fs.StringVar(&f.token, "token-file", "", "`file` with a token")
	fs.StringVar(&f.user, "user", "", "user name")
	fs.StringVar(&f.pass, "password-file", "", "`file` with the user's password")
	fs.StringVar(&f.ca, "tls-ca", "", "PEM `file` with the authorities to trust")
	fs.StringVar(&f.cert, "tls-cert", "", "PEM `file` with the client's certificate")
	fs.StringVar(&f.key, "tls-key", "", "PEM `file` with the client's key")
}

func runShip(ctx context.Context, s *Stdio, args []string) int {
	fl := newFlags(s, "ship", "[--follow | --status | --create-stream] [FLAGS]", shipAbout)
	var f shipFlags
	f.register(fl)
	fl.BoolVar(&f.follow, "follow", false, "keep shipping until SIGINT or SIGTERM")
	fl.BoolVar(&f.status, "status", false, "say how far shipping is, without a server")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.rescan, "rescan", false, "offer the whole log again; what the stream has is left out")
	fl.DurationVar(&f.stall, "stall", 0, "give up after this long without an acknowledgement (default 8s)")
	fl.BoolVar(&f.create, "create-stream", false, "make the stream, and ship nothing")
	fl.IntVar(&f.replicas, "replicas", 1, "with --create-stream: copies in a cluster")
	fl.Int64Var(&f.maxBytes, "max-bytes", 0, "with --create-stream: size limit; 0 means none")
	fl.DurationVar(&f.maxAge, "max-age", 0, "with --create-stream: age limit; 0 means none")
	fl.DurationVar(&f.dedup, "dedup-window", 0, "with --create-stream: how long copies are dropped (default 10m)")
	if status, ok := parse(s, fl, args); !ok {
		return status
	}
	if fl.NArg() > 0 {
		fmt.Fprintf(s.Err, "hooktrail ship: unexpected argument %q\n", fl.Arg(0))
		return exitFailure
	}
	o, err := f.options(s)
	if err != nil {
		fmt.Fprintf(s.Err, "hooktrail ship: %v\n", err)
		return exitFailure
	}
	if f.status {
		return shipStatus(s, o, f.json)
	}
	if o.URL == "" {
		fmt.Fprintln(s.Err, "hooktrail ship: no NATS server is set\nhint: set HOOKTRAIL_NATS_URL, nats.url in the configuration, or --nats")
		return exitFailure
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch {
	case f.create:
		return shipCreate(ctx, s, o, ship.StreamSpec{Replicas: f.replicas, MaxBytes: f.maxBytes, MaxAge: f.maxAge, Duplicates: f.dedup})
	case f.follow:
		return shipFollow(ctx, s, o)
	}
	return shipOnce(ctx, s, o, f.json)
}

func shipOnce(ctx context.Context, s *Stdio, o ship.Options, asJSON bool) int {
	res, err := ship.Run(ctx, o)
	if asJSON {
		if jerr := printJSON(s.Out, res); jerr != nil {
			fmt.Fprintf(s.Err, "hooktrail ship: %v\n", jerr)
			return exitFailure
		}
	} else if err == nil || res.Acked > 0 {
		fmt.Fprintln(s.Out, shipSummary(res))
	}
	switch {
	case errors.Is(err, ship.ErrBusy):
		fmt.Fprintln(s.Err, "hooktrail ship: another shipper is at work and not done yet")
		return exitFindings
	case err != nil:
		fmt.Fprintf(s.Err, "hooktrail ship: %v\n", err)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(s.Err, "hint: %s is made by the first hook call; see --log\n", o.Log)
		}
		return exitFailure
	case res.Left > 0:
		fmt.Fprintf(s.Err, "hooktrail ship: %d events are too large for the server's payload limit and were left in the log\n", res.Left)
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
			fmt.Fprintln(s.Err, "hooktrail ship: works again")
			return
		}
		fmt.Fprintf(s.Err, "hooktrail ship: %v\n", err)
	})
	if err != nil {
		fmt.Fprintf(s.Err, "hooktrail ship: %v\n", err)
		return exitFailure
	}
	fmt.Fprintln(s.Err, "hooktrail ship: stopped; "+shipSummary(res))
	return exitOK
}

func shipStatus(s *Stdio, o ship.Options, asJSON bool) int {
	st, err := ship.ReadStatus(o)
	if err != nil {
		fmt.Fprintf(s.Err, "hooktrail ship: %v\n", err)
		return exitFailure
	}
	status := exitOK
	if st.Left > 0 || !st.Trouble.Since.IsZero() {
		status = exitFindings
	}
	if asJSON {
		if err := printJSON(s.Out, st); err != nil {
			fmt.Fprintf(s.Err, "hooktrail ship: %v\n", err)
			return exitFailure
		}
		return status
	}
	fmt.Fprintf(s.Out, "log       %s\nwritten   %d\nshipped   %d\nbacklog   %d\nacked     %d\nlag       %s\n",
		st.Log, st.Written, st.Shipped, st.Backlog, st.Acked, (time.Duration(st.LagSeconds * float64(time.Second))).Round(time.Second))
	if st.Shortened > 0 {
		fmt.Fprintf(s.Out, "shortened %d\n", st.Shortened)
	}
	if st.Left > 0 {
		fmt.Fprintf(s.Out, "left      %d (too large for the server)\n", st.Left)
	}
	if st.Unreadable > 0 {
		fmt.Fprintf(s.Out, "no events %d lines\n", st.Unreadable)
	}
	if st.CursorLost {
		fmt.Fprintln(s.Out, "cursor    not in this log; the next run looks through all of it")
	}
	if st.Running {
		fmt.Fprintln(s.Out, "shipper   at work")
	}
	if t := st.Trouble; !t.Since.IsZero() {
		fmt.Fprintf(s.Out, "failing   since %s, %d times: %s\n", t.Since.UTC().Format(time.RFC3339), t.Fails, t.Cause)
	}
	return status
}

func shipCreate(ctx context.Context, s *Stdio, o ship.Options, spec ship.StreamSpec) int {
	created, differs, err := ship.CreateStream(ctx, o, spec)
	if err != nil {
		fmt.Fprintf(s.Err, "hooktrail ship: %v\n", err)
		return exitFailure
	}
	name := o.Stream
	if name == "" {
		name = ship.DefaultStream
	}
	if created {
		fmt.Fprintf(s.Out, "stream %s made\n", name)
		return exitOK
	}
	fmt.Fprintf(s.Out, "stream %s is there already\n", name)
	for _, d := range differs {
		fmt.Fprintf(s.Out, "warning: %s\n", d)
	}
	return exitOK
}

// options joins flags, environment and configuration.
func (f *shipFlags) options(s *Stdio) (ship.Options, error) {
	o := ship.Options{
		Log: f.log, Cursor: f.cursor, Stream: f.stream, Subject: f.subject,
		Stall: f.stall, Rescan: f.rescan, Now: s.Now,
		Conn: ship.Conn{
			URL: f.url, CredsFile: f.creds, NkeyFile: f.nkey, TokenFile: f.token, User: f.user, PasswordFile: f.pass,
			CAFile: f.ca, CertFile: f.cert, KeyFile: f.key,
		},
	}
	if o.URL == "" {
		o.URL = s.Getenv("HOOKTRAIL_NATS_URL")
	}
	for _, e := range []string{"HOOKTRAIL_LOG", "ZERTO_HOOK_LOG"} {
		if o.Log == "" {
			o.Log = s.Getenv(e)
		}
	}
	if o.Log == "" {
		dir := s.Getenv("XDG_STATE_HOME")
		if dir == "" {
			dir = filepath.Join(s.Getenv("HOME"), ".local", "state")
		}
		o.Log = filepath.Join(dir, "hooktrail", "audit.jsonl")
	}
	return o, nil
}

func printJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
