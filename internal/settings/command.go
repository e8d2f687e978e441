package settings

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hooktrail/internal/regular"
)

// argv returns the words that an entry runs, and whether they are exact: an
// entry in exec form has them, a shell command only when it is simple.
func argv(n *Node) (words []string, exec bool) {
	cmd := n.Get("command")
	if !cmd.IsString() {
		return nil, false
	}
	if args := n.Get("args"); args.IsList() {
		words = append(words, cmd.Text)
		for _, a := range args.Items {
			words = append(words, a.Text)
		}
		return words, true
	}
	return splitShell(cmd.Text), false
}

// splitShell splits a simple shell command into its words, quotes taken off. It
// stops at the first operator; of a command that it cannot read, or that begins
// with a function or a subshell, it returns nil.
func splitShell(s string) []string {
	var words []string
	var w strings.Builder
	in, quote := false, rune(0)
	flush := func() {
		if in {
			words = append(words, w.String())
		}
		w.Reset()
		in = false
	}
	escaped, comment := false, false
	for _, r := range s {
		switch {
		case comment:
			comment = r != '\n'
		case escaped:
			escaped = false
			if r != '\n' { // else the line goes on
				w.WriteRune(r)
				in = true
			}
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				w.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			flush()
			if r == '\n' && len(words) > 0 {
				return words
			}
		case r == '(' && len(words) == 0:
			return nil
		case r == '#' && !in:
			comment = true
			if len(words) > 0 {
				return words
			}
		case strings.ContainsRune(";|&<>()", r):
			flush()
			return words
		default:
			w.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil
	}
	flush()
	return words
}

var assignment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*=`) })

// program drops what stands before the program itself: assignments, exec, env.
func program(words []string) []string {
	for len(words) > 0 && (assignment().MatchString(words[0]) || words[0] == "exec" || words[0] == "env" || words[0] == "nohup" || words[0] == "command") {
		words = words[1:]
	}
	return words
}

// command looks at what an entry of type command runs.
func (c *checker) command(e *entry) {
	if e.Type != "command" {
		e.Command = label(e.node)
		return
	}
	words, exec := argv(e.node)
	e.words = program(words)
	e.Command = label(e.node)
	at := e.node.Get("command")
	path := pointer(e.Path, "command")
	if len(e.words) > 0 && !c.o.watched && c.wording(e, at, path, exec) && !foreignShell(e.node) {
		c.runnable(e, words, at, path, exec)
	}
	c.budget(e, at, path)
}

// label says in one line what an entry runs.
func label(n *Node) string {
	for _, k := range []string{"command", "url", "tool", "prompt"} {
		if v := n.Get(k); v.IsString() {
			s := v.Text
			if words, exec := argv(n); exec && k == "command" {
				s = strings.Join(words, " ")
			}
			if k == "tool" && n.Get("server").IsString() {
				s = n.Get("server").Text + "/" + s
			}
			return s
		}
	}
	return ""
}

// runnable looks for the files that an entry starts, behind programs that only
// start another one, too. A relative path says nothing: it is found from
// wherever the session happens to be.
func (c *checker) runnable(e *entry, words []string, at *Node, path string, exec bool) {
	for i, s := range starts(words, exec) {
		name := c.expand(s.words[0])
		switch {
		case len(name) > 2 && name[1] == ':' && name[2] == '\\':
			return
		case !strings.Contains(name, "/"):
			c.bare(e, name, s, at, path)
		case !filepath.IsAbs(name) || strings.ContainsAny(name, "$`*?"):
		case i == 0 && !exec && c.split(name, at, path):
			return
		default:
			c.file1(e, name, s.held, at, path)
		}
		c.script(e, s, at, path)
	}
}

// split finds a path with a space that the shell splits.
func (c *checker) split(name string, at *Node, path string) bool {
	full := spaced(c.expand(at.Text))
	if full != "" {
		c.add(Warning, at.Pos, path, "command-unquoted", fmt.Sprintf("the shell splits %q at its space and runs %q (exit status 127)", full, name), `quote the path, or use exec form with "args": []`)
	}
	return full != ""
}

// file1 looks at one file that is to be executed, held below hooktrail run or
// not.
func (c *checker) file1(e *entry, name string, held bool, at *Node, path string) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		c.add(Warning, at.Pos, path, "command-missing", fmt.Sprintf("%s: %s on this machine, so the hook cannot start%s", name, reading(err), unstarted(e.Event, held)), "")
	case info.IsDir():
		c.add(Warning, at.Pos, path, "command-missing", name+" is a folder", "")
	case info.Mode()&0o111 == 0:
		c.add(Warning, at.Pos, path, "command-not-executable", name+" is not executable (exit status 126)", "chmod +x "+name)
	case crlf(name):
		c.add(Warning, at.Pos, path, "command-crlf", name+" has Windows line ends in its first line, so its interpreter is not found", "save it with LF line ends")
	}
}

// crlf tells whether a script's first line names its interpreter and ends in CRLF.
func crlf(name string) bool {
	f, err := regular.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // read only
	line, err := bufio.NewReaderSize(f, 512).ReadSlice('\n')
	return err == nil && strings.HasPrefix(string(line), "#!") && strings.HasSuffix(string(line), "\r\n")
}

// spaced returns the existing file that a shell command names without quotes
// although its path has a space, or "".
func spaced(cmd string) string {
	if !strings.HasPrefix(cmd, "/") || strings.ContainsAny(cmd, `'"\`) {
		return ""
	}
	parts := strings.Split(cmd, " ")
	if _, err := os.Stat(parts[0]); err == nil {
		return ""
	}
	for i := 2; i <= min(len(parts), 12); i++ {
		p := strings.Join(parts[:i], " ")
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return p
		}
	}
	return ""
}
