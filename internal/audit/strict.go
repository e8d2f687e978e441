package audit

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// strictLine tells whether line is one strict JSON object without anything that
// an event never holds raw.
func strictLine(line []byte) bool {
	return len(line) < MaxLine && Plain(line) && jsontext.Value(line).IsValid()
}

// Plain tells whether line is one JSON object without anything that an event
// never holds raw, and is fast enough to look at every line of a large log. It
// takes objects as the log's encoder writes them: without blanks, and not deep.
// It does not look for names that stand there twice or for lone surrogates.
func Plain(line []byte) bool {
	if len(line) == 0 || line[0] != '{' || len(line) >= MaxLine {
		return false
	}
	p := plain{b: line, ascii: true}
	if !p.value(0) || p.i != len(line) {
		return false
	}
	return p.ascii || utf8.Valid(line) && !bytes.ContainsFunc(line, Hidden)
}

type plain struct {
	b     []byte
	i     int
	ascii bool
}

func (p *plain) value(depth int) bool {
	if p.i >= len(p.b) || depth > 8 {
		return false
	}
	switch p.b[p.i] {
	case '"':
		return p.str()
	case '{':
		return p.list('}', depth, true)
	case '[':
		return p.list(']', depth, false)
	case 't':
		return p.word("true")
	case 'f':
		return p.word("false")
	case 'n':
		return p.word("null")
	default:
		return p.number()
	}
}

func (p *plain) list(end byte, depth int, named bool) bool {
	p.i++
	if p.i < len(p.b) && p.b[p.i] == end {
		p.i++
		return true
	}
	for {
		if named && (!p.str() || !p.byte(':')) {
			return false
		}
		if !p.value(depth+1) || p.i >= len(p.b) {
			return false
		}
		c := p.b[p.i]
		p.i++
		if c == end {
			return true
		}
		if c != ',' {
			return false
		}
	}
}

func (p *plain) byte(c byte) bool {
	if p.i < len(p.b) && p.b[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *plain) str() bool {
	if !p.byte('"') {
		return false
	}
	b, i := p.b, p.i
	for i < len(b) {
		c := b[i]
		i++
		if c >= 0x20 && c != '"' && c != '\\' && c < 0x7f {
			continue
		}
		switch {
		case c == '"':
			p.i = i
			return true
		case c == '\\':
			p.i = i
			if !p.escape() {
				return false
			}
			i = p.i
		case c >= utf8.RuneSelf:
			p.ascii = false
		default:
			return false
		}
	}
	return false
}

func (p *plain) escape() bool {
	if p.i >= len(p.b) {
		return false
	}
	c := p.b[p.i]
	p.i++
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if p.i >= len(p.b) || !isHex(p.b[p.i]|0x20) {
				return false
			}
			p.i++
		}
		return true
	}
	return false
}

func (p *plain) word(w string) bool {
	if !bytes.HasPrefix(p.b[p.i:], []byte(w)) {
		return false
	}
	p.i += len(w)
	return true
}

// number takes integers, which is all that an event holds.
func (p *plain) number() bool {
	p.byte('-')
	from := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	n := p.i - from
	return n > 0 && (n == 1 || p.b[from] != '0')
}
