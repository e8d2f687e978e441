package ship

import (
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// originalHeader holds the SHA-256 of the log's line when the message carries
// less than the line, so that the two can still be compared.
const originalHeader = "Hooktrail-Original-Sha256"

// message makes the message of a line for a server that takes limit bytes,
// headers included. short tells that it is less than the line. A nil message
// means that not even the core fits.
func message(o *Options, l *line, limit int64) (msg *nats.Msg, short bool) {
	h := nats.Header{
		jetstream.MsgIDHeader:          []string{l.meta.EventID},
		jetstream.ExpectedStreamHeader: []string{o.Stream},
	}
	msg = &nats.Msg{Subject: Subject(o.Subject, l.meta), Header: h, Data: l.bytes}
	if headerSize(h)+int64(len(l.bytes)) <= limit {
		return msg, false
	}
	h[originalHeader] = []string{lineHash(l.bytes)}
	data, ok := shorten(l.bytes, int(max(0, limit-headerSize(h))))
	if !ok {
		return nil, true
	}
	msg.Data = data
	return msg, true
}

// headerSize is what a header costs on the wire; the server counts it.
func headerSize(h nats.Header) int64 {
	n := len("NATS/1.0\r\n") + len("\r\n")
	for k, vs := range h {
		for _, v := range vs {
			n += len(k) + len(": ") + len(v) + len("\r\n")
		}
	}
	return int64(n)
}
