//go:build unix

package supervise

import (
	"os"
	"os/signal"
	"syscall"
)

func raise(n int) {
	signal.Reset(syscall.Signal(n))
	_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
	select {}
}

func ignoreTerm() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP) }
