package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"hooktrail/internal/event"
)

// shellWords are what a shell runs or reads by itself.
var shellWords = sync.OnceValue(func() []string {
	return strings.Fields(`. : [ [[ ! alias bg bind break builtin caller case cd command compgen complete continue coproc declare dirs disown do done echo elif else
		enable env esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs kill let local logout mapfile nohup popd
		printf pushd pwd read readarray readonly return select set shift shopt source suspend test then time times trap true type typeset ulimit
		umask unalias unset until wait while { }`)
})

// resolved tells whether a word stands for itself: nothing in it is filled in
// by the shell or the host.
func resolved(word string) bool {
	return word != "" && !strings.ContainsAny(word, "$`*?[]{}~=!()<>%:\\")
}

// found looks a bare name up in PATH as the host's shell would. Without a PATH
// everything counts as found.
func (c *checker) found(name string) bool {
	if c.o.Path == "" || runtime.GOOS == "windows" {
		return true
	}
	for _, dir := range filepath.SplitList(c.o.Path) {
		if !filepath.IsAbs(dir) {
			return true // found from wherever the session is
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// bare looks for a program that is named without a path.
func (c *checker) bare(e *entry, name string, s started, at *Node, path string) {
	if !resolved(name) || strings.HasPrefix(name, "-") || !s.lookup || s.shell && slices.Contains(shellWords(), name) || c.found(name) {
		return
	}
	c.add(Warning, at.Pos, path, "command-missing", fmt.Sprintf("there is no program %.80q on PATH on this machine, so the hook cannot start%s", name, unstarted(e.Event, s.held)),
		"install it, or name it by its absolute path")
}

// script looks for the file that an interpreter is to run.
func (c *checker) script(e *entry, s started, at *Node, path string) {
	words := s.words
	base := strings.TrimRight(filepath.Base(words[0]), "0123456789.")
	if !interpreter(base) {
		return
	}
	i := slices.IndexFunc(words[1:], func(w string) bool { return !plainFlag(base, w) })
	if i < 0 {
		return
	}
	name := c.expand(words[i+1])
	if !filepath.IsAbs(name) || !resolved(name) {
		return
	}
	switch info, err := os.Stat(name); {
	case err != nil && !foundBy(base, name):
		c.add(Warning, at.Pos, path, "command-missing", fmt.Sprintf("%s: %s on this machine, so the hook fails at its start%s", name, reading(err), brokenScript(e.Event, s.held)), "")
	case err == nil && info.IsDir() && isShell(base):
		c.add(Warning, at.Pos, path, "command-missing", name+" is a folder", "")
	case err == nil && isShell(base) && crlf(name):
		c.add(Warning, at.Pos, path, "command-crlf", name+" has Windows line ends, which its shell takes for part of the commands", "save it with LF line ends")
	}
}

// foundBy tells whether an interpreter finds its script although there is no
// such file: some try the endings of their language.
func foundBy(base, name string) bool {
	if isShell(base) || base == "python" || base == "perl" || base == "ruby" {
		return false
	}
	return slices.ContainsFunc([]string{".js", ".mjs", ".cjs", ".json", ".node", ".ts", ".mts", ".cts", ".tsx", ".jsx"}, func(end string) bool {
		_, err := os.Stat(name + end)
		return err == nil
	})
}

// plainFlag tells whether a flag of a shell or Python neither takes a value nor
// stands for a script.
func plainFlag(program, flag string) bool {
	letters := ""
	switch base := strings.TrimRight(filepath.Base(program), "0123456789."); {
	case isShell(base):
		letters = "eulvx"
	case base == "python":
		letters = "uBIEsSOq"
	}
	return len(flag) > 1 && flag[0] == '-' && strings.Trim(flag[1:], letters) == ""
}

func interpreter(base string) bool {
	base = strings.TrimRight(base, "0123456789.")
	return isShell(base) || slices.Contains([]string{"python", "node", "bun", "ruby", "perl", "deno"}, base)
}

// unstarted says what comes of a hook that cannot start. Only before a call is
// there something that then goes through unguarded, and hooktrail run holds it
// back: held.
func unstarted(eventName string, held bool) string {
	if held {
		return "; hooktrail run takes that for a failure"
	}
	switch eventName {
	case event.PreToolUse:
		return ` and, without onFailure "block", lets the call run`
	case event.PermissionRequest:
		return ` and, without onFailure "block", leaves the request as it is`
	default:
		return ""
	}
}

// brokenScript says what comes of a hook whose interpreter does not find its
// script. Python ends with exit status 2 then, which a host takes for a block,
// and so does hooktrail run.
func brokenScript(eventName string, held bool) string {
	var does string
	switch eventName {
	case event.PreToolUse:
		if held {
			return "; hooktrail run takes the interpreter's exit status for a block (2) or a failure"
		}
		return `; by the interpreter's exit status the host blocks every call (2) or, without onFailure "block", lets it run`
	case "UserPromptSubmit":
		does = "drops every prompt"
	case "Stop", "SubagentStop":
		does = "never lets the turn end"
	case "PostToolBatch":
		does = "ends every turn"
	case "ConfigChange":
		does = "refuses every change"
	default:
		return unstarted(eventName, held)
	}
	return fmt.Sprintf("; by the interpreter's exit status the host %s (2) or goes on without it", does)
}
