package settings

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hooktrail/internal/event"
)

// NewestClient is the newest version of the host that was measured.
const NewestClient = "2.1.328"

// SinceOnFailure is the first version that reads onFailure on command and http
// hooks. Older ones accept the key and ignore it.
const SinceOnFailure = "2.1.295"

// guards are the events whose unreadable entries make the host throw the whole
// file away: what it cannot load there might be what guards the permissions
// beside it. On other events only the entry is dropped.
var guards = []string{event.PreToolUse, event.PermissionRequest}

func isGuard(name string) bool { return slices.Contains(guards, name) }

// tools are names of tools, for telling a tool from an event and for finding
// matchers that differ from a tool only in case.
var tools = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree",
	"Glob", "Grep", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell",
	"Read", "ReadMcpResourceTool", "SendMessage", "Skill", "SlashCommand", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
	"TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Write",
}

// namesMatcher are the events on which a matcher of plain names may also be
// separated by commas and is compared whole.
var namesMatcher = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "UserPromptExpansion", "SessionStart",
	"SessionEnd", "Setup", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch", "Notification", "SubagentStart", "SubagentStop",
	"Elicitation", "ElicitationResult", "ConfigChange", "InstructionsLoaded", "DirectoryAdded",
}

// toolEvents are those whose matcher is compared with a tool's name.
var toolEvents = []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"}

// noMatcher are the events that have nothing to match; the host runs every
// entry whatever its matcher says.
var noMatcher = []string{
	"UserPromptSubmit", "Stop", "PostToolBatch", "TeammateIdle", "TaskCreated", "TaskCompleted", "CwdChanged", "WorktreeCreate",
	"WorktreeRemove", "MessageDisplay",
}

// matched are the words that an event's matcher is compared with, where the
// list is short and closed enough to tell a dead matcher.
var matched = map[string][]string{
	"SessionStart":       {"startup", "resume", "clear", "compact", "fork"},
	"SessionEnd":         {"clear", "resume", "logout", "prompt_input_exit", "other", "bypass_permissions_disabled"},
	"PreCompact":         {"manual", "auto"},
	"PostCompact":        {"manual", "auto"},
	"Setup":              {"init", "maintenance"},
	"ConfigChange":       {"user_settings", "project_settings", "local_settings", "policy_settings", "skills"},
	"InstructionsLoaded": {"session_start", "nested_traversal", "path_glob_match", "include", "compact"},
}

// An effect is what a block of a failing hook does on an event.
type effect struct {
	holds bool   // whether something is held back
	words string // what happens
}

// effects are the events on which a failure under onFailure "block" does
// something, or is known to do nothing. Others: nothing is held back.
var effects = map[string]effect{
	"PreToolUse":          {true, "the tool call is blocked"},
	"PermissionRequest":   {true, "the permission is denied"},
	"UserPromptSubmit":    {true, "the prompt is dropped"},
	"UserPromptExpansion": {true, "the prompt is dropped"},
	"PreModelSwitch":      {true, "the model is not switched"},
	"ConfigChange":        {true, "the change of settings is not taken over"},
	"Elicitation":         {true, "the question is declined"},
	"ElicitationResult":   {true, "the answer is held back"},
	"TaskCreated":         {true, "the task is not made"},
	"PreCompact":          {true, "the compaction is held back"},
	"PostToolBatch":       {true, "the turn ends and the model is not called again"},
	"PostToolUse":         {false, "the tool has run; the failure only becomes feedback to the model"},
	"PostToolUseFailure":  {false, "the tool has run; the failure only becomes feedback to the model"},
}

// ignoresOnFailure are the events on which the host ignores onFailure.
var ignoresOnFailure = []string{"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"}

// hostTimeout returns the time that the host gives a hook of its own accord.
func hostTimeout(eventName, hookType string) time.Duration {
	switch {
	case hookType == "agent":
		return 60 * time.Second
	case eventName == "UserPromptSubmit", eventName == "PreModelSwitch", eventName == "PostModelSwitch":
		return 30 * time.Second
	case eventName == "SessionEnd":
		return 1500 * time.Millisecond
	default:
		return 600 * time.Second
	}
}

// A kind is the type that a key's value must have.
type kind int

const (
	aString kind = iota
	aBool
	seconds
	stringList
	stringMap
	anyMap
	aShell
	aURL
	anOnFailure
	anything
)

// A hookType is what an entry of a type may and must have.
type hookType struct {
	required []string
	keys     map[string]kind
}

var hookTypes = map[string]hookType{
	"command": {[]string{"command"}, map[string]kind{
		"command": aString, "args": stringList, "if": aString, "shell": aShell, "timeout": seconds, "onFailure": anOnFailure,
		"statusMessage": aString, "once": aBool, "async": aBool, "asyncRewake": aBool, "rewakeMessage": aString, "rewakeSummary": aString, "cloud": anything,
	}},
	"http": {[]string{"url"}, map[string]kind{
		"url": aURL, "headers": stringMap, "allowedEnvVars": stringList, "if": aString, "timeout": seconds, "onFailure": anOnFailure,
		"statusMessage": aString, "once": aBool, "cloud": anything,
	}},
	"mcp_tool": {[]string{"server", "tool"}, map[string]kind{
		"server": aString, "tool": aString, "input": anyMap, "if": aString, "timeout": seconds, "onFailure": anything,
		"statusMessage": aString, "once": aBool,
	}},
	"prompt": {[]string{"prompt"}, map[string]kind{
		"prompt": aString, "model": aString, "continueOnBlock": aBool, "if": aString, "timeout": seconds, "statusMessage": aString, "once": aBool,
	}},
	"agent": {[]string{"prompt"}, map[string]kind{
		"prompt": aString, "model": aString, "if": aString, "timeout": seconds, "statusMessage": aString, "once": aBool,
	}},
}

// typeNames are the types in the order in which they are shown.
var typeNames = []string{"command", "http", "mcp_tool", "prompt", "agent"}

// documentation are keys that people and plugins write for people. The host
// ignores them, and nobody thinks otherwise.
var documentation = []string{
	"description", "id", "name", "title", "comment", "comments", "note", "notes", "author", "version", "label", "doc", "docs", "source", "tags",
}

func isDocumentation(key string) bool {
	return slices.Contains(documentation, key) || strings.HasPrefix(key, "_") || strings.HasPrefix(key, "$") || strings.HasPrefix(key, "//") || strings.HasPrefix(key, "x-")
}

// permissionModes are the values of permissions.defaultMode that the newest
// known host loads; any other voids the file.
var permissionModes = []string{"default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"}

// Older tells whether version a is below version b. A version that cannot be
// read is not older.
func Older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, err1 := strconv.Atoi(x[i])
		n, err2 := strconv.Atoi(y[i])
		if err1 != nil || err2 != nil || m > n {
			return false
		}
		if m < n {
			return true
		}
	}
	return len(x) < len(y)
}
