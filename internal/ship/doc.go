// Package ship takes the audit log to NATS JetStream.
//
// The log file is the write-ahead log, and there is one path from it to the
// stream: a reader that knows its place, a publisher with a bounded window, and
// a cursor that moves only over lines the server has acknowledged. The hook's
// inline shipping, the ship command and serve all take this path.
//
// # What it promises
//
// At least once: a line counts as shipped when its PubAck has come, never
// before. Effectively once: the header Nats-Msg-Id is the event's id, so the
// stream drops a copy that comes within its window; a copy that would come later
// (a lost cursor, a crash between acknowledgement and cursor) is found by asking
// the stream first, where the account may. Lines of one log arrive in the log's
// order. One shipper works on a cursor at a time; others give way.
//
// # What it refuses
//
// It never changes the log, never delays an answer beyond the budget it is
// given, never waits without a bound, never prints, and never shows a password.
// It does not make a stream unless it is told to by name, since a stream made by
// a hook would have nobody's idea of retention.
//
// # The cursor
//
// A small JSON file: the id of the first record of the file in which the last
// shipped line stands, the line's sequence number, the offset behind it, its
// length and its SHA-256. An inode says nothing (it is reused), an offset alone
// says little (files shrink), so the place is believed only when the line in
// front of it has that hash. Otherwise the log is read from its start, and what
// the stream already has is left out.
package ship
