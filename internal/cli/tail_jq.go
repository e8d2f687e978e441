package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"
)

// What a jq expression may take for one event. One that needs more does not end.
const (
	jqTime    = time.Second
	jqOutputs = 10000
)

// jqComplaints is how many events' failures are told one by one.
const jqComplaints = 10

// errHalt says that the expression wants no more events.
var errHalt = errors.New("halt")

// A query is a jq expression that is applied to events.
type query struct {
	code   *gojq.Code
	failed int // events at which it failed
}

func newQuery(expr string) (*query, error) {
	parsed, err := gojq.Parse(expr)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, err
	}
	return &query{code: code}, nil
}

// show prints what comes out for one event. A failure of the expression is told
// and counted; only one that does not end is an error.
func (q *query) show(s *Stdio, line []byte) error {
	event := gjson.ParseBytes(line)
	ctx, cancel := context.WithTimeout(context.Background(), jqTime)
	defer cancel()
	iter := q.code.RunWithContext(ctx, event.Value())
	for n := 0; ; n++ {
		v, ok := iter.Next()
		if !ok {
			return nil
		}
		if n == jqOutputs {
			return fmt.Errorf("--jq: more than %d results for event %s", jqOutputs, event.Get("eventId"))
		}
		if err, bad := v.(error); bad {
			return q.fault(s, event, err)
		}
		text, isText := v.(string)
		if !isText {
			b, err := gojq.Marshal(v)
			if err != nil {
				return q.fault(s, event, err)
			}
			text = string(b)
		}
		if _, err := fmt.Fprintln(s.Out, printable(text)); err != nil {
			return err
		}
	}
}

func (q *query) fault(s *Stdio, event gjson.Result, err error) error {
	var halt *gojq.HaltError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("--jq: no end within %v for event %s", jqTime, event.Get("eventId"))
	case errors.As(err, &halt) && halt.Value() == nil:
		return errHalt
	case errors.As(err, &halt):
		return fmt.Errorf("--jq: %w", err)
	}
	if q.failed++; q.failed <= jqComplaints {
		s.fail("tail", "--jq: event %s: %s", printable(event.Get("eventId").String()), printable(err.Error()))
	}
	return nil
}
