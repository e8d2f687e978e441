package cli

import (
	"fmt"
	"time"

	"hooktrail/internal/reason"
)

// setupTime bounds what comes before a hook's own deadlines: reading secrets and
// certificates. A file system that hangs would otherwise end in the host's
// timeout, which lets the call run.
const setupTime = 5 * time.Second

// within returns what f returns, or an error when that takes longer than limit.
// A panic is an error, too.
func within[T any](limit time.Duration, what string, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = reason.Wrap(reason.ConfigInvalid, what, fmt.Errorf("panic: %v", p))
			}
			done <- r
		}()
		r.v, r.err = f()
	}()
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case r := <-done:
		return r.v, r.err
	case <-patience.C:
		var none T
		return none, reason.Wrap(reason.ConfigInvalid, what, fmt.Errorf("a file that it needs did not answer within %s", limit))
	}
}
