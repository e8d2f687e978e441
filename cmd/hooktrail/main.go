// Command hooktrail guards the tool calls of AI coding agents and records them.
//
// The exit status of "hook" and "run" is part of the interface: 0 means that
// standard output holds the answer or nothing, 2 means that the call is
// blocked. They use no other status, because hosts let a call run on any other.
package main

import (
	"context"
	"os"

	"hooktrail/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.OS()))
}
