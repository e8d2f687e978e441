package event

import (
	"bytes"
	"encoding/json" //nolint:depguard // only its Number type, which the schema library knows; nothing is decoded with it
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Fault says why bytes are not one strict JSON value, and where.
type Fault struct {
	Path    string // JSON Pointer to the place, "" for the whole
	Message string
}

func (f *Fault) Error() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// maxNumber bounds a number's literal and the size of its exponent. Numbers
// beyond it are of no use to anybody, and the schema library spends a power of
// ten on each digit of the exponent.
const (
	maxNumber   = 400
	maxExponent = 400
)

// maxValues bounds how many values an input holds. A value costs some hundred
// bytes once it is decoded, so that a small input of nothing but brackets could
// end the program for want of memory, in a way that blocks no call.
const maxValues = 1 << 20

// Decode reads b as exactly one JSON value, strictly: no name twice in an
// object, nothing after the value, bounded depth and bounded numbers. A leading
// byte order mark is dropped. Invalid UTF-8 and lone surrogates are replaced by
// U+FFFD. Every error is a *Fault.
//
// Objects become map[string]any, lists []any, numbers json.Number with their
// literal kept, so that no digit of an identifier is lost.
func Decode(b []byte, maxDepth int) (any, error) {
	v, _, err := decode(b, maxDepth, "")
	return v, err
}

// space is JSON's white space.
const space = " \t\r\n"

// decode also returns the bytes of the top-level member called want.
func decode(b []byte, maxDepth int, want string) (any, []byte, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if len(bytes.Trim(b, space)) == 0 {
		return nil, nil, &Fault{Message: "the input is empty; one JSON object is expected"}
	}
	// A *bytes.Buffer is decoded in place, without a copy. Names that stand twice are
	// found in object, once and not twice: the library's own book of a large object
	// costs as much as all the rest.
	d := &decoder{dec: jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)), maxDepth: maxDepth, want: want}
	v, err := d.value()
	if err != nil {
		return nil, nil, d.fault(err, b)
	}
	if at := d.dec.InputOffset(); len(bytes.Trim(b[at:], space)) > 0 {
		return nil, nil, &Fault{Message: fmt.Sprintf("something follows the first value at byte %d; exactly one JSON object is expected", at)}
	}
	part := bytes.TrimLeft(b[d.from:d.to], ":"+space)
	return v, part, nil
}

type decoder struct {
	dec      *jsontext.Decoder
	maxDepth int
	want     string
	from, to int64
	values   int
}

func (d *decoder) value() (any, error) {
	if d.values++; d.values > maxValues {
		return nil, &Fault{Message: fmt.Sprintf("the input holds more than %d values", maxValues)}
	}
	tok, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return d.number(tok.String())
	case '{':
		return d.object()
	default: // '[': the decoder lets no other kind start a value
		return d.list()
	}
}

func (d *decoder) object() (any, error) {
	if err := d.deep(); err != nil {
		return nil, err
	}
	m := map[string]any{}
	for d.dec.PeekKind() != '}' {
		tok, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		if _, twice := m[name]; twice {
			return nil, &Fault{Path: string(d.dec.StackPointer()), Message: "the name stands twice in one object"}
		}
		top := d.dec.StackDepth() == 1 && name == d.want && d.want != ""
		if top {
			d.from = d.dec.InputOffset() // the colon and blanks are taken off later
		}
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		if top {
			d.to = d.dec.InputOffset()
		}
		m[name] = v
	}
	_, err := d.dec.ReadToken()
	return m, err
}

func (d *decoder) list() (any, error) {
	if err := d.deep(); err != nil {
		return nil, err
	}
	l := []any{}
	for d.dec.PeekKind() != ']' {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		l = append(l, v)
	}
	_, err := d.dec.ReadToken()
	return l, err
}

func (d *decoder) deep() error {
	if d.dec.StackDepth() > d.maxDepth {
		return &Fault{Path: "", Message: fmt.Sprintf("more than %d objects and lists stand in one another", d.maxDepth)}
	}
	return nil
}

func (d *decoder) number(s string) (any, error) {
	// The path is made for a fault only: it is as long as the names around the number.
	if len(s) > maxNumber {
		return nil, &Fault{Path: string(d.dec.StackPointer()), Message: fmt.Sprintf("a number of %d characters; at most %d are read", len(s), maxNumber)}
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil || e > maxExponent || e < -maxExponent {
			return nil, &Fault{Path: string(d.dec.StackPointer()), Message: "the number's exponent is out of range"}
		}
	}
	return json.Number(s), nil
}

// fault turns what the JSON reader says into one sentence with a place.
func (d *decoder) fault(err error, b []byte) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	at := d.dec.InputOffset()
	msg := strings.TrimPrefix(err.Error(), "jsontext: ")
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		at = s.ByteOffset
		msg = s.Err.Error()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		msg = "it ends too early"
		at = int64(len(b))
	}
	line := 1 + bytes.Count(b[:min(at, int64(len(b)))], []byte("\n"))
	f = &Fault{Message: fmt.Sprintf("not JSON at byte %d (line %d): %s", at, line, msg)}
	if s != nil {
		f.Path = string(s.JSONPointer)
	}
	return f
}
