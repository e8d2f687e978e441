package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
	"hooktrail/internal/event"
	"hooktrail/internal/gate"
	"hooktrail/internal/hook"
	"hooktrail/internal/regular"
	"hooktrail/internal/supervise"
)

const runAbout = `Runs another hook with the event on its standard input, under a deadline, records
what became of it, and hands its answer on. With --on-failure block, which is the
default, a hook that fails, hangs, cannot start or gives an unusable answer
blocks the call. Exit status 0: standard output holds the answer or nothing.
Exit status 2: the call is blocked.

The host must wait longer than --timeout: leave 3 s for the end of a hook that
ignores TERM, and for the record.`

// runFlags is the command line of run.
type runFlags struct {
	common
	name, onFailure, all string
	nameSet              bool
	timeout              time.Duration
	command              []string
}

func runRun(ctx context.Context, s *Stdio, args []string) (status int) {
	defer neverOpen(s, &status)
	start := s.Now()
	ctx, stop := hostSignals(ctx)
	defer stop()

	var f runFlags
	fs := f.flags(s)
	// Among other arguments, -h is a mistake in a hook's entry, and must block.
	if len(args) == 1 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
		status, _ := parse(s, fs, args)
		return status
	}
	fault := f.read(fs, args)
	h, set := f.setUp(s, start, ctx.Done(), fault)
	orphans := supervise.AdoptOrphans()
	status = deliver(s, h.Run(ctx, s.In))
	shipInline(ctx, s, set)
	orphans.Kill()
	return status
}

// setUp reads the settings and the list of hooks, and builds the flow. See setUp of
// hook. The host may wait for less than setUpTimeout: --timeout lies below.
func (f *runFlags) setUp(s *Stdio, start time.Time, interrupt <-chan struct{}, fault error) (*hook.Hook, *settings) {
	type built struct {
		h   *hook.Hook
		set *settings
	}
	limit := max(min(setUpTimeout, f.timeout), setUpLeast)
	b, ok := hook.Within(context.Background(), limit, func() built {
		set, bad := f.load(s)
		var hooks []hook.Wrapped
		fault := errors.Join(fault, bad)
		if fault == nil {
			hooks, fault = f.hooks(start)
		}
		return built{f.flow(s, &set, start, interrupt, hooks, fault), &set}
	})
	if !ok {
		b.set = unread(f.common, limit)
		b.h = f.flow(s, b.set, start, interrupt, nil, errors.Join(fault, b.set.unread))
	}
	return b.h, b.set
}

func (f *runFlags) flow(s *Stdio, set *settings, start time.Time, interrupt <-chan struct{}, hooks []hook.Wrapped, fault error) *hook.Hook {
	o := hook.Options{
		Log: recorder(s, set), HookName: "hooktrail run",
		Judge: &hook.Supervised{
			Hooks: hooks, Deadline: start.Add(f.timeout), Interrupt: interrupt, Fault: fault,
			MayAsk: set.Guard.Unattended == "ask", Env: s.Environ(), Now: s.Now,
		},
		Limits: event.Limits{
			MaxBytes: set.Hook.MaxInputBytes,
			Timeout:  time.Duration(set.Hook.StdinTimeout),
			Grace:    time.Duration(set.Hook.StdinGrace),
		},
		JudgeTimeout: f.timeout,
		AuditTimeout: set.Audit.LockTimeout.Or(3*time.Second) + 2*time.Second,
		Continue:     set.Audit.OnFailure == "continue",
		ConfigSHA256: set.SHA256,
		Now:          s.Now,
	}
	if len(hooks) == 1 && hooks[0].Name != "" {
		o.HookName = hooks[0].Name
	}
	return hook.New(o)
}

func (f *runFlags) flags(s *Stdio) *flag.FlagSet {
	f.timeout = supervise.DefaultTimeout
	fs := newFlags(s, "run", "[--name N] [--on-failure block|continue] [--timeout 30s] -- CMD [ARG...]\n"+
		"       hooktrail run --all FILE [--timeout 30s]", runAbout)
	f.register(fs)
	fs.Func("name", "the hook's `name` in events (default: the base name of CMD)", func(v string) error {
		f.name, f.nameSet = v, true
		return nil
	})
	fs.StringVar(&f.onFailure, "on-failure", gate.OnFailureBlock, "what a failure of the hook does: `block or continue`")
	fs.Func("timeout", "the `time` the hook has, such as 30s (default 30s)", func(v string) (err error) {
		f.timeout, err = span(v)
		return err
	})
	fs.StringVar(&f.all, "all", "", "run the hooks of this `file` at the same time: a JSON list of {name, command, onFailure, timeout}")
	return fs
}

