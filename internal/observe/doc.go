// Package observe turns the host's own records into events, so that whatever
// stopped a call can be told from whatever else might have: a hook's decision, a
// hook's failure, a permission rule, a mode, a classifier, a person.
//
// It reads four kinds of records of the same facts: the payloads of hook events,
// the session's transcript, the stream-json of SDK hosts, and the host's
// OpenTelemetry log records. Each gives the same events:
//
//	kind permission   the host refused (or a person granted) a call
//	kind callback     a hook ran: it failed, or it left a trace
//	kind log          a transcript could not be understood
//
// What it promises:
//   - A permission denial never carries a hook's reason, nor the other way round.
//   - A fact is recorded once, whichever records tell it and however often they
//     are read. A fact is told by its class (see class), counted for each source.
//   - Records may come late and in any order of sources; none is lost for it.
//   - Nothing is guessed. What a record does not say stays absent from the
//     event, and Evidence says what the event rests on.
//   - Reading is bounded in bytes and time and touches regular files only.
//
// What it cannot do: a hook that exits 0 in silence leaves no record in a
// transcript, and a hook that denies by JSON leaves no name there.
//
// The package decides nothing and never holds up an answer.
package observe
