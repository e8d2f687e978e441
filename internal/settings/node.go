package settings

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A Node is one JSON value and where it stands in the file.
type Node struct {
	Kind    jsontext.Kind // one of { [ " 0 t f n
	Pos     int           // offset of the first byte
	End     int           // offset after the last byte
	Members []Member      // of an object, in the order of the file, repeated names included
	Items   []*Node       // of a list
	Text    string        // of a string its value, of a number its literal
}

// A Member is one name and its value.
type Member struct {
	Name  string
	Pos   int // offset of the name
	Value *Node
}

// Get returns the value of a name, or nil. Of a repeated name the last one
// counts, as in the host.
func (n *Node) Get(name string) *Node {
	if n == nil || n.Kind != '{' {
		return nil
	}
	for i := len(n.Members) - 1; i >= 0; i-- {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// IsObject tells whether n is an object. A nil Node is none.
func (n *Node) IsObject() bool { return n != nil && n.Kind == '{' }

// IsList tells whether n is a list. A nil Node is none.
func (n *Node) IsList() bool { return n != nil && n.Kind == '[' }

// IsString tells whether n is a string. A nil Node is none.
func (n *Node) IsString() bool { return n != nil && n.Kind == '"' }

// IsTrue tells whether n is true. A nil Node is not.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == 't' }

// last calls fn with the members that count: of a repeated name only the last.
func (n *Node) last(fn func(Member)) {
	if n == nil {
		return
	}
	at := make(map[string]int, len(n.Members))
	for i, m := range n.Members {
		at[m.Name] = i
	}
	for i, m := range n.Members {
		if at[m.Name] == i {
			fn(m)
		}
	}
}

// what names the kind of a value for a person.
func (n *Node) what() string {
	if n == nil {
		return "nothing"
	}
	switch n.Kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "a boolean"
	}
}

// value returns n as package event decodes JSON, for the schema.
func (n *Node) value() any {
	switch n.Kind {
	case '{':
		m := make(map[string]any, len(n.Members))
		n.last(func(mb Member) { m[mb.Name] = mb.Value.value() })
		return m
	case '[':
		l := make([]any, 0, len(n.Items))
		for _, i := range n.Items {
			l = append(l, i.value())
		}
		return l
	case '"':
		return n.Text
	case '0':
		return json.Number(n.Text)
	case 'n':
		return nil
	default:
		return n.Kind == 't'
	}
}

// position turns an offset into a line and a column, both from 1. The column
// counts characters.
func position(b []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(b)))
	line = 1 + bytes.Count(b[:offset], []byte("\n"))
	start := bytes.LastIndexByte(b[:offset], '\n') + 1
	text := b[start:offset]
	if start == 0 {
		text = bytes.TrimPrefix(text, bom)
	}
	return line, 1 + utf8.RuneCount(text)
}
