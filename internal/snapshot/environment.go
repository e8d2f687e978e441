package snapshot

import (
	"fmt"
	"os"
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

// kept are the variables that a command gets unasked. None of them says what is
// run, or whom to ask.
func kept() []string {
	names := []string{"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC")
	}
	return names
}

// environment is that of the command.
func environment(named []string, getenv func(string) string) ([]string, error) {
	env := []string{"PATH=" + systemPath()}
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
// there is no such program.
func find(name string) string {
	if strings.ContainsRune(filepath.ToSlash(name), '/') {
		if abs, err := filepath.Abs(name); err == nil {
			return abs
		}
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
