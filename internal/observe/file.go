package observe

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// hashed is how many bytes before a cursor prove that the file is the same.
const hashed = 4096

var errNotRegular = errors.New("not a regular file")

// readRegular reads a small regular file whole.
func readRegular(path string, limit int64) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errors.New("too big")
	}
	return b, err
}

// seek returns where to go on in f. A file that is not the one of the cursor,
// or that was written anew, is read from its beginning.
func (c *cursor) seek(f *os.File, id string, size int64) (restarted bool) {
	if c.Offset == 0 {
		c.File = id
		return false
	}
	if c.File == id && c.Offset <= size && c.Hash == hashBefore(f, c.Offset) {
		return false
	}
	*c = cursor{File: id, Told: c.Told}
	return true
}

func hashBefore(f *os.File, offset int64) string {
	n := min(offset, hashed)
	b := make([]byte, n)
	if _, err := f.ReadAt(b, offset-n); err != nil {
		return ""
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:16])
}

// readNew hands the complete lines behind the cursor to fn and moves the cursor,
// until limit bytes are read or ctx ends. A line longer than limit is passed
// over; it takes as many calls as it is long.
func (c *cursor) readNew(ctx context.Context, f *os.File, limit int64, fn func(line []byte)) (skipped int, err error) {
	r := bufio.NewReaderSize(io.NewSectionReader(f, c.Offset, limit), 256<<10)
	var line []byte
	for ctx.Err() == nil {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			if int64(len(line)) == limit { // no end in sight
				c.Offset += limit
				if !c.Inside {
					skipped++
				}
				c.Inside = true
			}
			break
		}
		if err != nil {
			return skipped, err
		}
		c.Offset += int64(len(line))
		if whole := bytes.TrimSpace(line); !c.Inside && len(whole) > 0 {
			fn(whole)
		}
		c.Inside = false
		line = line[:0]
	}
	c.Hash = hashBefore(f, c.Offset)
	return skipped, nil
}
