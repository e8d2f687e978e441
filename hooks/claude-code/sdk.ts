// A guard for programs that drive Claude Code with the Agent SDK for TypeScript.
//
// The callback hands each event to hooktrail and its answer back. It resolves to
// a denial when hooktrail cannot be run: a callback that throws is a failure, and
// a failure lets the call run unless the matcher has onFailure "block", which
// clients before 2.1.317 do not know.
//
//	query({ prompt, options: { hooks: { PreToolUse: [{ hooks: [guard], timeout: 180 }] } } })

import { execFile } from "node:child_process";

const command = "/usr/local/bin/hooktrail";
const args = ["hook", "--config", "/etc/hooktrail/config.json"];
const limit = 170_000; // milliseconds, below the matcher's timeout

const deny = (reason: string) => ({
  hookSpecificOutput: {
    hookEventName: "PreToolUse" as const,
    permissionDecision: "deny" as const,
    permissionDecisionReason: reason,
  },
});

export function guard(event: unknown): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { timeout: limit, maxBuffer: 1 << 20 }, (fault, out, err) => {
      try {
        if (fault) {
          resolve(deny(err.trim() || `hooktrail could not judge the call: ${fault.message}`));
        } else {
          resolve(out.trim() ? JSON.parse(out) : {});
        }
      } catch (broken) {
        resolve(deny(`hooktrail's answer cannot be read: ${broken}`));
      }
    });
    child.stdin?.on("error", () => {}); // the status tells
    child.stdin?.end(JSON.stringify(event));
  });
}
