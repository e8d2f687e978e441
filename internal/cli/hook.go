package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/guard"
	"hooktrail/internal/hook"
	"hooktrail/internal/reason"
)

// blocked is the only status of hook and run beside 0.
const blocked = 2

const hookAbout = `Reads one hook event from standard input, judges it, records it, and answers on
standard output. Exit status 0: standard output holds the answer or nothing.
Exit status 2: the call is blocked, with the reason on standard error too.`

const hookSynopsis = "[--config FILE] [--log FILE]"

func runHook(ctx context.Context, s *Stdio, args []string) (status int) {
	defer neverOpen(s, &status)
	ctx, stop := hostSignals(ctx)
	defer stop()

	// Among other arguments, -h is a mistake in a hook's entry, and must block.
	if len(args) == 1 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
		fs := newFlags(s, "hook", hookSynopsis, hookAbout)
		new(common).register(fs)
		status, _ := parse(s, fs, args)
		return status
	}
	var c common
	fault := c.read(newFlags(s, "hook", hookSynopsis, hookAbout), args)
	h, set := setUp(s, c, fault)
	status = deliver(s, h.Run(ctx, s.In))
	shipInline(ctx, s, set)
	return status
}

// setUp reads the settings and builds the flow. A file system that hangs must not
// hang the host, which would let the call run: then the flow denies.
func setUp(s *Stdio, c common, fault error) (*hook.Hook, *settings) {
	type built struct {
		h   *hook.Hook
		set *settings
	}
	b, ok := hook.Within(context.Background(), setUpTimeout, func() built {
		set, bad := c.load(s)
		return built{newHook(s, &set, errors.Join(fault, bad)), &set}
	})
	if !ok {
		b.set = unread(c, setUpTimeout)
		b.h = newHook(s, b.set, errors.Join(fault, b.set.unread))
	}
	return b.h, b.set
}

// setUpTimeout bounds the reading of small files, and providerTimeout that of the
// provider's among them: it is over first, so that the log which the configuration
// names has the event. setUpLeast is what a busy machine needs without any fault.
const (
	setUpTimeout    = 5 * time.Second
	setUpLeast      = time.Second / 2
	providerTimeout = 3 * time.Second
)

// unread are the settings when they could not be read within a limit: only the
// command line's are known.
func unread(c common, limit time.Duration) *settings {
	return &settings{Log: c.log, unread: reason.Wrap(reason.ConfigInvalid, fmt.Sprintf("read configuration: it took more than %v", limit), nil)}
}

// read parses the command line of a hook, which says nothing but flags. What is
// wrong with it is a fault of the configuration: it blocks, and is recorded.
func (c *common) read(fs *flag.FlagSet, args []string) error {
	c.register(fs)
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); err != nil {
		return reason.Wrap(reason.ConfigInvalid, "command line of the hook", err)
	}
	if fs.NArg() > 0 {
		return reason.Wrap(reason.ConfigInvalid, fmt.Sprintf("command line of the hook: unexpected argument %q", fs.Arg(0)), nil)
	}
	return nil
}

// newHook builds the flow of "hook" from the settings. fault is why they cannot
// be used, or nil; every call is then denied, and still recorded.
func newHook(s *Stdio, set *settings, fault error) *hook.Hook {
	return newHookOn(s, set, fault, recorder(s, set))
}

// newHookOn is newHook with a log of the caller's.
func newHookOn(s *Stdio, set *settings, fault error, log hook.Recorder) *hook.Hook {
	judge := &hook.Guarded{Fault: fault, Disarms: disarms(s)}
	if fault == nil {
		judge.Guard, judge.Fault = newGuard(s, set)
	}
	auditTimeout := set.Audit.LockTimeout.Or(3*time.Second) + 2*time.Second
	return hook.New(hook.Options{
		Log:      log,
		Judge:    judge,
		Observer: newObserver(s, set),
		Limits: event.Limits{
			MaxBytes: set.Hook.MaxInputBytes,
			Timeout:  time.Duration(set.Hook.StdinTimeout),
			Grace:    time.Duration(set.Hook.StdinGrace),
		},
		JudgeTimeout: judgeTimeout(set, auditTimeout),
		AuditTimeout: auditTimeout,
		Continue:     set.Audit.OnFailure == "continue",
		ConfigSHA256: set.SHA256,
		Now:          s.Now,
	})
}

// judgeTimeout is the guard's budget, cut so that reading, judging and recording
// stay within hook.deadline.
func judgeTimeout(set *settings, auditTimeout time.Duration) time.Duration {
	budget := set.Guard.Budget.Or(guard.DefaultBudget)
	if set.Hook.Deadline == 0 {
		return budget
	}
	rest := time.Duration(set.Hook.Deadline) - set.Hook.StdinTimeout.Or(3*time.Second) - auditTimeout
	return max(min(budget, rest), 100*time.Millisecond)
}

