#!/bin/sh
# Lets hooktrail judge the preToolUse event of Copilot CLI. Its event has toolName
# and toolArgs (an object, or JSON in a string) and its answer permissionDecision
# at the top. Whatever goes wrong is answered with a denial.
#
# The host calls an MCP tool SERVER-TOOL, and no tool of its own has a hyphen. It
# becomes mcp__SERVER__TOOL, parted at the first hyphen: a server that has one in
# its own name, such as my-vms, comes as mcp__my__vms-TOOL.
bin=${HOOKTRAIL_BIN:-/usr/local/bin/hooktrail}
config=${HOOKTRAIL_HOOK_CONFIG:-/etc/hooktrail/config.json}
deny() {
  jq -cn --arg r "hooktrail: $1" '{permissionDecision: "deny", permissionDecisionReason: $r}' ||
    echo '{"permissionDecision":"deny","permissionDecisionReason":"hooktrail: jq is missing"}'
  exit 0
}
event=$(jq -c '{session_id: (.sessionId // "copilot"), cwd: (.cwd // ""), hook_event_name: "PreToolUse",
  tool_name: (.toolName | if test("-") then "mcp__" + sub("-"; "__") else . end),
  tool_input: (.toolArgs | if type == "string" then fromjson else . end)}') || deny "the event cannot be read"
errors=$(mktemp) || deny "no room for a temporary file"
answer=$(printf '%s\n' "$event" | "$bin" hook --config "$config" 2>"$errors")
status=$?
reason=$(cat "$errors")
rm -f "$errors"
[ $status -eq 0 ] || deny "${reason:-the call is held back}"
[ -n "$answer" ] || exit 0
printf '%s' "$answer" | jq -c '.hookSpecificOutput | select(.permissionDecision != null) | {permissionDecision, permissionDecisionReason}' || deny "the answer cannot be read"
