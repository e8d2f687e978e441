package ship

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/tidwall/gjson"
)

// maxLine bounds the lines that are read. The log's own are at most 16 KiB;
// whatever is longer was not written by it and is passed over.
const maxLine = 1 << 20

// A Position is a place in the log: just behind one line.
type Position struct {
	FileID string `json:"fileId"` // event id of the first record of the file
	Seq    uint64 `json:"seq"`    // the line's sequence number
	Offset int64  `json:"offset"` // bytes from the start of the file, uncompressed, to behind the newline
	Length int64  `json:"length"` // the line's bytes without its newline
	SHA256 string `json:"sha256"` // hex, of the line without its newline
}

// A Meta is what shipping needs to know of a line.
type Meta struct {
	EventID  string
	Seq      uint64
	Prev     string
	Time     time.Time
	Host     string
	User     string
	Kind     string
	Layer    string
	Decision string
	Reason   string
	Gate     string
	// DurationMs is negative when the event has none.
	DurationMs int64
}

// ParseMeta reads what shipping needs from a line of the log. It is false for a
// line that is no event, such as the sealed rest of a torn write.
func ParseMeta(line []byte) (Meta, bool) {
	m := Meta{DurationMs: -1}
	if !gjson.ValidBytes(line) {
		return m, false
	}
	doc := gjson.ParseBytes(line)
	if !doc.IsObject() {
		return m, false
	}
	doc.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "eventId":
			m.EventID = v.Str
		case "seq":
			m.Seq = v.Uint()
		case "prev":
			m.Prev = v.Str
		case "time":
			m.Time, _ = time.Parse(time.RFC3339Nano, v.Str) // zero when it is none
		case "host":
			m.Host = v.Str
		case "user":
			m.User = v.Str
		case "kind":
			m.Kind = v.Str
		case "layer":
			m.Layer = v.Str
		case "decision":
			m.Decision = v.Str
		case "reason":
			m.Reason = v.Str
		case "gate":
			m.Gate = v.Str
		case "durationMs":
			m.DurationMs = v.Int()
		}
		return true
	})
	return m, m.EventID != "" && len(m.EventID) <= 128
}

// lineHash returns the digest by which a line is known: that of the chain.
func lineHash(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}
