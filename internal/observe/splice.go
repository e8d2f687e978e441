package observe

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// filling is what a crash leaves before a record: blocks of NUL that were given
// to the file and never written, or the mark of an editor.
const filling = "\x00\ufeff \t\r\n"

// eachRecord gives the record that a line is to fn, or those that are whole in it,
// and counts the line and what is none. known tells whether an object is one.
func eachRecord[T any](line []byte, c *Counts, known func(*T) bool, fn func(raw []byte, r T)) {
	c.Lines++
	var r T
	if json.Unmarshal(line, &r, tolerant()) == nil && known(&r) {
		fn(line, r)
		return
	}
	all, torn := recordsOf(line)
	if torn {
		c.Broken++
	}
	for _, one := range all {
		var r T
		if json.Unmarshal(one, &r, tolerant()) != nil || !known(&r) {
			c.Broken++
			continue
		}
		fn(one, r)
	}
}

// recordsOf returns the whole records in a line that is not one record. Hosts
// die while they append, and the next record then stands on the same line: behind
// NULs, behind another record, or behind a half of one. torn tells that something
// was lost.
func recordsOf(line []byte) (records []jsontext.Value, torn bool) {
	rest := bytes.Trim(line, filling)
	for len(rest) > 0 {
		v, n := recordAt(rest)
		if v == nil {
			if v = lastRecord(rest); v != nil {
				records = append(records, v)
			}
			return records, true
		}
		records = append(records, v)
		rest = bytes.TrimLeft(rest[n:], filling)
	}
	return records, false
}

// recordAt reads the object at the start of b, and returns how many bytes were
// looked at.
func recordAt(b []byte) (jsontext.Value, int) {
	if b[0] != '{' {
		return nil, 1
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(b), tolerant())
	v, err := d.ReadValue()
	if err == nil {
		return v, int(d.InputOffset())
	}
	var fault *jsontext.SyntacticError
	if errors.As(err, &fault) {
		return nil, int(fault.ByteOffset)
	}
	return nil, len(b)
}

// lastRecord returns the object that reaches to the end of b behind a half of
// one. There is one such place at most: an object inside of another has at least
// a brace behind it.
func lastRecord(b []byte) jsontext.Value {
	// Crafted nesting would make each try as long as the line.
	work := 4*len(b) + 1<<16
	for at := 1; work > 0; {
		i := bytes.Index(b[at:], []byte(`{"`))
		if i < 0 {
			return nil
		}
		at += i
		v, n := recordAt(b[at:])
		if v != nil && n == len(b)-at {
			return v
		}
		work -= n + 1
		at++
	}
	return nil
}
