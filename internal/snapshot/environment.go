package snapshot

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"hooktrail/internal/reason"
)

// systemPath is where programs are looked for. On Windows, whose folders have no
// fixed names, it is the PATH that there is.
func systemPath() string {
	switch runtime.GOOS {
	case "windows":
		return os.Getenv("PATH")
	case "darwin":
		return "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	default:
		return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
}

// kept are the variables that a command gets unasked, beside HOME and PATH. None of
// them says what is run, or whom to ask.
func kept() []string {
	names := []string{"USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC")
	}
	return names
}

// home is the folder of the user that we run as. Tools read there whom to ask, so
// the variable counts only where the system does not know the user.
func home(getenv func(string) string) string {
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return getenv("HOME")
}

// environment is that of the command. What is named comes last, and so wins.
func environment(named []string, getenv func(string) string) ([]string, error) {
	env := []string{"PATH=" + systemPath(), "HOME=" + home(getenv)}
	for _, name := range append(kept(), named...) {
		if name == "" || name == "PATH" || strings.ContainsAny(name, "=\x00") {
			return nil, reason.Wrap(reason.ConfigInvalid, fmt.Sprintf("exec.env: %q cannot be passed on", name), nil)
		}
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env, nil
}

// find returns the path of a program that has none in its name, or the name when
// there is no such program. A path from our working folder, which is the project,
// finds none: configurations have theirs from their own folder.
func find(name string) string {
	if strings.ContainsRune(filepath.ToSlash(name), '/') {
		return name
	}
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = append(names, name+".exe", name+".cmd", name+".bat")
	}
	for _, dir := range filepath.SplitList(systemPath()) {
		for _, n := range names {
			p := filepath.Join(dir, n)
			if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && (runtime.GOOS == "windows" || fi.Mode().Perm()&0o111 != 0) && filepath.IsAbs(p) {
				return p
			}
		}
	}
	return name
}
