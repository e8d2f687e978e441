package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// resolve returns the file that the log's path means. A symbolic link is
// followed once and for all, so that all writers lock the same file whatever
// they call it. What is there must be a regular file: a FIFO would block, a
// device would swallow the events.
func resolve(path string) (string, error) {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return resolveLink(path)
	}
	return path, regular(path, fi)
}

func resolveLink(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A link to a file that is still to be made.
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		if fi, err := os.Lstat(target); err == nil {
			return "", notRegular(target, fi.Mode()) // a chain of links that ends nowhere
		}
		return target, nil
	}
	if err != nil {
		return "", err
	}
	fi, err := os.Lstat(real)
	if err != nil {
		return "", err
	}
	return real, regular(real, fi)
}

func regular(path string, fi fs.FileInfo) error {
	if fi.Mode().IsRegular() {
		return nil
	}
	return notRegular(path, fi.Mode())
}

// notOwnOutput refuses the file that this process's output goes to, which
// /dev/stdout leads to when that is redirected: events would stand in the answer.
func notOwnOutput(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // a log that is still to be made, or one whose fault open tells
	}
	for _, out := range []*os.File{os.Stdout, os.Stderr} { //nolint:forbidigo // asked which file it is, and no more
		if o, err := out.Stat(); err == nil && os.SameFile(o, fi) {
			return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("the output of this process goes to the same file: %w", syscall.EINVAL)}
		}
	}
	return nil
}

func notRegular(path string, mode fs.FileMode) error {
	var errno error = syscall.EINVAL
	what := "something else"
	switch {
	case mode.IsDir():
		what, errno = "a directory", syscall.EISDIR
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link that leads nowhere"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("not a regular file but %s: %w", what, errno)}
}

// openFile opens or makes a regular file of ours for reading and writing, with
// mode 0600 whatever the umask says, and never blocks on what is none.
func openFile(path string, flag int) (f *os.File, made bool, err error) {
	f, err = os.OpenFile(path, flag|os.O_RDWR|openGuard, 0) //nolint:gosec // the configured log
	if errors.Is(err, fs.ErrNotExist) {
		made = true
		f, err = os.OpenFile(path, flag|os.O_RDWR|os.O_CREATE|os.O_EXCL|openGuard, 0o600) //nolint:gosec // the configured log
		if errors.Is(err, fs.ErrExist) {
			made = false                                            // somebody was faster
			f, err = os.OpenFile(path, flag|os.O_RDWR|openGuard, 0) //nolint:gosec // the configured log
		}
	}
	if err != nil {
		return nil, false, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = regular(path, fi)
	}
	if err == nil && made && fi.Mode().Perm() != 0o600 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		_ = f.Close()
		return nil, false, err
	}
	return f, made, nil
}
