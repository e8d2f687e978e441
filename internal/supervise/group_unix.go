//go:build unix

package supervise

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// term asks the whole group to end.
func (c *child) term() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM) }

// kill ends the whole group. It must come before the leader is reaped: until
// then nobody else can have its number.
func (c *child) kill() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) }

func (h *handle) attach(*exec.Cmd) {}
func (h *handle) release()         {}

// status returns the exit code as a shell would see it.
func status(p *os.ProcessState) (code int64, signal string) {
	if p == nil {
		return exitLost, "killed"
	}
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int64(ws.Signal()), ws.Signal().String()
	}
	return int64(p.ExitCode()), ""
}

func notProgram(err error) bool { return errors.Is(err, syscall.ENOEXEC) }

func readRaw(fd uintptr, p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), p)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
