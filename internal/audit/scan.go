package audit

import (
	"bufio"
	"errors"
	"io"
)

// A Line is one line of a log.
type Line struct {
	Offset int64  // of its first byte
	Number int    // 1, 2, 3 …
	Bytes  []byte // without the newline; good until fn returns
	// Torn says that the newline is missing: the line is being written, or its
	// writer died.
	Torn bool
	// Long says that the line is longer than a line may be, and that Bytes holds
	// only its beginning.
	Long bool
}

// Scan calls fn for each line of r, in bounded memory whatever r holds. It ends
// with fn's first error, and returns nil at the end of r.
func Scan(r io.Reader, fn func(Line) error) error {
	br := bufio.NewReaderSize(r, 256<<10)
	at := Line{}
	for {
		b, err := br.ReadSlice('\n')
		if len(b) > 0 {
			at.Number++
			l := Line{Offset: at.Offset, Number: at.Number, Bytes: b}
			at.Offset += int64(len(b))
			switch {
			case err == nil:
				l.Bytes = b[:len(b)-1]
				l.Long = len(b) > MaxLine
			case errors.Is(err, bufio.ErrBufferFull):
				// The callback wants the beginning; what follows overwrites it.
				l.Bytes = append([]byte(nil), b[:MaxLine]...)
				l.Long = true
				var n int64
				n, l.Torn, err = skipLine(br)
				at.Offset += n
			default:
				l.Torn = true
			}
			if e := fn(l); e != nil {
				return e
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// skipLine reads to the end of a line that does not fit the buffer.
func skipLine(br *bufio.Reader) (n int64, torn bool, err error) {
	for {
		b, err := br.ReadSlice('\n')
		n += int64(len(b))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err != nil, err
		}
	}
}
