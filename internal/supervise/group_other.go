//go:build unix && !linux

package supervise

import (
	"os"
	"os/exec"
	"syscall"
)

// A handle is what this system needs to hold on to a child.
type handle struct {
	state *os.ProcessState
}

// prepare gives the child a group of its own.
func (h *handle) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// await returns when the child has exited.
func (c *child) await() { c.state, _ = c.cmd.Process.Wait() }

func (c *child) reap() *os.ProcessState { return c.state }
