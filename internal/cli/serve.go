package cli

import "context"

func runServe(context.Context, *Stdio, []string) int { return exitFailure }
