"""A guard for programs that drive Claude Code with the Agent SDK for Python.

The callback hands each event to hooktrail and its answer back. It returns a
denial when hooktrail cannot be run: a callback that raises is a failure, and a
failure lets the call run unless the matcher has onFailure "block", which clients
before 2.1.317 do not know.

    options = ClaudeAgentOptions(hooks={"PreToolUse": [HookMatcher(hooks=[guard], timeout=180)]})
"""

import asyncio
import json

COMMAND = ["/usr/local/bin/hooktrail", "hook", "--config", "/etc/hooktrail/config.json"]
LIMIT = 170  # seconds, below the matcher's timeout


def deny(reason):
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


async def guard(event, tool_use_id=None, context=None):
    """Answer one PreToolUse event. Never raises."""
    process = None
    try:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(json.dumps(event).encode()), LIMIT)
        if process.returncode == 0:
            return json.loads(out) if out.strip() else {}
        return deny(err.decode(errors="replace").strip() or "hooktrail holds the call back")
    except Exception as fault:  # whatever it is, the call must not run
        return deny(f"hooktrail could not judge the call: {fault!r}")
    finally:
        if process is not None and process.returncode is None:
            process.kill()
