package settings

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A piece is a part of a shell script at its outermost level, and the operator
// that stands before it; what stands in quotes is left out.
type piece struct{ op, text string }

// pieces cuts a shell script at its operators. Of one that it cannot read,
// such as one with a here-document, ok is false.
func pieces(script string) (all []piece, ok bool) {
	var text strings.Builder
	op := ""
	cut := func(next string) {
		all = append(all, piece{op, strings.TrimSpace(text.String())})
		text.Reset()
		op = next
	}
	depth := 0
	for i := 0; i < len(script); i++ {
		r := script[i]
		rest := script[i:]
		switch {
		case r == '\\':
			i++
		case r == '\'' || r == '"' || r == '`':
			end := closing(rest)
			if end < 0 {
				return nil, false
			}
			text.WriteString("_") // a word stands here, whatever it is
			i += end
		case strings.HasPrefix(rest, "<<"):
			return nil, false
		case r == '#' && (i == 0 || strings.IndexByte(" \t\n;", script[i-1]) >= 0):
			if n := strings.IndexByte(rest, '\n'); n > 0 {
				i += n - 1
			} else {
				i = len(script)
			}
		case r == '(' || r == '{':
			depth++
			text.WriteByte(r)
		case (r == ')' || r == '}') && depth > 0:
			depth--
			text.WriteByte(r)
		case depth > 0:
			text.WriteByte(r)
		case strings.HasPrefix(rest, "||"), strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "|&"):
			cut(rest[:2])
			i++
		case r == '&' && (i+1 < len(script) && script[i+1] == '>' || i > 0 && (script[i-1] == '>' || script[i-1] == '<')):
			text.WriteByte(r)
		case r == ';' || r == '|' || r == '&' || r == '\n':
			cut(string(r))
		default:
			text.WriteByte(r)
		}
	}
	cut("")
	return all, depth == 0
}

// closing returns where the quote ends with which s begins, or -1.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '\'':
			i++
		case s[i] == s[0]:
			return i
		}
	}
	return -1
}

// decides finds what makes a status after all: an exit of its own, exec, and
// the shell's options for it.
var decides = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(exit|return)\s+([1-9$_]|0[0-9])|(^|[;&|\s])exec\s|\bset\s+-\w*e|\berrexit\b|\bpipefail\b|\btrap\s`)
})

// passing are programs at the end of a pipe whose status is not the hook's.
var passing = []string{"cat", "tee", "head", "tail", "logger", "sed", "tr", "cut", "sort", "less", "more", "ts", "true", ":"}

// succeeding are programs that always succeed.
var succeeding = []string{"true", ":", "echo", "printf"}

// swallows returns the part of a shell script by which the status of what it
// runs is lost, or "".
func swallows(script string) string {
	all, ok := pieces(script)
	if !ok {
		return ""
	}
	var plain []string
	for _, p := range all {
		plain = append(plain, p.text)
	}
	if decides().MatchString(strings.Join(plain, "\n")) {
		return ""
	}
	for len(all) > 1 && all[len(all)-1].text == "" {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		if last.op == "&" {
			return "&"
		}
	}
	last := all[len(all)-1]
	words := strings.Fields(last.text)
	if len(all) < 2 || len(words) == 0 {
		return ""
	}
	name := filepath.Base(words[0])
	zero := name == "exit" && len(words) > 1 && words[1] == "0"
	switch last.op {
	case "||":
		if zero || slices.Contains(succeeding, name) {
			return "|| " + last.text
		}
	case ";", "\n", "&":
		if zero || name == "true" || name == ":" {
			return "; " + last.text
		}
	case "|", "|&":
		if slices.Contains(passing, name) {
			return "| " + last.text
		}
	}
	return ""
}

// swallowed returns how an entry's shell loses the status of its command, or "".
func swallowed(e *entry) string {
	n := e.node
	_, exec := argv(n)
	if foreignShell(n) {
		return ""
	}
	if how := swallows(text(n, "command")); how != "" && !exec && !answers(text(n, "command")) {
		return how
	}
	if inner := shellScript(e.words); !answers(inner) {
		return swallows(inner)
	}
	return ""
}

// answers tells whether a script writes an answer in JSON by itself, with which
// it can block whatever its status is.
func answers(script string) bool { return strings.Contains(script, "ecision") }

// shellScript returns the script that sh -c and the like are given, also under
// hooktrail run, or "".
func shellScript(words []string) string {
	if i := slices.Index(words, "--"); i >= 0 && len(words) > 0 && isHooktrail(words[0]) {
		words = words[i+1:]
	}
	if len(words) < 3 || !isShell(filepath.Base(words[0])) {
		return ""
	}
	for i, w := range words[1 : len(words)-1] {
		if !strings.HasPrefix(w, "-") {
			return ""
		}
		if strings.HasSuffix(w, "c") && !strings.HasPrefix(w, "--") {
			if strings.Contains(w, "e") {
				return ""
			}
			return words[i+2]
		}
	}
	return ""
}

func isShell(base string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ksh"}, base)
}
