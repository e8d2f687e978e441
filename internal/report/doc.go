// Package report answers the questions people ask of an audit log: what stopped
// calls, which hooks fail, what happened to one call.
//
// It reads the log's files, rotated and gzipped ones included, once and in their
// order. Memory grows with the number of different answers, not with the log:
// per event it keeps at most eight bytes, for calls that ran. A line that cannot
// be read is counted and passed over; checking the chain is audit.Verify's work.
//
// The package prints nothing.
package report
