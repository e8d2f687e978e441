// Package e2e runs the real client against a scripted model: what the model
// says is written down beforehand, everything else is as in life. The client
// loads its settings, starts hooks, asks for permission, runs tools and writes
// its transcript; no account and no network beyond the loopback interface are
// needed.
//
// The tests have the build tag e2e and need the client's program:
//
//	e2e/install-client.sh
//	go test -tags e2e ./e2e/
//
// CLAUDE_BIN names another program. Without one the tests are skipped, unless
// E2E_REQUIRE=1 is set.
package e2e
