package settings

import (
	"slices"
	"strings"
	"unicode"

	"hooktrail/internal/event"
)

// meantEvent returns the known event that a misspelt name means, or "". A name
// that is only unknown may be an event of a newer host.
func meantEvent(name string) string {
	known := event.Known()
	if k, _ := qualified(name); k != "" {
		return k
	}
	flat := words(name)
	for _, k := range known {
		if words(k) == flat {
			return k
		}
	}
	switch flat {
	case "pretool":
		return "PreToolUse"
	case "posttool":
		return "PostToolUse"
	case "userprompt", "promptsubmit", "userpromptsubmitted", "preprompt":
		return "UserPromptSubmit"
	}
	for _, k := range known {
		if rest, ok := strings.CutPrefix(flat, words(k)); ok && slices.Contains([]string{"s", "d", "ed", "ing", "ion", "ped", "event", "hook", "hooks"}, rest) {
			return k
		}
	}
	return nearest(name, known)
}

// qualified takes a name apart that some guides teach: an event and what it is
// to be limited to, such as "PostToolUse:Write" or "PreToolUse(Bash)".
func qualified(name string) (eventName, matcher string) {
	i := strings.IndexAny(name, ":([./ ")
	if i < 0 || !slices.Contains(event.Known(), name[:i]) {
		return "", ""
	}
	return name[:i], strings.Trim(name[i:], ":()[]./ ")
}

// synonyms are the words that other tools and older guides use.
var synonyms = map[string]string{
	"before": "pre", "after": "post", "call": "use", "calls": "use", "called": "use", "used": "use", "uses": "use", "usage": "use",
	"invoke": "use", "invocation": "use", "execute": "use", "execution": "use", "exec": "use", "run": "use", "tools": "tool",
}

// words flattens a name to its words in lower case, synonyms replaced.
func words(name string) string {
	var b strings.Builder
	var w []rune
	flush := func() {
		s := strings.ToLower(string(w))
		if t, ok := synonyms[s]; ok {
			s = t
		}
		b.WriteString(s)
		w = w[:0]
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = !unicode.IsUpper(r)
		w = append(w, r)
	}
	flush()
	return b.String()
}

// nearest returns the one of names that is at most two edits away (one for
// short names), or "".
func nearest(name string, names []string) string {
	if len(name) > 64 {
		return ""
	}
	best, at := "", 3
	for _, k := range names {
		limit := 2
		if len(k) < 7 {
			limit = 1
		}
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d <= limit && d < at {
			best, at = k, d
		}
	}
	return best
}

// distance counts the edits between two names: a letter put in, left out,
// changed, or two neighbours swapped.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	prev2, prev, cur := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		cur[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(t)]
}
