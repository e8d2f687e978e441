package supervise

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A handle is what this system needs to hold on to a child.
type handle struct {
	state *os.ProcessState // set only where the child had to be reaped early
}

// prepare gives the child a group of its own, and has it killed when we die
// before it: nobody would end it then.
func (h *handle) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// await returns when the child has exited. The child stays a zombie, so that
// its group keeps its number until it has been killed.
func (c *child) await() {
	for {
		err := unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			c.state, _ = c.cmd.Process.Wait()
		}
		return
	}
}

// reap takes the exit status of a child that has exited.
func (c *child) reap() *os.ProcessState {
	if c.state == nil {
		c.state, _ = c.cmd.Process.Wait()
	}
	return c.state
}
