package answer

import (
	"bytes"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// maxQuoted bounds how often a text is taken out of JSON strings.
const maxQuoted = 3

// undisguised returns the text that a person would see in b: UTF-16 read as
// what it is, the escapes of a terminal taken out, and a JSON string without
// its quotes. Refusals are looked for in it; an approval never counts there.
func undisguised(b []byte) []byte {
	b = uncoloured(narrow(b))
	for range maxQuoted {
		v := jsontext.Value(bytes.TrimSpace(b))
		if len(v) < 2 || v[0] != '"' {
			break
		}
		s, ok := str(v)
		if !ok || !v.IsValid(jsontext.AllowInvalidUTF8(true)) {
			break
		}
		b = []byte(s)
	}
	return b
}

// narrow turns UTF-16, as PowerShell writes it, into UTF-8. Without a byte order
// mark it is known by the zero beside its first character.
func narrow(b []byte) []byte {
	if len(b) < 2 {
		return b
	}
	low := 0 // which of two bytes is the lower one
	switch {
	case b[0] == 0xff && b[1] == 0xfe:
		b = b[2:]
	case b[0] == 0xfe && b[1] == 0xff:
		b, low = b[2:], 1
	case b[0] != 0 && b[1] == 0:
	case b[0] == 0 && b[1] != 0:
		low = 1
	default:
		return b
	}
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		units = append(units, uint16(b[low])|uint16(b[1-low])<<8)
	}
	return []byte(string(utf16.Decode(units)))
}

// uncoloured takes the escape sequences of terminals out: colours, titles,
// movements of the cursor.
func uncoloured(b []byte) []byte {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		plain, rest, found := bytes.Cut(b, []byte{0x1b})
		out = append(out, plain...)
		if !found {
			break
		}
		b = rest[escape(rest):]
	}
	return out
}

// escape returns how long the sequence is that b begins with, behind its ESC.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '[': // up to its final byte
		for i := 1; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x7e {
				return i // it was cut off
			}
		}
		return len(b)
	case ']', 'P', '_', '^': // up to BEL or ESC \, on one line
		switch i := bytes.IndexAny(b, "\x07\x1b\n"); {
		case i > 0 && b[i] == 0x07:
			return i + 1
		case i > 0 && bytes.HasPrefix(b[i:], []byte("\x1b\\")):
			return i + 2
		}
		// It has no end, and nothing behind it may be lost. Another ESC ends the
		// search, as terminals do it: else many of them cost the square of their number.
	}
	return 1
}
