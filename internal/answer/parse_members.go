package answer

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// members are one JSON object, with all that stands in it: a name that occurs
// twice has two values, since two readers may take either.
type members struct {
	names  []string
	values map[string][]jsontext.Value
	raw    jsontext.Value
}

// lenient reads what hosts read: a name twice, bad UTF-8.
func lenient(b []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// wholeObject reads b as one object with nothing before or after it.
func wholeObject(b []byte) (members, bool) {
	o, end, ok := firstObject(b)
	return o, ok && len(bytes.TrimSpace(b[end:])) == 0
}

// firstObject reads the object that b begins with, and says where it ends. On
// failure, end is how far the reading came.
func firstObject(b []byte) (o members, end int64, ok bool) {
	d := lenient(b)
	if d.PeekKind() != '{' {
		return o, 0, false
	}
	raw, err := d.ReadValue()
	if err != nil {
		return o, cameTo(err, b), false
	}
	return membersOf(raw.Clone()), d.InputOffset(), true
}

// cameTo is how far the reading of b came until err. The decoder's own offset stays
// where the value begins.
func cameTo(err error, b []byte) int64 {
	var fault *jsontext.SyntacticError
	if errors.As(err, &fault) {
		return fault.ByteOffset
	}
	return int64(len(b))
}

func membersOf(raw jsontext.Value) members {
	o := members{values: map[string][]jsontext.Value{}, raw: raw}
	d := lenient(raw)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return o
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return o
		}
		name := t.String()
		v, err := d.ReadValue()
		if err != nil {
			return o
		}
		if o.values[name] == nil {
			o.names = append(o.names, name)
		}
		o.values[name] = append(o.values[name], v.Clone())
	}
	return o
}

// text returns the first value of name that is a string, and whether there is
// one.
func (o members) text(name string) (string, bool) {
	for _, v := range o.values[name] {
		if s, ok := str(v); ok {
			return s, true
		}
	}
	return "", false
}

// says tells whether some value of name is one of these strings.
func (o members) says(name string, words ...string) bool {
	return slices.ContainsFunc(o.values[name], func(v jsontext.Value) bool {
		s, ok := str(v)
		return ok && slices.Contains(words, s)
	})
}

// objects returns the values of name that are objects.
func (o members) objects(name string) []members {
	var all []members
	for _, v := range o.values[name] {
		if v.Kind() == '{' {
			all = append(all, membersOf(v))
		}
	}
	return all
}

// isTrue tells whether some value of name is true.
func (o members) isTrue(name string) bool {
	return slices.ContainsFunc(o.values[name], func(v jsontext.Value) bool { return v.Kind() == 't' })
}

// has tells whether there is a value of name.
func (o members) has(name string) bool { return o.values[name] != nil }

func str(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil && !bytes.ContainsRune(b, '\uFFFD') {
		return "", false
	}
	return string(b), true
}