// read reads the command line. Its faults become a recorded block, so nothing is
// printed here.
func (f *runFlags) read(fs *flag.FlagSet, args []string) error {
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); err != nil {
		f.timeout = supervise.DefaultTimeout
		if errors.Is(err, flag.ErrHelp) {
			return errors.New("-h stands among other arguments")
		}
		return err
	}
	f.command = fs.Args()
	switch {
	case f.all != "" && len(f.command) > 0:
		return errors.New("--all takes the commands from its file, but a command is given too")
	case f.all != "" && f.nameSet:
		return errors.New("--name belongs to one hook; the file of --all names each")
	case f.all == "" && (len(f.command) == 0 || f.command[0] == ""):
		return errors.New("no command is given")
	}
	return nil
}

// hooks returns what is to be run.
func (f *runFlags) hooks(start time.Time) ([]hook.Wrapped, error) {
	if f.all != "" {
		return listed(f.all, f.onFailure, start)
	}
	name := f.name
	if !f.nameSet {
		name = filepath.Base(f.command[0])
	}
	return []hook.Wrapped{{Name: name, Command: f.command, OnFailure: f.onFailure}}, nil
}

// maxList bounds the file of --all.
const maxList = 1 << 20

// listed reads the file of --all, strictly: a misspelled key must not change a
// hook's mode in silence.
func listed(path, onFailure string, start time.Time) ([]hook.Wrapped, error) {
	b, err := regular.Read(path, maxList)
	if err != nil {
		return nil, fmt.Errorf("read the list of hooks: %w", err)
	}
	var list []struct {
		Name      *string  `json:"name"`
		Command   []string `json:"command"`
		OnFailure *string  `json:"onFailure"`
		Timeout   waitTime `json:"timeout"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), &list, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("the list of hooks in %s: %w", path, listFault(err))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the list of hooks in %s is empty", path)
	}
	var all []hook.Wrapped
	for i, e := range list {
		if len(e.Command) == 0 || e.Command[0] == "" {
			return nil, fmt.Errorf("the list of hooks in %s: entry %d has no command", path, i+1)
		}
		w := hook.Wrapped{Name: filepath.Base(e.Command[0]), Command: e.Command, OnFailure: onFailure}
		if e.Name != nil {
			w.Name = *e.Name
		}
		if e.OnFailure != nil {
			w.OnFailure = *e.OnFailure
		}
		if e.Timeout > 0 {
			w.Deadline = start.Add(time.Duration(e.Timeout))
		}
		all = append(all, w)
	}
	return all, nil
}

// listFault says what is wrong in the file of --all without the reader's words
// for it.
func listFault(err error) error {
	var bad *json.SemanticError
	switch {
	case !errors.As(err, &bad):
		return fmt.Errorf("not the JSON that is expected: %w", err)
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("%s: there is no such key; there are name, command, onFailure and timeout", bad.JSONPointer)
	case bad.JSONPointer == "":
		return errors.New("it must be a list of {name, command, onFailure, timeout}")
	case bad.Err != nil:
		return fmt.Errorf("%s: %w", bad.JSONPointer, bad.Err)
	}
	return fmt.Errorf("%s: a value of this type cannot stand here; command is a list of words, the other three are strings", bad.JSONPointer)
}

// A waitTime is written as 30s, or as a number of seconds, which is what hosts
// take in their settings.
type waitTime time.Duration

func (w *waitTime) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	text := string(v)
	if v.Kind() == '"' {
		b, err := jsontext.AppendUnquote(nil, v)
		if err != nil {
			return err
		}
		text = string(b)
	}
	d, err := span(text)
	*w = waitTime(d)
	return err
}

// maxSpan bounds a timeout; a number of milliseconds taken for seconds lies
// beyond it.
const maxSpan = 2 * time.Hour

func span(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if n, e := strconv.ParseFloat(s, 64); e == nil && n > 0 && n <= maxSpan.Seconds() {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d <= 0 || d > maxSpan {
		return 0, fmt.Errorf("%q is not a time between 0 and %v, such as 30s", audit.Printable(s), maxSpan)
	}
	return d, nil
}