// newGuard compiles the catalogue and its provider.
func newGuard(s *Stdio, set *settings) (*guard.Guard, error) {
	type built struct {
		p   guard.Provider
		err error
	}
	b, ok := hook.Within(context.Background(), providerTimeout, func() built {
		p, err := newProvider(s, set)
		return built{p, err}
	})
	switch {
	case !ok:
		return nil, reason.Wrap(reason.ConfigInvalid, fmt.Sprintf("set up the provider: a secret or certificate could not be read within %v", providerTimeout), nil)
	case b.err != nil:
		return nil, b.err
	}
	return guard.New(set.Config, b.p)
}

// recorder returns the audit log, or one that fails with the reason why there is
// none.
func recorder(s *Stdio, set *settings) hook.Recorder {
	l, err := set.open(s)
	if err != nil {
		return noLog{err}
	}
	return loud{l, s, set}
}

// noLog is a log that cannot be opened.
type noLog struct{ err error }

func (n noLog) Record(context.Context, ...*audit.Event) error { return n.err }
func (n noLog) Digest([]byte) string                          { return "" }

// loud says on standard error what the log could not take, whatever the
// configuration makes of it.
type loud struct {
	*audit.Log
	s   *Stdio
	set *settings
}

func (l loud) Record(ctx context.Context, events ...*audit.Event) error {
	err := l.Log.Record(ctx, events...)
	if err != nil && l.set.Audit.OnFailure == "continue" {
		_, _ = fmt.Fprintf(l.s.Err, "hooktrail: AUDIT FAILED, the call runs unrecorded as configured: %s\n", audit.Printable(err.Error()))
	}
	return err
}

// deliver writes the reply. Whatever cannot be written blocks: a host that got
// half an answer, or none, would let the call run. Only where nothing can be held
// back is it merely said.
func deliver(s *Stdio, r answer.Reply) int {
	if r.Stderr != "" {
		_ = handOver(s.Err, []byte(r.Stderr+"\n"), readerGrace)
	}
	if len(r.Stdout) > 0 {
		switch err := handOver(s.Out, append(r.Stdout, '\n'), readerGrace); {
		case err != nil && r.MayBeLost:
			_ = handOver(s.Err, fmt.Appendf(nil, "hooktrail: the answer is lost: %v\n", err), readerGrace)
		case err != nil:
			if r.Stderr == "" { // the host shows nothing else
				_ = handOver(s.Err, []byte("The answer of hooktrail could not be written to standard output, so the call was stopped before anything was changed. Try it again.\n"), readerGrace)
			}
			return blocked
		}
	}
	if r.Blocked {
		return blocked
	}
	return exitOK
}

// readerGrace is how long a host may leave a full pipe unread. One that reads
// empties it at once, and one that does not would otherwise end us at its own
// deadline, which lets the call run.
const readerGrace = 3 * time.Second

var errNobodyReads = errors.New("nobody reads it")

// handOver writes b to the host. A writer that is stuck keeps its goroutine,
// which ends with the process.
func handOver(w io.Writer, b []byte, grace time.Duration) error {
	if isNull(w) {
		return errNobodyReads
	}
	done := make(chan error, 1)
	go func() {
		_, err := w.Write(b)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return errNobodyReads
	}
}

// isNull tells whether w is the null device, which the Go runtime opens in the
// place of a stream that the host had closed.
func isNull(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(st, null)
}

// refuse blocks before there is a flow that could record it.
func refuse(s *Stdio, why string) int {
	return deliver(s, answer.Encode("", answer.Verdict{
		Decision: answer.Deny, Code: reason.ConfigInvalid,
		Message: audit.Printable(audit.Redact(why)) + ". The call was stopped before anything was changed. Mend the hook's command line.",
	}))
}

// neverOpen is the last line of defence: a panic would end the program with a
// status that happens to block, but with a stack trace for a reason.
func neverOpen(s *Stdio, status *int) {
	if p := recover(); p != nil {
		*status = refuse(s, fmt.Sprintf("hooktrail failed: %v", p))
		if s.Getenv("HOOKTRAIL_DEBUG") != "" {
			_, _ = s.Err.Write(debug.Stack())
		}
	}
	if *status != exitOK && *status != blocked {
		*status = blocked
	}
}

// hostSignals ends the context when the host gives up. SIGPIPE is caught, so
// that a closed stream is an error that blocks and not a death by signal, which
// lets the call run. It is not ignored: children would inherit that.
func hostSignals(ctx context.Context) (context.Context, context.CancelFunc) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
}
