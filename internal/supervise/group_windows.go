package supervise

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A handle is what this system needs to hold on to a child: a job object, which
// holds the child and all that it starts.
type handle struct {
	job   windows.Handle
	state *os.ProcessState
}

func (h *handle) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// attach puts the child into a job of its own that ends with us. What the child
// started in the instant before is not in it.
func (h *handle) attach(cmd *exec.Cmd) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, _ = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))) //nolint:gosec // the call takes a pointer to the struct
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid)) //nolint:gosec // process ids fit
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	defer func() { _ = windows.CloseHandle(p) }()
	if windows.AssignProcessToJobObject(job, p) != nil {
		_ = windows.CloseHandle(job)
		return
	}
	h.job = job
}

func (h *handle) release() {
	if h.job != 0 {
		_ = windows.CloseHandle(h.job)
	}
}

// term ends the child at once: there is no way to ask here.
func (c *child) term() { c.kill() }

func (c *child) kill() {
	if c.job != 0 {
		_ = windows.TerminateJobObject(c.job, exitLost)
		return
	}
	_ = c.cmd.Process.Kill()
}

// await returns when the child has exited.
func (c *child) await() { c.state, _ = c.cmd.Process.Wait() }

func (c *child) reap() *os.ProcessState { return c.state }

func status(p *os.ProcessState) (code int64, signal string) {
	if p == nil {
		return exitLost, "killed"
	}
	return int64(uint32(p.ExitCode())), "" //nolint:gosec // the system's exit codes are unsigned
}

func notProgram(err error) bool { return errors.Is(err, windows.ERROR_BAD_EXE_FORMAT) }

// readRaw reads nothing: a pipe here cannot be read without waiting.
func readRaw(uintptr, []byte) (int, error) { return 0, nil }
