package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBytes is how much of a settings file is read. Real ones have a few
// kilobytes.
const MaxBytes = 1 << 20

// maxDepth bounds the nesting of values. The host's own shapes need eight.
const maxDepth = 200

var bom = []byte("\xef\xbb\xbf")

// A SyntaxError says in words why bytes are not JSON, and where.
type SyntaxError struct {
	Offset  int
	Message string
	Hint    string
}

func (e *SyntaxError) Error() string { return e.Message }

// Parse reads b as one JSON value. It is strict, but for a leading byte order
// mark and for repeated names, of which the caller finds all. Every error is a
// *SyntaxError.
func Parse(b []byte) (*Node, error) {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")), len(b) > 1 && (b[0] == 0) != (b[1] == 0):
		return nil, &SyntaxError{Message: "the file is UTF-16, not UTF-8", Hint: "save it as UTF-8 without a byte order mark"}
	case bytes.HasPrefix(b, []byte("---\n")), bytes.HasPrefix(b, []byte("---\r\n")):
		return nil, &SyntaxError{Message: "the file begins with front matter or is YAML, not JSON", Hint: "hooks in agents and skills are not looked at here; settings are JSON"}
	case len(b) > MaxBytes:
		return nil, &SyntaxError{Message: fmt.Sprintf("the file has more than %d MiB", MaxBytes>>20)}
	}
	start := 0
	if bytes.HasPrefix(b, bom) {
		start = len(bom)
	}
	if p := skipSpace(b, start); p == len(b) {
		return nil, &SyntaxError{Offset: p, Message: "the file is empty, which is not JSON", Hint: "write {} or remove the file"}
	}
	p := &parser{b: b, base: start}
	p.dec = jsontext.NewDecoder(bytes.NewBuffer(b[start:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	n, err := p.value(0)
	if err != nil {
		return nil, p.explain(err)
	}
	if at := skipSpace(b, p.offset()); at < len(b) {
		if isComment(b, at) {
			return nil, comment(at)
		}
		return nil, &SyntaxError{Offset: at, Message: "something follows the end of the JSON value", Hint: "the file must be exactly one JSON object"}
	}
	return n, nil
}

type parser struct {
	b    []byte
	base int
	dec  *jsontext.Decoder
	at   int // where the last token ended
}

func (p *parser) offset() int { return p.base + int(p.dec.InputOffset()) }

var errDeep = errors.New("nested too deep")

// token reads one token and returns where it starts.
func (p *parser) token() (jsontext.Token, int, error) {
	p.at = p.offset()
	start := p.at
	for start < len(p.b) && bytes.IndexByte([]byte(" \t\r\n,:"), p.b[start]) >= 0 {
		start++
	}
	tok, err := p.dec.ReadToken()
	return tok, start, err
}

func (p *parser) value(depth int) (*Node, error) {
	tok, start, err := p.token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errDeep
	}
	n := &Node{Kind: tok.Kind(), Pos: start}
	switch n.Kind { //nolint:exhaustive // the others hold nothing
	case '{':
		for p.dec.PeekKind() != '}' {
			name, at, err := p.token()
			if err != nil {
				return nil, err
			}
			m := Member{Name: name.String(), Pos: at}
			if m.Value, err = p.value(depth + 1); err != nil {
				return nil, err
			}
			n.Members = append(n.Members, m)
		}
		_, _, err = p.token()
	case '[':
		for p.dec.PeekKind() != ']' {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		_, _, err = p.token()
	case '"', '0':
		n.Text = tok.String()
	}
	n.End = p.offset()
	return n, err
}

// explain says what stands where the decoder stopped.
func (p *parser) explain(err error) error {
	b := p.b
	at := skipSpace(b, p.at)
	if errors.Is(err, errDeep) {
		return &SyntaxError{Offset: at, Message: fmt.Sprintf("values are nested more than %d deep", maxDepth)}
	}
	if isComment(b, at) {
		return comment(at)
	}
	if at < len(b) && (b[at] == ',' || b[at] == ':') {
		sep := at
		at = skipSpace(b, at+1)
		switch {
		case isComment(b, at):
			return comment(at)
		case at < len(b) && b[sep] == ',' && (b[at] == ']' || b[at] == '}'):
			return &SyntaxError{
				Offset: at, Message: fmt.Sprintf("the comma before this %q is not JSON", b[at]),
				Hint: "remove the comma; the host skips the whole file, with every hook and rule in it",
			}
		case at < len(b) && b[sep] == ',' && b[at] == ',':
			return &SyntaxError{Offset: at, Message: "two commas without a value between them"}
		}
	}
	if at >= len(b) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &SyntaxError{
			Offset: len(bytes.TrimRight(b, " \t\r\n")), Message: "the file ends in the middle of a JSON value",
			Hint: "it was cut off, or a closing quote, bracket or brace is missing",
		}
	}
	return p.describe(err, at)
}

func (p *parser) describe(err error, at int) error {
	b := p.b
	var se *jsontext.SyntacticError
	if errors.As(err, &se) {
		if off := p.base + int(se.ByteOffset); off > at && off < len(b) {
			if isComment(b, off) {
				return comment(off)
			}
			if b[at] == '"' || b[at] == '-' || b[at] >= '0' && b[at] <= '9' {
				at = off
			}
		}
	}
	r, _ := utf8.DecodeRune(b[at:])
	e := &SyntaxError{Offset: at, Message: fmt.Sprintf("%q cannot stand here in JSON", r)}
	switch {
	case r == '\'':
		e.Hint = "strings and names stand in double quotes"
	case r == '“' || r == '”' || r == '„':
		e.Hint = "these are typographic quotes; JSON wants the plain \""
	case r == '"' || r == '{' || r == '[':
		e.Message, e.Hint = "a comma is missing before "+string(r), "values and members are separated by commas"
	case r < ' ' && r >= 0:
		e.Message, e.Hint = "a raw control character stands in a string", `write it as an escape, such as \n or \t`
	case r == '#':
		e.Message, e.Hint = "a comment is not JSON", "remove it; the host skips the whole file"
	case r == '\\':
		e.Hint = "JSON strings know only the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_':
		e.Hint = "names and strings stand in double quotes; the words of JSON are true, false and null; YAML and TOML are not read"
	case r == '<' || r == '=' || r == '>':
		e.Hint = "this looks like a merge conflict or another format"
	}
	return e
}

func comment(at int) error {
	return &SyntaxError{
		Offset: at, Message: "a comment is not JSON",
		Hint: "remove it; the host skips the whole file, with every hook and rule in it",
	}
}

func isComment(b []byte, at int) bool {
	return at+1 < len(b) && b[at] == '/' && (b[at+1] == '/' || b[at+1] == '*')
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\r' || b[at] == '\n') {
		at++
	}
	return at
}
