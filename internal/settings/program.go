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

// bare looks for a program that an entry names without a path.
func (c *checker) bare(e *entry, name string, at *Node, path string, exec bool) {
	if !resolved(name) || strings.HasPrefix(name, "-") || !exec && slices.Contains(shellWords(), name) || c.found(name) {
		return
	}
	c.add(Warning, at.Pos, path, "command-missing", fmt.Sprintf("there is no program %.80q on PATH on this machine, so the hook cannot start%s", name, unstarted(e.Event)),
		"install it, or name it by its absolute path")
}

// script looks for the file that an interpreter is to run.
func (c *checker) script(e *entry, at *Node, path string) {
	words := e.words
	if !interpreter(filepath.Base(words[0])) {
		return
	}
	for _, w := range words[1:] {
		if plainFlag(words[0], w) {
			continue
		}
		if f := c.expand(w); filepath.IsAbs(f) && resolved(f) {
			c.file1(e, f, at, path, false)
		}
		return
	}
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
// there something that then goes through unguarded.
func unstarted(eventName string) string {
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
// script. Python ends with exit status 2 then, which a host takes for a block.
func brokenScript(eventName string) string {
	var does string
	switch eventName {
	case event.PreToolUse:
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
		return unstarted(eventName)
	}
	return fmt.Sprintf("; by the interpreter's exit status the host %s (2) or goes on without it", does)
}
