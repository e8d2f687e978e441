package audit

import (
	"bufio"
	"bytes"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// linePlaceInfo is what a line says of itself at its beginning.
type linePlaceInfo struct {
	id   string
	seq  uint64
	prev string
}

const (
	layoutTime = `{"time":"2006-01-02T15:04:05.000000000Z","eventId":"`
	layoutID   = len(layoutTime) + 36
)

// linePlace reads event id, seq and prev of a line. Lines of ours begin alike,
// so it seldom has to read the whole object; a line that begins otherwise is
// read as JSON.
func linePlace(line []byte) (linePlaceInfo, bool) {
	if p, ok := quickPlace(line); ok {
		return p, true
	}
	return slowPlace(line)
}

func quickPlace(line []byte) (linePlaceInfo, bool) {
	id, seq, prev, ok := rawPlace(line)
	if !ok {
		return linePlaceInfo{}, false
	}
	return linePlaceInfo{string(id), seq, string(prev)}, true
}

// rawPlace is quickPlace without copies: id and prev are parts of line.
func rawPlace(line []byte) (id []byte, seq uint64, prev []byte, ok bool) {
	const idAt = len(layoutTime)
	if len(line) < layoutID+len(`","seq":1,"prev":"",`) || string(line[:9]) != `{"time":"` ||
		string(line[idAt-len(`","eventId":"`):idAt]) != `","eventId":"` {
		return nil, 0, nil, false
	}
	rest, ok := bytes.CutPrefix(line[layoutID:], []byte(`","seq":`))
	if !ok {
		return nil, 0, nil, false
	}
	n := 0
	for n < len(rest) && n < 17 && rest[n] >= '0' && rest[n] <= '9' {
		seq = seq*10 + uint64(rest[n]-'0')
		n++
	}
	if n == 0 || rest[0] == '0' || seq > 1<<53 {
		return nil, 0, nil, false
	}
	rest, ok = bytes.CutPrefix(rest[n:], []byte(`,"prev":"`))
	if !ok {
		return nil, 0, nil, false
	}
	n = 0
	for n < len(rest) && n < 64 && isHex(rest[n]) {
		n++
	}
	if n != 0 && n != 64 || len(rest) < n+2 || rest[n] != '"' || rest[n+1] != ',' {
		return nil, 0, nil, false
	}
	id = line[idAt:layoutID]
	return id, seq, rest[:n], bytes.IndexByte(id, '"') < 0 && bytes.IndexByte(id, '\\') < 0
}

func slowPlace(line []byte) (linePlaceInfo, bool) {
	var p linePlaceInfo
	d := jsontext.NewDecoder(bytes.NewReader(line))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '{' {
		return p, false
	}
	found := 0
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return p, false
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return p, false
		}
		switch key {
		case "eventId":
			p.id, err = unquote(v)
			found++
		case "seq":
			p.seq, err = strconv.ParseUint(string(v), 10, 53)
			found++
		case "prev":
			p.prev, err = unquote(v)
			found++
		}
		if err != nil {
			return p, false
		}
	}
	return p, found == 3 && p.seq > 0
}

func unquote(v jsontext.Value) (string, error) {
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// A lineReader reads lines and holds no more than a buffer of them, however
// long they are.
type lineReader struct {
	r *bufio.Reader
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 256<<10)}
}

// next returns the next line without its newline, and whether it had one and
// fits the buffer. The line is good until the next call. The error is io.EOF
// behind the last line.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	line, err = l.r.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], true, nil
	}
	if err == io.EOF && len(line) > 0 || err == bufio.ErrBufferFull { //nolint:errorlint // bufio returns these two as they are
		return line, false, nil
	}
	return nil, false, err
}
