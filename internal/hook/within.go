package hook

import "time"

// Within returns what f makes. With ok false that takes longer than d, and f is
// still at work: a file system that hangs cannot be interrupted. A panic of f is
// the caller's.
func Within[T any](d time.Duration, f func() T) (made T, ok bool) {
	done, broke := make(chan T, 1), make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				broke <- p
			}
		}()
		done <- f()
	}()
	patience := time.NewTimer(d)
	defer patience.Stop()
	select {
	case made = <-done:
		return made, true
	case p := <-broke:
		panic(p)
	case <-patience.C:
		return made, false
	}
}
