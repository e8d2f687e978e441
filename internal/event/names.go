package event

import "strings"

// The events that the flow treats apart from others.
const (
	PreToolUse        = "PreToolUse"
	PermissionRequest = "PermissionRequest"
	ConfigChange      = "ConfigChange"
)

// known are the events of Claude Code 2.1.328.
var known = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
	"Notification", "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure",
	"SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch", "Setup",
	"Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded",
	"CwdChanged", "FileChanged", "MessageDisplay", "TeammateIdle", "TaskCreated", "TaskCompleted", "DirectoryAdded",
}

// Known returns the events of the newest host that was measured. The caller may
// change the slice.
func Known() []string { return append([]string(nil), known...) }

// IsKnown tells whether name is one of Known.
func IsKnown(name string) bool {
	for _, k := range known {
		if k == name {
			return true
		}
	}
	return false
}

// foreign are the names that other hosts give to an event before a tool call,
// with case, "_" and "-" taken out.
var foreign = map[string]string{
	"beforetool":           "Gemini CLI",
	"beforeshellexecution": "Cursor",
	"beforemcpexecution":   "Cursor",
	"beforereadfile":       "Cursor",
	"beforetabfileread":    "Cursor",
	"preruncommand":        "Windsurf",
	"prewritecode":         "Windsurf",
	"prereadcode":          "Windsurf",
	"premcptooluse":        "Windsurf",
	"pretoolcall":          "another host",
	"beforetoolcall":       "another host",
	"beforetooluse":        "another host",
	"toolexecutebefore":    "another host",
	"toolexecutionbefore":  "another host",
	"beforetoolexecution":  "another host",
	"pretoolexecution":     "another host",
	"pretool":              "another host",
	"toolcall":             "another host",
	"tool:preexecute":      "another host",
	"tool.execute.before":  "OpenCode",
}

// marks are members that only the events of another host have.
var marks = []struct{ name, host string }{
	{"agent_action_name", "Windsurf"}, {"clineVersion", "Cline"}, {"cursor_version", "Cursor"}, {"conversation_id", "Cursor"},
	{"toolArgs", "Copilot CLI"}, {"toolName", "Copilot CLI"}, {"hookEventName", "another host"}, {"hookName", "another host"},
	{"event_type", "another host"}, {"event", "another host"},
}

// HostFault returns why a value that names no event is none of ours, or "" when
// nothing in it tells whose it is.
func HostFault(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	for _, k := range marks {
		if _, ok := m[k.name]; ok {
			return "it has no hook_event_name and a " + quote(k.name) + ", as events of " + k.host + " have, which are not read here"
		}
	}
	return ""
}

// NameFault returns what is wrong with the event's name, or "". A new event of
// a newer host is no fault; a name that is a known one in another spelling is,
// and so is the name under which another host asks before a tool call: letting
// it pass as an unknown event would be a guard that is absent in silence.
func NameFault(name string) string {
	if IsKnown(name) {
		return ""
	}
	if strings.Trim(name, nameLetters) != "" {
		return "the event " + quote(name) + " has a name that no host gives"
	}
	flat := flatten(name)
	for _, k := range known {
		if flatten(k) == flat {
			return "the event " + quote(name) + " is " + k + " in another spelling"
		}
	}
	if host, ok := foreign[flat]; ok {
		return "the event " + quote(name) + " is of " + host + ", whose events are not read here"
	}
	return ""
}

// nameLetters are what names of events are made of. A letter that only looks
// like one of them would make an unknown event of a known one.
const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:/ "

func flatten(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return `"` + s + `"`
}
