package settings

import (
	"sort"
	"strconv"
	"strings"
)

// A Severity says how bad a finding is.
type Severity string

// The severities. An error means that a hook or a rule does not do what the
// file says; a warning that it probably does not mean what its author thought.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// A Finding is one thing to be said about a file. Its fields and codes are an
// interface to the outside: they are only ever added.
type Finding struct {
	File     string   `json:"file"`
	Layer    string   `json:"layer,omitempty"` // user, project, local, managed, plugin; empty when not known
	Path     string   `json:"path"`            // JSON Pointer, "" is the whole file
	Line     int      `json:"line"`            // from 1; 0 when the file could not be read
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint"`
}

// String returns the finding as FILE:LINE:COL: severity: text [code].
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		b.WriteString(":" + strconv.Itoa(f.Line) + ":" + strconv.Itoa(f.Column))
	}
	b.WriteString(": " + string(f.Severity) + ": ")
	if p := Dotted(f.Path); p != "" {
		b.WriteString(p + ": ")
	}
	b.WriteString(f.Message + " [" + f.Code + "]")
	return b.String()
}

// Dotted writes a JSON Pointer as people write paths: hooks.PreToolUse[0].
func Dotted(pointer string) string {
	var b strings.Builder
	for _, t := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		t = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
		switch _, err := strconv.ParseUint(t, 10, 31); {
		case err == nil && b.Len() > 0:
			b.WriteString("[" + t + "]")
		case b.Len() > 0:
			b.WriteString("." + t)
		default:
			b.WriteString(t)
		}
	}
	return b.String()
}

// pointer appends a name to a JSON Pointer.
func pointer(p, name string) string {
	return p + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func index(p string, i int) string { return p + "/" + strconv.Itoa(i) }

// sortFindings orders findings so that the order in which files were named
// makes no difference.
func sortFindings(all []Finding) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		switch {
		case a.File != b.File:
			return a.File < b.File
		case a.Line != b.Line:
			return a.Line < b.Line
		case a.Column != b.Column:
			return a.Column < b.Column
		case a.Code != b.Code:
			return a.Code < b.Code
		default:
			return a.Message < b.Message
		}
	})
}
