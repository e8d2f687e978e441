package export

import "strconv"

// An object builds JSON objects, one in the other, and leaves out what is empty.
type object struct{ b []byte }

// open begins an object; close ends it, and takes it back when nothing is in it.
func (o *object) open(name string) (at int) {
	at = comma(&o.b)
	o.name(name)
	o.b = append(o.b, '{')
	return at
}

func (o *object) close(at int) {
	if o.b[len(o.b)-1] == '{' {
		o.b = o.b[:at]
		return
	}
	o.b = append(o.b, '}')
}

func (o *object) name(name string) {
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

// json writes a member whose value is JSON; nil writes nothing.
func (o *object) json(name string, value []byte) {
	if value == nil {
		return
	}
	comma(&o.b)
	o.name(name)
	o.b = append(o.b, value...)
}

// word writes a member with a text of ours that needs no escapes.
func (o *object) word(name, value string) {
	comma(&o.b)
	o.name(name)
	o.b = append(o.b, '"')
	o.b = append(o.b, value...)
	o.b = append(o.b, '"')
}

func (o *object) int(name string, n int64) {
	comma(&o.b)
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// list writes a member that is a list of the values that are not nil.
func (o *object) list(name string, values ...[]byte) {
	at := comma(&o.b)
	o.name(name)
	o.b = append(o.b, '[')
	for _, v := range values {
		if v != nil {
			comma(&o.b)
			o.b = append(o.b, v...)
		}
	}
	if o.b[len(o.b)-1] == '[' {
		o.b = o.b[:at]
		return
	}
	o.b = append(o.b, ']')
}

// text writes a member whose value is a JSON value as a string: a string is
// itself, others are quoted as they stand.
func (o *object) text(name string, value []byte) {
	switch {
	case value == nil:
	case value[0] == '"':
		o.json(name, value)
	default:
		comma(&o.b)
		o.name(name)
		o.b = quote(o.b, value)
	}
}

// comma appends a comma unless it is the first member's place, and returns where
// it stands.
func comma(dst *[]byte) (at int) {
	b := *dst
	at = len(b)
	if c := b[at-1]; c != '{' && c != '[' {
		*dst = append(b, ',')
	}
	return at
}
