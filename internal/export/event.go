package export

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/audit"
)

// An Event is one line of a log as the formats see it: the JSON of each field,
// checked, and its strings in one canonical spelling. The zero value is ready
// for Parse, and one Event serves for all lines of a log.
type Event struct {
	time   time.Time
	json   [nFields][]byte // a field's JSON value; nil without one, or with an empty text
	number [nFields]int64  // of the integers
	errors []fault         // schemaErrors
	more   []member        // what we do not know
	spare  []byte          // room for values that are not in the line as they should be
	seen   uint64          // a bit for each field of the line
	plain  bool            // the line is as the log writes it: nothing raw in it needs an escape
}

// A fault is one of the schemaErrors; both are JSON strings or nil.
type fault struct{ path, message []byte }

// A member is a field that this program does not know.
type member struct {
	name  string // as key makes it
	value []byte // JSON, canonical
}

// Parse reads one line. The event keeps parts of the line until the next call.
//
// It takes what audit.Decode takes: one object, no name twice, each field of its
// type. It wants a time too, as no format can do without, and it is lenient in
// one thing: invalid UTF-8 is replaced, not refused, since what a damaged line
// still says is evidence.
func (e *Event) Parse(line []byte) error {
	clear(e.json[:])
	e.errors, e.more, e.spare, e.seen = e.errors[:0], e.more[:0], e.spare[:0], 0
	if e.plain = audit.Plain(line); !e.plain {
		line = trim(bytes.ToValidUTF8(line, []byte("\ufffd")))
		if err := valid(line); err != nil {
			return err
		}
	}
	if line[0] != '{' {
		return errors.New("is no JSON object")
	}
	if err := e.object(line, topLevel, ""); err != nil {
		return err
	}
	if e.plain && (len(e.more) > 0 || e.seen&(1<<fSchemaErrors) != 0) { // names that stand there twice
		if err := valid(line); err != nil {
			return err
		}
	}
	switch {
	case e.json[fTime] == nil:
		return errors.New("has no time")
	case e.json[fEventID] == nil:
		return errors.New("has no eventId")
	case e.json[fKind] == nil:
		return errors.New("has no kind")
	}
	return nil
}

// Time returns the event's time.
func (e *Event) Time() time.Time { return e.time }

// valid is nil for strict JSON.
func valid(line []byte) error {
	if jsontext.Value(line).IsValid() {
		return nil
	}
	if _, err := jsontext.NewDecoder(bytes.NewReader(line)).ReadValue(); err != nil {
		return fmt.Errorf("is not strict JSON: %w", err)
	}
	return errors.New("is not strict JSON: something follows the value")
}

// object takes the members of one object, whose fields are those of g.
func (e *Event) object(raw []byte, g group, prefix string) error {
	hint := g.first
	return members(raw, func(name, value []byte) error {
		f, ok := g.find(name[1:len(name)-1], hint)
		if !ok {
			name = canonical(nil, name)
			if f, ok = g.find(name[1:len(name)-1], g.first); !ok {
				e.keep(prefix, name, value)
				return nil
			}
		}
		hint = f + 1
		if e.seen&(1<<f) != 0 {
			return fmt.Errorf("%s: the name stands there twice", fields[f].name)
		}
		e.seen |= 1 << f
		if err := e.set(f, value); err != nil {
			return fmt.Errorf("%s: %w", fields[f].name, err)
		}
		return nil
	})
}

