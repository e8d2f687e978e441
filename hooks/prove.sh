#!/bin/sh
# Proves for each host that a call which is denied is blocked by the hook as it
# stands in this folder, that a harmless one passes, and that what cannot be read
# is blocked. It feeds events of the shape that the hosts themselves have sent.
#
#	HOOKTRAIL_BIN=/path/to/hooktrail hooks/prove.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${HOOKTRAIL_BIN:?set it to the hooktrail program}"
export HOOKTRAIL_BIN
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
HOOKTRAIL_HOOK_CONFIG=$tmp/config.json
export HOOKTRAIL_HOOK_CONFIG
cat >"$HOOKTRAIL_HOOK_CONFIG" <<JSON
{"audit": {"log": "$tmp/audit.jsonl"}, "guard": {"unlisted": "allow", "rules": [
  {"tools": ["*"], "class": "deny", "when": {"path": "command", "matches": "power-off"}, "message": "Not from here"},
  {"tools": ["mcp__vsphere__vm_power_off"], "class": "deny", "message": "Not this machine"}]}}
JSON
failed=0
# says NAME WANTED-STATUS WANTED-TEXT EVENT COMMAND...: the text is looked for in
# both streams; "-" is for nothing on standard output.
says() {
  name=$1 want=$2 text=$3 input=$4
  shift 4
  status=0
  printf '%s' "$input" | "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  if [ "$status" -ne "$want" ] || { [ "$text" = - ] && [ -s "$tmp/out" ]; } || { [ "$text" != - ] && ! cat "$tmp/out" "$tmp/err" | grep -q "$text"; }; then
    echo "WRONG $name: status $status, $(head -c 300 "$tmp/out" "$tmp/err")"
    failed=1
  else
    echo "ok $name"
  fi
}
hook() { "$HOOKTRAIL_BIN" hook --config "$HOOKTRAIL_HOOK_CONFIG"; }
claude='{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"COMMAND"},"tool_use_id":"t"}'
codex='{"session_id":"s","turn_id":"1","transcript_path":null,"cwd":"/","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"COMMAND"},"tool_use_id":"call_1"}'
gemini='{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"COMMAND"}}'
copilot='{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":{"command":"COMMAND","description":"x","mode":"sync"}}'
older='{"timestamp":1,"cwd":"/","toolName":"bash","toolArgs":"{\"command\":\"COMMAND\"}"}'
claude_mcp='{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"mcp__vsphere__vm_power_off","tool_input":{"vm_name":"app01"},"tool_use_id":"t"}'
gemini_mcp='{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":"mcp_vsphere_vm_power_off","tool_input":{"vm_name":"app01"},"mcp_context":{"server_name":"vsphere","tool_name":"vm_power_off","command":"/x","args":[]}}'
copilot_mcp='{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"vsphere-vm_power_off","toolArgs":{"vm_name":"app01"}}'
with() { printf '%s' "$1" | sed "s/COMMAND/$2/"; }
# The command line is that of codex/hooks.json, with this program and this configuration.
codex() {
  line=$(jq -r '.hooks.PreToolUse[0].hooks[0].command' "$here/codex/hooks.json" |
    sed "s|/usr/local/bin/hooktrail|\"\$HOOKTRAIL_BIN\"|; s|/etc/hooktrail/config.json|\"\$HOOKTRAIL_HOOK_CONFIG\"|")
  sh -c "$line"
}
gone() (
  HOOKTRAIL_BIN=/nonexistent/hooktrail
  "$@"
)
says "claude: a denied call is blocked" 2 'Not from here' "$(with "$claude" power-off)" hook
says "claude: a harmless call passes" 0 - "$(with "$claude" ls)" hook
says "claude: a cut event is blocked" 2 . "$(with "$claude" ls | head -c 60)" hook
says "codex: a denied call is blocked" 2 'Not from here' "$(with "$codex" power-off)" codex
says "codex: a harmless call passes" 0 - "$(with "$codex" ls)" codex
says "codex: a cut event is blocked" 2 . "$(with "$codex" ls | head -c 60)" codex
says "claude and codex: a denied MCP call is blocked" 2 'Not this machine' "$claude_mcp" hook
says "codex: without the program the call is blocked" 2 . "$(with "$codex" ls)" gone codex
says "gemini: a denied call is blocked" 2 'Not from here' "$(with "$gemini" power-off)" "$here/gemini-cli/hook.sh"
says "gemini: a harmless call passes" 0 - "$(with "$gemini" ls)" "$here/gemini-cli/hook.sh"
says "gemini: a cut event is blocked" 2 . "$(with "$gemini" ls | head -c 60)" "$here/gemini-cli/hook.sh"
says "gemini: a denied MCP call is blocked" 2 'Not this machine' "$gemini_mcp" "$here/gemini-cli/hook.sh"
says "gemini: an MCP call without its server is blocked" 2 . "$(printf %s "$gemini_mcp" | jq -c 'del(.mcp_context)')" "$here/gemini-cli/hook.sh"
says "gemini: without the program the call is blocked" 2 . "$(with "$gemini" ls)" gone "$here/gemini-cli/hook.sh"
says "copilot: a denied call is denied" 0 '"permissionDecision":"deny".*Not from here' "$(with "$copilot" power-off)" "$here/copilot-cli/hook.sh"
says "copilot: a harmless call passes" 0 - "$(with "$copilot" ls)" "$here/copilot-cli/hook.sh"
says "copilot: a denied MCP call is denied" 0 '"permissionDecision":"deny".*Not this machine' "$copilot_mcp" "$here/copilot-cli/hook.sh"
says "copilot: arguments in a string are read" 0 '"permissionDecision":"deny".*Not from here' "$(with "$older" power-off)" "$here/copilot-cli/hook.sh"
says "copilot: without the program the call is denied" 0 '"permissionDecision":"deny"' "$(with "$copilot" ls)" gone "$here/copilot-cli/hook.sh"
says "copilot: a cut event is denied" 0 '"permissionDecision":"deny"' "$(with "$copilot" ls | head -c 30)" "$here/copilot-cli/hook.sh"
exit $failed
