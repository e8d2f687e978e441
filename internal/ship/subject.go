package ship

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// DefaultStream and DefaultSubject are used where nothing else is configured.
const (
	DefaultStream  = "HOOKTRAIL_AUDIT"
	DefaultSubject = "hooktrail.audit.v1"
)

// maxToken bounds one token of a subject. Host names and words of ours are far
// below it.
const maxToken = 64

// Subject returns the subject of an event: prefix.host.layer.decision.
func Subject(prefix string, m Meta) string {
	var b strings.Builder
	b.Grow(len(prefix) + len(m.Host) + len(m.Layer) + len(m.Decision) + 3)
	b.WriteString(prefix)
	for _, t := range [...]string{m.Host, m.Layer, m.Decision} {
		b.WriteByte('.')
		b.WriteString(Token(t))
	}
	return b.String()
}

// Token makes s safe as one token of a subject: letters, digits, "_" and "-"
// stay, every other byte becomes %XX. Dots would make tokens of their own,
// spaces are refused by the server, and "*" and ">" are accepted by it and then
// read as wildcards by whoever copies the subject. A long token is cut and ends
// in a digest of the whole, an empty one is "none".
func Token(s string) string {
	if s == "" {
		return "none"
	}
	if len(s) <= maxToken && plain(s) {
		return s
	}
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if b.Len() > maxToken {
			break // it is cut below anyway
		}
		c := s[i]
		if plainByte(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	t := b.String()
	if len(t) <= maxToken {
		return t
	}
	sum := sha256.Sum256([]byte(s))
	return t[:maxToken-17] + "-" + hex.EncodeToString(sum[:8])
}

func plain(s string) bool {
	for i := range len(s) {
		if !plainByte(s[i]) {
			return false
		}
	}
	return true
}

func plainByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