func (e *Event) set(f field, value []byte) error {
	var err error
	switch fields[f].is {
	case text:
		return e.text(f, value)
	case integer:
		n, bad := strconv.ParseInt(string(value), 10, 64)
		if bad != nil {
			return errors.New("not an integer")
		}
		if f == fSeq && n < 0 {
			return errors.New("negative")
		}
		e.number[f], e.json[f] = n, value
		if n == 0 {
			e.json[f] = value[len(value)-1:] // not -0
		}
	case boolean:
		if value[0] != 't' && value[0] != 'f' {
			return errors.New("not a boolean")
		}
		e.json[f] = value
	case timestamp:
		return e.timestamp(f, value)
	case inputObject:
		if value[0] != '{' {
			return errors.New("not an object")
		}
		err = e.object(value, inInput, "input__")
	case checkpointObject:
		if value[0] != '{' {
			return errors.New("not an object")
		}
		err = e.object(value, inSnapshot, "checkpoint__")
	case errorList:
		err = e.faults(value)
	}
	return err
}

func (e *Event) text(f field, value []byte) error {
	if value[0] != '"' {
		return errors.New("not a string")
	}
	if len(value) > len(`""`) {
		e.json[f] = e.canonical(value)
	}
	return nil
}

// timestamp takes a time; an empty one is none. It is kept as the log writes
// times: RFC 3339, UTC, nine digits.
func (e *Event) timestamp(f field, value []byte) error {
	if err := e.text(f, value); err != nil || e.json[f] == nil {
		return err
	}
	s := e.json[f]
	t, err := time.Parse(time.RFC3339Nano, string(s[1:len(s)-1]))
	if err != nil {
		return errors.New("not a time of RFC 3339")
	}
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return errors.New("not a time of RFC 3339")
	}
	if f == fTime {
		e.time = t
	}
	if len(s) != len(timeFormat) || s[len(s)-2] != 'Z' {
		e.json[f] = t.AppendFormat(nil, timeFormat)
	}
	return nil
}

const timeFormat = `"2006-01-02T15:04:05.000000000Z"`

// faults takes the schemaErrors, and makes one text of them for the formats that
// have no lists of objects.
func (e *Event) faults(value []byte) error {
	if value[0] != '[' {
		return errors.New("not a list")
	}
	joined, n := []byte{'"'}, 0
	err := elements(value, func(v []byte) error {
		if v[0] != '{' {
			return errors.New("not a list of objects")
		}
		var one fault
		prefix := "schemaErrors__" + strconv.Itoa(n) + "__"
		n++
		err := members(v, func(name, v []byte) error {
			to := &one.path
			switch string(name) {
			case `"path"`:
			case `"message"`:
				to = &one.message
			default:
				e.keep(prefix, canonical(nil, name), v)
				return nil
			}
			if v[0] != '"' {
				return errors.New("not a list of texts")
			}
			if len(v) > len(`""`) {
				*to = e.canonical(v)
			}
			return nil
		})
		if err != nil || one.path == nil && one.message == nil {
			return err
		}
		e.errors = append(e.errors, one)
		if len(joined) > 1 {
			joined = append(joined, "; "...)
		}
		joined = one.appendText(joined)
		return nil
	})
	if err == nil && len(e.errors) > 0 {
		e.json[fSchemaErrors] = append(joined, '"')
	}
	return err
}

// appendText appends "path: message" in JSON's spelling, without quotes.
func (f fault) appendText(dst []byte) []byte {
	dst = append(dst, inner(f.path)...)
	if f.path != nil && f.message != nil {
		dst = append(dst, ": "...)
	}
	return append(dst, inner(f.message)...)
}

// keep notes a field that we do not know, unless there is nothing in it.
func (e *Event) keep(prefix string, name, value []byte) {
	if v := appendClean(nil, value); len(v) > 0 {
		e.more = append(e.more, member{prefix + key(inner(name)), v})
	}
}

// what returns the reason, or the kind of an event without one.
func (e *Event) what() []byte {
	if e.json[fReason] != nil {
		return e.json[fReason]
	}
	return e.json[fKind]
}

// is tells whether a text field has that value, which needs no escapes.
func (e *Event) is(f field, value string) bool {
	return string(inner(e.json[f])) == value
}

// inner returns what stands between the quotes of a JSON string.
func inner(s []byte) []byte {
	if len(s) < 2 {
		return nil
	}
	return s[1 : len(s)-1]
}
