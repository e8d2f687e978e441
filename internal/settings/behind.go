package settings

import (
	"path/filepath"
	"slices"
	"strings"
)

// A started is a program that an entry starts, itself or through another one.
type started struct {
	words  []string
	shell  bool // a shell reads them, so its own words are no programs
	lookup bool // names without a path are looked up on the PATH that is known
	held   bool // it runs below hooktrail run, which sees it fail
}

// starts follows a command line through the programs that only start another
// one, such as timeout and env. It ends where it is not certain what runs.
func starts(words []string, exec bool) []started {
	var all []started
	s := started{words: words, shell: !exec, lookup: true}
	for range 8 {
		if s.shell {
			s.assigned()
		}
		if len(s.words) == 0 {
			break
		}
		all = append(all, s)
		next, ok := s.behind()
		if !ok {
			break
		}
		s = next
	}
	return all
}

// assigned drops what a shell reads before the program's name.
func (s *started) assigned() {
	for len(s.words) > 0 {
		name, _, _ := strings.Cut(s.words[0], "=")
		switch {
		case assignment().MatchString(s.words[0]):
			s.lookup = s.lookup && name != "PATH"
		case name == "exec" || name == "command":
			if len(s.words) > 1 && strings.HasPrefix(s.words[1], "-") {
				s.words = nil // a flag: perhaps nothing is run at all
				return
			}
		default:
			return
		}
		s.words = s.words[1:]
	}
}

// behind returns what the program starts in its turn. ok is false when it is no
// such program or when that cannot be told.
func (s *started) behind() (next started, ok bool) {
	base := strings.TrimSuffix(filepath.Base(s.words[0]), ".exe")
	next = started{lookup: s.lookup, held: s.held}
	switch base {
	case "timeout", "gtimeout":
		next.words, ok = operands(s.words[1:], "sk", "signal kill-after", "v", "foreground preserve-status verbose", 1)
	case "nice":
		next.words, ok = operands(s.words[1:], "n", "adjustment", "0123456789", "", 0)
	case "nohup":
		next.words, ok = operands(s.words[1:], "", "", "", "", 0)
	case "setsid":
		next.words, ok = operands(s.words[1:], "", "", "cfw", "ctty fork wait", 0)
	case "stdbuf":
		next.words, ok = operands(s.words[1:], "ioe", "input output error", "", "", 0)
	case "env":
		next.words, ok = operands(s.words[1:], "uC", "unset chdir", "i", "ignore-environment", 0)
		for ok && len(next.words) > 0 && strings.Contains(next.words[0], "=") {
			next.lookup = next.lookup && !strings.HasPrefix(next.words[0], "PATH=")
			next.words = next.words[1:]
		}
		plain := len(s.words) > 1 && !strings.HasPrefix(s.words[1], "-")
		next.lookup = next.lookup && plain // a flag may take PATH away
	case "hooktrail":
		i := slices.Index(s.words, "--")
		if ok = i > 1 && s.words[1] == "run"; ok {
			next.words, next.held = s.words[i+1:], true
		}
	default:
		var script string
		if script, next.lookup, ok = inlineScript(s.words); ok {
			next.words, next.shell, next.lookup = splitShell(script), true, next.lookup && s.lookup
		}
	}
	return next, ok && len(next.words) > 0
}

// operands skips the flags of a program and then n operands. ok is false on a
// flag that is not listed: it might take a value. Valued and plain are the
// letters of flags, valuedLong and plainLong their long names.
func operands(words []string, valued, valuedLong, plain, plainLong string, n int) (rest []string, ok bool) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		w := words[0]
		words = words[1:]
		long, isLong := strings.CutPrefix(w, "--")
		name, _, eq := strings.Cut(long, "=")
		switch {
		case w == "--":
			return words[min(n, len(words)):], true
		case w == "-":
			return nil, false
		case isLong && slices.Contains(strings.Fields(plainLong), name) && !eq:
		case isLong && slices.Contains(strings.Fields(valuedLong), name):
			if !eq {
				words = words[min(1, len(words)):]
			}
		case isLong:
			return nil, false
		case strings.ContainsRune(valued, rune(w[1])):
			if len(w) == 2 {
				words = words[min(1, len(words)):]
			}
		case strings.Trim(w[1:], plain) != "":
			return nil, false
		}
	}
	return words[min(n, len(words)):], true
}

// inlineScript returns the script that a shell is given with -c. A shell that
// reads its profile first may find other programs: lookup is false then.
func inlineScript(words []string) (script string, lookup, ok bool) {
	if !isShell(filepath.Base(words[0])) {
		return "", false, false
	}
	lookup = true
	for i, w := range words[1:] {
		letters, flag := strings.CutPrefix(w, "-")
		if !flag || letters == "" || strings.Trim(letters, "ceuvxil") != "" {
			return "", false, false
		}
		lookup = lookup && !strings.ContainsAny(letters, "il")
		if strings.Contains(letters, "c") && i+2 < len(words) {
			return words[i+2], lookup, true
		}
	}
	return "", false, false
}
