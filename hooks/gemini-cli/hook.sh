#!/bin/sh
# Lets hooktrail judge the BeforeTool event of Gemini CLI. The event is renamed,
# and so is an MCP tool: mcp_SERVER_TOOL becomes mcp__SERVER__TOOL, as the rules
# have it. Exit status 2 blocks there as it does in Claude Code. Gemini CLI has no
# "ask" in a hook's answer, so what would be asked is blocked.
bin=${HOOKTRAIL_BIN:-/usr/local/bin/hooktrail}
config=${HOOKTRAIL_HOOK_CONFIG:-/etc/hooktrail/config.json}
block() {
  echo "hooktrail: $1" >&2
  exit 2
}
event=$(jq -c '
  if .hook_event_name != "BeforeTool" then error("not a BeforeTool event") else .hook_event_name = "PreToolUse" end |
  if .mcp_context then .tool_name = "mcp__\(.mcp_context.server_name)__\(.mcp_context.tool_name)"
  elif (.tool_name | startswith("mcp_")) then error("an MCP tool without its server")
  else . end') || block "the event cannot be read"
answer=$(printf '%s\n' "$event" | "$bin" hook --config "$config") || exit 2
[ -n "$answer" ] || exit 0
case $(printf '%s' "$answer" | jq -r '.hookSpecificOutput.permissionDecision // "none"') in
  none) exit 0 ;;
  allow) exit 0 ;;
  *) block "$(printf '%s' "$answer" | jq -r '.hookSpecificOutput.permissionDecisionReason // "the call is held back"')" ;;
esac
