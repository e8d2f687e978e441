package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

// The exit codes of a child that did not run, as shells and timeout(1) give
// them. exitLost is that of a child that did not even end after KILL.
const (
	exitNotFound  = 127
	exitNoExecute = 126
	exitNoTime    = 124
	exitLost      = 128 + 9
)

// A startFault says why a program did not run.
type startFault struct {
	code int64
	text string
}

func (f *startFault) result() Result {
	return Result{ExitCode: f.code, StartError: f.text}
}

// launch starts the program with pipes on all three streams.
func launch(s Spec) (*child, *pipes, *startFault) {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return nil, nil, &startFault{exitNotFound, "no command was given"}
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...) //nolint:gosec // running the user's own hook is the purpose
	if cmd.Err != nil {
		return nil, nil, lookupFault(s.Command[0], cmd.Err)
	}
	cmd.Env, cmd.Dir = s.Env, s.Dir
	p, err := openPipes(s.MaxOutput)
	if err != nil {
		return nil, nil, &startFault{exitNoExecute, fmt.Sprintf("open pipes: %v", err)}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.theirs[0], p.theirs[1], p.theirs[2]
	c := &child{cmd: cmd}
	c.prepare(cmd)
	err = cmd.Start()
	p.closeTheirs()
	if err != nil {
		p.abandon()
		return nil, nil, execFault(cmd.Path, err)
	}
	c.attach(cmd)
	p.start(s.Stdin)
	return c, p, nil
}

// lookupFault explains why no program was found under a name.
func lookupFault(name string, err error) *startFault {
	switch {
	case errors.Is(err, exec.ErrDot):
		return &startFault{exitNotFound, fmt.Sprintf("%q is in the current folder only, which is not searched; write ./ or the full path", name)}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &startFault{exitNotFound, fmt.Sprintf("%q: no such file or command was found", name)}
	default:
		return &startFault{exitNoExecute, fmt.Sprintf("%q: %v", name, bare(err))}
	}
}

// execFault explains why a program that was found could not be executed. A
// script without a "#!" line is refused, not handed to some shell: it is not for
// us to guess its language.
func execFault(path string, err error) *startFault {
	fi, gone := os.Stat(path)
	switch {
	case gone == nil && fi.IsDir():
		return &startFault{exitNoExecute, fmt.Sprintf("%q: this is a folder", path)}
	case errors.Is(err, fs.ErrPermission):
		return &startFault{exitNoExecute, fmt.Sprintf("%q: permission denied; is it executable?", path)}
	case errors.Is(err, fs.ErrNotExist) && errors.Is(gone, fs.ErrNotExist):
		return &startFault{exitNotFound, fmt.Sprintf("%q: no such file", path)}
	case errors.Is(err, fs.ErrNotExist):
		return &startFault{exitNoExecute, fmt.Sprintf("%q: its interpreter was not found; see its first line, and that it does not end in CR LF", path)}
	case notProgram(err):
		return &startFault{exitNoExecute, fmt.Sprintf("%q: not a program for this machine; a script needs a #! line", path)}
	default:
		return &startFault{exitNoExecute, fmt.Sprintf("%q: %v", path, bare(err))}
	}
}

// bare strips the operation and the path that the message names already.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var ee *exec.Error
	if errors.As(err, &ee) {
		return ee.Err
	}
	return err
}
