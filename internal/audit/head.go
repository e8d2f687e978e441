package audit

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
)

// A head is what is remembered of the last line, outside of the log, so that a
// log that lost its tail is noticed. Seq zero means that no line was ever
// written.
//
// It is written in place after the log's fsync, in one write that fits a disk's
// sector, and needs no fsync of its own: after a crash the head on disk is an
// older one at worst, and a log that is ahead of its head by lines that follow
// in the chain is simply caught up with. It is never ahead of the log, so a log
// behind its head has been cut.
type head struct {
	seq  uint64
	hash string // hex SHA-256 of the last line; empty with seq zero
	file string // event id of the first record of the file with the last line
	end  int64  // offset behind the last line's newline
	last int64  // the last line's length, newline included
	ino  uint64 // the file's inode; zero means unknown
}

const headSize = 17 + 20 + 1 + 64 + 1 + 36 + 3*21 + 1 + 8 + 1

// encode returns the head's fixed number of bytes: its fields, blank, the CRC-32
// of what stands before, newline.
func (h head) encode() []byte {
	b := fmt.Appendf(nil, "hooktrail-head 1 %020d %s %s %020d %020d %020d",
		h.seq, orBlank(h.hash, 64), orBlank(h.file, 36), h.end, h.last, h.ino)
	return fmt.Appendf(b, " %08x\n", crc32.ChecksumIEEE(b))
}

// orBlank keeps the width of a field that may be empty. A longer value would
// not be one of ours.
func orBlank(s string, width int) string {
	if len(s) != width {
		return strings.Repeat("-", width)
	}
	return s
}

// decodeHead returns the head in b, or false when b holds none or a damaged one.
func decodeHead(b []byte) (head, bool) {
	if len(b) != headSize {
		return head{}, false
	}
	body, sum := string(b[:headSize-10]), string(b[headSize-10:])
	f := strings.Split(body, " ")
	if len(f) != 8 || f[0] != "hooktrail-head" || f[1] != "1" || sum != fmt.Sprintf(" %08x\n", crc32.ChecksumIEEE(b[:headSize-10])) {
		return head{}, false
	}
	h := head{hash: strings.Trim(f[3], "-"), file: f[4]}
	if h.file == strings.Repeat("-", 36) {
		h.file = ""
	}
	var errs [4]error
	h.seq, errs[0] = strconv.ParseUint(f[2], 10, 64)
	h.end, errs[1] = strconv.ParseInt(f[5], 10, 64)
	h.last, errs[2] = strconv.ParseInt(f[6], 10, 64)
	h.ino, errs[3] = strconv.ParseUint(f[7], 10, 64)
	if errors.Join(errs[:]...) != nil {
		return head{}, false
	}
	if h.end < 0 || h.last < 0 || h.last > h.end || (h.seq > 0) != (len(h.hash) == 64) {
		return head{}, false
	}
	return h, true
}

// readHead reads the head from its file. An empty or damaged file is no head.
func readHead(f *os.File) (head, bool, error) {
	var buf [headSize + 1]byte
	n, err := f.ReadAt(buf[:], 0)
	if n == 0 || n > headSize {
		return head{}, false, ignoreEOF(err)
	}
	h, ok := decodeHead(buf[:n])
	return h, ok, ignoreEOF(err)
}
