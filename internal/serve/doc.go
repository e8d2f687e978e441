// Package serve is the HTTP hook endpoint: the same flow as the hook command,
// for hosts that call a URL instead of starting a process.
//
// # What it promises
//
// A call with the right token is answered with status 200 whatever happens
// behind it, a panic and an overload included, because every other status lets
// a call run on hosts that do not block on failure. The body is the answer's
// JSON, or empty when nothing is held back. Nothing is answered before its event
// is on disk; the events of calls that come at once share one write and one
// sync. A stop waits for the calls under way.
//
// # What it refuses
//
// A missing or wrong token gets 401 and leaves no event: whoever cannot prove to
// be the host cannot fill the log. It listens on loopback or a Unix socket;
// another address needs a word of its own, since the token goes over the wire as
// it is. It decides nothing and prints nothing.
package serve
