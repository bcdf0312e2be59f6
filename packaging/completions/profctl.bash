# SPDX-License-Identifier: Apache-2.0
# bash completion for profctl
# shellcheck shell=bash

_profctl_pids()
{
	if [[ $1 == @* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -P @ -- "${1#@}")
		compopt -o filenames
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s\n' [0-9]*)" -- "${1##*,}")
	[[ $1 != *,* ]] || COMPREPLY=("${COMPREPLY[@]/#/${1%,*},}")
}

# The last of several topics; those already there stay.
_profctl_topics()
{
	mapfile -t COMPREPLY < <(compgen -W "api ioctl sched device account irq stack fault io" -- "${1##*,}")
	[[ $1 != *,* ]] || COMPREPLY=("${COMPREPLY[@]/#/${1%,*},}")
	compopt -o nospace
}

_profctl_sessions()
{
	local sessions
	sessions=$(profctl list --format json 2>/dev/null | sed -n 's/.*"session": \([0-9]*\).*/\1/p')
	mapfile -t COMPREPLY < <(compgen -W "$sessions" -- "$1")
}

_profctl()
{
	local word=$2 before=$3 command=${COMP_WORDS[1]:-} i
	local socket="--socket --help" trace="--output --duration --topics --follow --no-follow --catalog
		--min-duration --budget --interval --buffer --stack-block --stack-rate --standalone"

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "attach record list stop status top why catalog --help --version" -- "$word")
		return
	fi
	if [[ $command == record ]]; then
		# What follows -- is another command's line.
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [[ ${COMP_WORDS[i]} == -- ]]; then
				if declare -F _command_offset >/dev/null; then
					_command_offset $((i + 1))
				else
					compopt -o default
				fi
				return
			fi
		done
	fi
	case $before in
	-p | --pid) _profctl_pids "$word"; return ;;
	-t | --topics) _profctl_topics "$word"; return ;;
	-f | --format) mapfile -t COMPREPLY < <(compgen -W "text json" -- "$word"); return ;;
	-c | --catalog) mapfile -t COMPREPLY < <(compgen -d -- "$word"); compopt -o filenames; return ;;
	-o | --output | -s | --socket) compopt -o default; return ;;
	-d | --duration | --min-duration | --stack-block) mapfile -t COMPREPLY < <(compgen -W "10s 1m 100ms" -- "$word"); return ;;
	--interval) mapfile -t COMPREPLY < <(compgen -W "1s 100ms 10ms" -- "$word"); return ;;
	-b | --buffer) mapfile -t COMPREPLY < <(compgen -W "64M 256M" -- "$word"); return ;;
	esac
	case $command in
	attach) mapfile -t COMPREPLY < <(compgen -W "--pid $trace $socket" -- "$word") ;;
	why)
		if [[ $word == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$trace $socket" -- "$word")
		else
			_profctl_pids "$word"
		fi ;;
	record) mapfile -t COMPREPLY < <(compgen -W "--system $trace $socket --" -- "$word") ;;
	top) mapfile -t COMPREPLY < <(compgen -W "--pid --once --format --catalog --standalone $socket" -- "$word") ;;
	list | status) mapfile -t COMPREPLY < <(compgen -W "--format $socket" -- "$word") ;;
	stop)
		if [[ $word == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$socket" -- "$word")
		else
			_profctl_sessions "$word"
		fi ;;
	catalog)
		if [[ $COMP_CWORD -eq 2 ]]; then
			mapfile -t COMPREPLY < <(compgen -W "list check match" -- "$word")
		elif [[ $word == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "--pid --catalog --format $socket" -- "$word")
		else
			compopt -o default
		fi ;;
	esac
}

complete -F _profctl profctl
