package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"

	"hooktrail/internal/audit"
)

const tailAbout = `Shows the last events of the log, one a line, and with -f each new one as it comes,
through rotations. --where takes conditions of the form field=value, with commas;
all must hold, and value may be several with "|" between them. --jq gives each
event to a jq expression and prints what comes out. What stands in an event is
shown with its control characters escaped, never raw.`

// tailPoll is how often a followed log is looked at.
const tailPoll = 200 * time.Millisecond

type tailFlags struct {
	common
	follow, pretty bool
	nats           bool
	n              int
	where          []condition
	query          *gojq.Code
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
		if f.query, err = compileJQ(jq); err != nil {
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
	if err != nil && !errors.Is(err, context.Canceled) {
		return s.fail("tail", "%s", printable(err.Error()))
	}
	return exitOK
}

// run prints the last events of the log, then follows it.
func (f *tailFlags) run(ctx context.Context, s *Stdio, path string) error {
	files, err := audit.Files(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.follow:
	case err != nil:
		return err
	}
	var (
		last    [][]byte
		current int64 // bytes of the current file that were read
	)
	for _, name := range files {
		file, err := os.Open(name) //nolint:gosec // the user's own log
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".gz") {
			_ = file.Close() // compressed files are old; report reads them
			continue
		}
		current = 0
		err = audit.Scan(file, func(l audit.Line) error {
			current = l.Offset + int64(len(l.Bytes)) + 1
			if f.meets(l.Bytes) {
				last = append(last, append([]byte(nil), l.Bytes...))
				if len(last) > max(f.n, 0) {
					last = last[1:]
				}
			}
			return nil
		})
		_ = file.Close()
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
	return f.followLog(ctx, s, path, current)
}

// followLog prints new lines. A file that was renamed is read to its end before
// the new one is begun; one that was cut is begun anew.
func (f *tailFlags) followLog(ctx context.Context, s *Stdio, path string, at int64) error {
	var file *os.File
	defer func() {
		if file != nil {
			_ = file.Close()
		}
	}()
	tick := time.NewTicker(tailPoll)
	defer tick.Stop()
	for {
		if file == nil {
			opened, err := os.Open(path) //nolint:gosec // the user's own log
			if err == nil {
				file = opened
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if file != nil {
			n, err := f.more(s, file, at)
			if err != nil {
				return err
			}
			at = n
			moved, err := replaced(file, path)
			if err != nil {
				return err
			}
			if moved {
				if _, err := f.more(s, file, at); err != nil { // what came in between
					return err
				}
				_ = file.Close()
				file, at = nil, 0
				continue
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// replaced tells whether the path no longer leads to the open file.
func replaced(file *os.File, path string) (bool, error) {
	a, err := file.Stat()
	if err != nil {
		return false, err
	}
	b, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return !os.SameFile(a, b), nil
}

// more prints the whole lines behind at and returns where they end.
func (f *tailFlags) more(s *Stdio, file *os.File, at int64) (int64, error) {
	st, err := file.Stat()
	if err != nil {
		return at, err
	}
	if st.Size() < at {
		at = 0 // cut: begin anew
	}
	if st.Size() == at {
		return at, nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(file, at, st.Size()-at), 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil { // half a line is waited for
			if errors.Is(err, io.EOF) {
				return at, nil
			}
			return at, err
		}
		at += int64(len(line))
		line = line[:len(line)-1]
		if f.meets(line) {
			if err := f.show(s, line); err != nil {
				return at, err
			}
		}
	}
}

// A condition is one field and the values it may have.
type condition struct {
	field  string
	values []string
}

func conditions(where string) ([]condition, error) {
	var all []condition
	if where == "" {
		return nil, nil
	}
	for _, part := range strings.Split(where, ",") {
		field, value, ok := strings.Cut(part, "=")
		if !ok || field == "" {
			return nil, fmt.Errorf("--where %q: a condition is field=value", part)
		}
		all = append(all, condition{field, strings.Split(value, "|")})
	}
	return all, nil
}

func (f *tailFlags) meets(line []byte) bool {
	return gjson.ValidBytes(line) && meets(f.where, line)
}

// meets tells whether an event, which is valid JSON, meets all conditions.
func meets(where []condition, line []byte) bool {
	for _, c := range where {
		v, ok := gjson.GetBytes(line, c.field).String(), false
		for _, want := range c.values {
			ok = ok || v == want
		}
		if !ok {
			return false
		}
	}
	return true
}

func (f *tailFlags) show(s *Stdio, line []byte) error {
	switch {
	case f.query != nil:
		return f.showJQ(s, line)
	case f.pretty:
		_, err := fmt.Fprintln(s.Out, s.prettyEvent(gjson.ParseBytes(line)))
		return err
	default:
		// The log holds no raw control character, so the line is safe as it is;
		// a line of somebody else's making is not.
		_, err := fmt.Fprintln(s.Out, printable(string(line)))
		return err
	}
}

// prettyEvent is one event in one line, for people.
func (s *Stdio) prettyEvent(e gjson.Result) string {
	get := func(name string) string { return e.Get(name).String() }
	what := or(get("command"), get("target"))
	parts := []string{get("time")}
	if t := parts[0]; len(t) > 19 {
		parts[0] = t[:19]
	}
	decision := get("decision")
	for _, p := range []string{get("kind"), get("hookEvent"), get("tool"), what, get("layer"), decision, get("reason"), get("gate")} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	text := printable(strings.Join(parts, " "))
	if s.Colour() {
		switch decision {
		case "blocked", "denied":
			return "\x1b[31m" + text + "\x1b[0m"
		case "asked", "deferred":
			return "\x1b[33m" + text + "\x1b[0m"
		}
	}
	return text
}

func compileJQ(expr string) (*gojq.Code, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(q)
}

func (f *tailFlags) showJQ(s *Stdio, line []byte) error {
	iter := f.query.Run(gjson.ParseBytes(line).Value())
	for {
		v, ok := iter.Next()
		if !ok {
			return nil
		}
		if err, bad := v.(error); bad {
			return fmt.Errorf("--jq: %w", err)
		}
		text, isText := v.(string)
		if !isText {
			b, err := gojq.Marshal(v)
			if err != nil {
				return err
			}
			text = string(b)
		}
		if _, err := fmt.Fprintln(s.Out, printable(text)); err != nil {
			return err
		}
	}
}
