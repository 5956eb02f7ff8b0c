#!/usr/bin/env bash
# Keeps forced pushes away, and says at the beginning of a session that it does.
# bash has no JSON, so the command is taken out as the one string it is; what
# does not look like that is a failure, which denies.
set -u
input=$(cat)
case $input in
*'"hook_event_name":"SessionStart"'*)
	echo "forced pushes are denied in ${CLAUDE_PROJECT_DIR##*/}"
	exit 0
	;;
esac
command='"tool_input":\{"command":"(([^"\]|\\.)*)"'
if [[ ! $input =~ $command ]]; then
	echo "found no command in: $input" >&2
	exit 1
fi
case ${BASH_REMATCH[1]} in
*'push --force'* | *'push -f'*)
	echo "forced pushes are not allowed here: ${BASH_REMATCH[1]}" >&2
	exit 2
	;;
esac
