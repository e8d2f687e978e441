package observe

import "strings"

// The sentences in which the host tells the model what stopped a call, as
// client 2.1.328 writes them.
const (
	hookErrorMark = " hook error: "
	failedMark    = `failed; blocking because onFailure is "block"`
	timedOutMark  = `timed out; blocking because onFailure is "block"`
	silentMark    = " hook did not respond before its timeout"
	toolErrorMark = "<tool_use_error>"
)

// A howBlocked says how a hook's block came about.
type howBlocked int

const (
	saidNo   howBlocked = iota // exit 2 or a deny: a decision
	failed                     // onFailure is block, and the hook failed
	timedOut                   // likewise, at its timeout
	unheard                    // an SDK host did not answer; blocks in every mode
)

// A blockText is what the text of a blocked call says about the hook.
type blockText struct {
	how       howBlocked
	hookEvent string // empty when the text has no prefix
	hookName  string // such as PreToolUse:Bash
	command   string // empty for a deny in JSON: the host does not say whose it was
	rest      string // the hook's own words
	plain     bool   // it said no in plain words: the host writes the command before these, and none before those of an answer in JSON
}

// parseBlock reads the text of a tool result that may tell of a hook's block.
// known returns the command lines configured for an event, so that a command
// with a bracket of its own is still told from the words behind it; it may be
// nil.
func parseBlock(text string, known func(event, tool string) []string) (blockText, bool) {
	if event, _, ok := strings.Cut(text, silentMark); ok && isWord(event) {
		return blockText{how: unheard, hookEvent: event, rest: text}, true
	}
	var b blockText
	name, body, ok := strings.Cut(text, hookErrorMark)
	if !ok || strings.ContainsAny(name, " \n") {
		// A PermissionRequest hook that failed in block mode has no prefix.
		if b, ok = parseCommand(text, nil); !ok || b.how == saidNo {
			return blockText{}, false
		}
		return b, true
	}
	event, tool, _ := strings.Cut(name, ":")
	if !isWord(event) {
		return blockText{}, false
	}
	var commands []string
	if known != nil {
		commands = known(event, tool)
	}
	b, ok = parseCommand(body, commands)
	if !ok {
		b = blockText{how: saidNo, rest: body}
	}
	b.hookEvent, b.hookName = event, name
	return b, true
}

// parseCommand reads "[command]: words". Of several ways to read it the one
// with the longest known command is taken, else the first closing bracket.
func parseCommand(s string, known []string) (blockText, bool) {
	if !strings.HasPrefix(s, "[") {
		return blockText{}, false
	}
	command := ""
	for _, c := range known {
		if len(c) > len(command) && strings.HasPrefix(s[1:], c+"]: ") {
			command = c
		}
	}
	if command == "" {
		i := strings.Index(s, "]: ")
		if i < 0 {
			return blockText{}, false
		}
		command = s[1:i]
	}
	b := blockText{command: command, rest: s[len(command)+len("[]: "):]}
	switch {
	case startsLine(b.rest, failedMark):
		b.how = failed
	case startsLine(b.rest, timedOutMark):
		b.how = timedOut
	default:
		b.plain = true
	}
	return b, true
}

// startsLine tells whether s begins with a line that is mark.
func startsLine(s, mark string) bool {
	rest, ok := strings.CutPrefix(s, mark)
	return ok && (rest == "" || rest[0] == '\n')
}

// isWord tells whether s can be the name of a hook event.
func isWord(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// isOwn tells whether a hook's command line is one of hooktrail's own hooks,
// which record themselves.
func isOwn(command string) bool {
	words := strings.Fields(command)
	for i := 0; i+1 < len(words); i++ {
		w := strings.Trim(words[i], `"'`)
		if j := strings.LastIndexAny(w, `/\`); j >= 0 {
			w = w[j+1:]
		}
		if strings.TrimSuffix(w, ".exe") != "hooktrail" {
			continue
		}
		for _, next := range words[i+1:] {
			switch next = strings.Trim(next, `"'`); {
			case next == "hook" || next == "run":
				return true
			case strings.HasPrefix(next, "-"):
			default:
				return false
			}
		}
	}
	return false
}

// isOwnAnswer tells whether a reason was written by hooktrail: it names the
// program and the id of its event. Such a block is on record already.
func isOwnAnswer(text string) bool {
	return strings.Contains(text, "hooktrail") && hasEventID(text)
}

// hasEventID tells whether a UUIDv7 stands in the text.
func hasEventID(text string) bool {
	for i := 0; i+36 <= len(text); i++ {
		if text[i+8] != '-' {
			continue
		}
		u := text[i : i+36]
		if u[13] != '-' || u[14] != '7' || u[18] != '-' || u[23] != '-' {
			continue
		}
		if strings.Trim(u, "0123456789abcdef-") == "" {
			return true
		}
	}
	return false
}
