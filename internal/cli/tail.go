package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"hooktrail/internal/audit"
	"hooktrail/internal/report"
)

const tailAbout = `Prints the last events of the log, and with -f those that follow, through
rotations. --where takes conditions joined by commas, all of which must hold:
FIELD=VALUE, FIELD!=VALUE, FIELD~TEXT (contains). --jq runs a jq program on each
event. On a terminal, control characters are shown escaped and never sent.`

// tailer prints events.
type tailer struct {
	s      *Stdio
	where  []condition
	code   *gojq.Code
	pretty bool
}

func runTail(ctx context.Context, s *Stdio, args []string) int {
	var c common
	fs := newFlags(s, "tail", "[-n 10] [-f] [--where CONDITIONS] [--jq EXPR] [--pretty] [--log FILE]", tailAbout)
	c.register(fs)
	n := fs.Int("n", 10, "how many of the last `events`; -1 for all")
	follow := fs.Bool("f", false, "go on with what is appended")
	where := fs.String("where", "", "`conditions`, such as layer=permission,decision=denied")
	expr := fs.String("jq", "", "a jq `program`")
	pretty := fs.Bool("pretty", false, "one short line an event, for people")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	t := tailer{s: s, pretty: *pretty}
	var err error
	if t.where, err = conditions(*where); err != nil {
		return s.fail("tail", "%v", err)
	}
	if *expr != "" {
		q, err := gojq.Parse(*expr)
		if err != nil {
			return s.fail("tail", "--jq: %s", printable(err.Error()))
		}
		if t.code, err = gojq.Compile(q); err != nil {
			return s.fail("tail", "--jq: %s", printable(err.Error()))
		}
	}
	set, fault := c.load(s)
	if fault != nil && c.log == "" {
		return s.fail("tail", "%v", fault)
	}
	if err := t.run(ctx, set.Log, *n, *follow); err != nil && !errors.Is(err, context.Canceled) {
		return s.failLog("tail", err)
	}
	return exitOK
}

// run prints the last n events that fit, and what follows.
func (t *tailer) run(ctx context.Context, path string, n int, follow bool) error {
	var last [][]byte
	files, err := audit.Files(path)
	if err != nil && (!follow || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	f := follower{path: path}
	defer f.close()
	for i, name := range files {
		keep := func(line []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !t.fits(line) {
				return nil
			}
			if n < 0 {
				return t.print(line)
			}
			if last = append(last, bytes.Clone(line)); len(last) > n {
				last = last[1:]
			}
			return nil
		}
		if i == len(files)-1 && follow {
			if err := f.open(); err != nil {
				return err
			}
			err = f.read(keep)
		} else {
			err = eachLineOf(name, keep)
		}
		if err != nil {
			return err
		}
	}
	for _, line := range last {
		if err := t.print(line); err != nil {
			return err
		}
	}
	for follow {
		if err := f.next(ctx, func(line []byte) error {
			if !t.fits(line) {
				return nil
			}
			return t.print(line)
		}); err != nil {
			return err
		}
	}
	return nil
}

func eachLineOf(name string, fn func([]byte) error) error {
	r, err := audit.Open(name)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	return audit.Scan(r, func(l audit.Line) error { return fn(l.Bytes) })
}

// A follower reads a file that grows, is replaced, or is cut.
type follower struct {
	path   string
	f      *os.File
	offset int64
}

func (f *follower) open() error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	f.close()
	f.f, f.offset = file, 0
	return nil
}

func (f *follower) close() {
	if f.f != nil {
		_ = f.f.Close()
		f.f = nil
	}
}

// read hands the whole lines behind the offset to fn.
func (f *follower) read(fn func([]byte) error) error {
	return audit.Scan(io.NewSectionReader(f.f, f.offset, 1<<62), func() func(audit.Line) error {
		start := f.offset
		return func(l audit.Line) error {
			if l.Torn {
				return nil // it is still being written
			}
			f.offset = start + l.Offset + int64(len(l.Bytes)) + 1
			return fn(l.Bytes)
		}
	}())
}

// next waits for more and hands it to fn. A file that was replaced is read to
// its end before the new one.
func (f *follower) next(ctx context.Context, fn func([]byte) error) error {
	timer := time.NewTimer(100 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	if f.f == nil {
		if err := f.open(); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	now, err := os.Stat(f.path)
	replaced := false
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		mine, err := f.f.Stat()
		if err != nil {
			return err
		}
		replaced = !os.SameFile(mine, now)
		if !replaced && now.Size() < f.offset {
			f.offset = 0 // cut: what stands there now is new
		}
	}
	if err := f.read(fn); err != nil {
		return err
	}
	if replaced {
		return f.open()
	}
	return nil
}

// print writes one event.
func (t *tailer) print(line []byte) error {
	switch {
	case t.code != nil:
		return t.jq(line)
	case t.pretty:
		e, err := audit.Decode(line)
		if err != nil {
			return t.write("cannot be read: " + string(line))
		}
		return t.write(eventLine(&e) + prettyTail(&e))
	}
	return t.write(string(line))
}

func prettyTail(e *audit.Event) string {
	what := strings.TrimSpace(e.Tool + " " + first(e.Command, e.Target))
	if e.Kind == audit.Callback {
		what = e.Tool
	}
	if what == "" {
		what = e.Message
	}
	return "  " + oneLine(what, 100)
}

func (t *tailer) write(text string) error {
	if t.s.OutTerminal || t.pretty {
		text = printable(text)
	}
	_, err := fmt.Fprintln(t.s.Out, text)
	return err
}

func (t *tailer) jq(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil //nolint:nilerr // verify reports such lines
	}
	it := t.code.Run(v)
	for {
		v, ok := it.Next()
		if !ok {
			return nil
		}
		if err, ok := v.(error); ok {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return nil
			}
			t.s.fail("tail", "--jq: %s", printable(err.Error()))
			continue
		}
		if text, ok := v.(string); ok {
			if err := t.write(text); err != nil {
				return err
			}
			continue
		}
		b, err := gojq.Marshal(v)
		if err != nil {
			return err
		}
		if err := t.write(string(b)); err != nil {
			return err
		}
	}
}

// A condition compares one field.
type condition struct{ field, op, value string }

func conditions(text string) ([]condition, error) {
	var out []condition
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		i := strings.IndexAny(part, "=!~")
		if i <= 0 {
			return nil, fmt.Errorf("--where: %q is no condition; write FIELD=VALUE, FIELD!=VALUE or FIELD~TEXT", part)
		}
		c := condition{field: part[:i], op: part[i : i+1], value: part[i+1:]}
		if c.op == "!" {
			if !strings.HasPrefix(c.value, "=") {
				return nil, fmt.Errorf("--where: %q is no condition; write FIELD!=VALUE", part)
			}
			c.value = c.value[1:]
		}
		out = append(out, c)
	}
	return out, nil
}

// fits tells whether a line meets the conditions.
func (t *tailer) fits(line []byte) bool {
	if len(t.where) == 0 {
		return true
	}
	for _, c := range t.where {
		v := report.Field(line, c.field)
		switch c.op {
		case "=":
			if v != c.value {
				return false
			}
		case "!":
			if v == c.value {
				return false
			}
		case "~":
			if !strings.Contains(v, c.value) {
				return false
			}
		}
	}
	return true
}
