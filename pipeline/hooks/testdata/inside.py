"""Keeps the file tools below the working directory and keys out of prompts."""

import json
import os
import sys

COMMON = ["session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name"]


def specific(event, **fields):
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})


def before(told):
    path = told["tool_input"]["file_path"]
    root = os.path.realpath(told["cwd"])
    full = os.path.realpath(os.path.join(root, path))
    if os.path.commonpath([root, full]) != root:
        return specific("PreToolUse", permissionDecision="deny", permissionDecisionReason=f"{told['tool_name']} of {path} leaves the tree")
    if os.path.basename(full) == ".env":
        return specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="it may hold secrets")
    size = len(told["tool_input"].get("content", ""))
    return specific("PreToolUse", permissionDecision="allow", permissionDecisionReason=f"{size} characters")


def after(told):
    response = told["tool_response"]
    how = f"failed ({response.get('error_code', 'no code')})" if response["is_error"] else "worked"
    return specific("PostToolUse", additionalContext=f"{told['tool_use_id']}: {told['runcode_tool_name']} {how}")


def prompt(told):
    text = told["prompt"]
    if "sk-" in text:
        return json.dumps({"decision": "block", "reason": "the prompt holds a key"})
    return f"the prompt has {len(text)} characters"


def main():
    text = sys.stdin.read()
    if text.count("\n") != 1 or not text.endswith("\n"):
        sys.exit(f"read {text.count(chr(10))} line ends, want one line")
    told = json.loads(text)
    missing = [name for name in COMMON if not isinstance(told.get(name), str)]
    if missing:
        sys.exit(f"not told: {missing}")
    print({"PreToolUse": before, "PostToolUse": after, "UserPromptSubmit": prompt}[told["hook_event_name"]](told))


main()
