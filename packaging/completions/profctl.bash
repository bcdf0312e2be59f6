# SPDX-License-Identifier: Apache-2.0
# bash completion for profctl; made by packaging/completions/generate, do not edit
# shellcheck shell=bash

# The last of several words between commas; those already there stay.
_profctl_list()
{
	mapfile -t COMPREPLY < <(compgen -W "$2" -- "${1##*,}")
	[[ $1 != *,* ]] || COMPREPLY=("${COMPREPLY[@]/#/${1%,*},}")
	compopt -o nospace
}

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

_profctl_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
}

_profctl_sessions()
{
	local sessions
	sessions=$(profctl list --format json 2>/dev/null | sed -n 's/.*"session": \([0-9]*\).*/\1/p')
	mapfile -t COMPREPLY < <(compgen -W "$sessions" -- "$1")
}

# What follows -- is another command's line.
_profctl_command()
{
	local i

	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] || continue
		if declare -F _command_offset >/dev/null; then
			_command_offset $((i + 1))
		else
			compopt -o default
		fi
		return
	done
	return 1
}

_profctl_of_attach()
{
	case $3 in
	--budget) :; return ;;
	-b | --buffer) :; return ;;
	-c | --catalog) mapfile -t COMPREPLY < <(compgen -d -- "$2"); compopt -o filenames; return ;;
	-d | --duration) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--interval) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--launch-from-step) :; return ;;
	--min-duration) _profctl_words "$2" "10s 1m 100ms"; return ;;
	-o | --output) compopt -o default; return ;;
	--stack-block) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--stack-rate) :; return ;;
	--step-call) :; return ;;
	--steps) :; return ;;
	-s | --socket) compopt -o default; return ;;
	-t | --topics) _profctl_list "$2" "api ioctl sched device account irq stack fault io sample default all"; return ;;
	--cgroup) compopt -o default; return ;;
	--container) :; return ;;
	-p | --pid) _profctl_pids "$2"; return ;;
	--unit) :; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--budget --buffer --catalog --duration --follow --interval --launch-from-step --min-duration --no-follow --output --stack-block --stack-rate --standalone --step-call --steps --socket --topics --help --cgroup --container --pid --unit"
	else
		:
	fi
}

_profctl_of_record()
{
	case $3 in
	--budget) :; return ;;
	-b | --buffer) :; return ;;
	-c | --catalog) mapfile -t COMPREPLY < <(compgen -d -- "$2"); compopt -o filenames; return ;;
	-d | --duration) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--interval) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--launch-from-step) :; return ;;
	--min-duration) _profctl_words "$2" "10s 1m 100ms"; return ;;
	-o | --output) compopt -o default; return ;;
	--stack-block) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--stack-rate) :; return ;;
	--step-call) :; return ;;
	--steps) :; return ;;
	-s | --socket) compopt -o default; return ;;
	-t | --topics) _profctl_list "$2" "api ioctl sched device account irq stack fault io sample default all"; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--budget --buffer --catalog --duration --follow --interval --launch-from-step --min-duration --no-follow --output --stack-block --stack-rate --standalone --step-call --steps --socket --topics --help --system --"
	else
		:
	fi
}

_profctl_of_list()
{
	case $3 in
	-f | --format) _profctl_words "$2" "text json"; return ;;
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--format --socket --help"
	else
		:
	fi
}

_profctl_of_stop()
{
	case $3 in
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--socket --help"
	else
		_profctl_sessions "$2"
	fi
}

_profctl_of_status()
{
	case $3 in
	-f | --format) _profctl_words "$2" "text json"; return ;;
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--format --socket --help"
	else
		:
	fi
}

_profctl_of_top()
{
	case $3 in
	--catalog) mapfile -t COMPREPLY < <(compgen -d -- "$2"); compopt -o filenames; return ;;
	-f | --format) _profctl_words "$2" "text json"; return ;;
	-p | --pid) _profctl_pids "$2"; return ;;
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--catalog --format --once --pid --standalone --socket --help"
	else
		:
	fi
}

_profctl_of_why()
{
	case $3 in
	--budget) :; return ;;
	-b | --buffer) :; return ;;
	-c | --catalog) mapfile -t COMPREPLY < <(compgen -d -- "$2"); compopt -o filenames; return ;;
	-d | --duration) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--interval) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--launch-from-step) :; return ;;
	--min-duration) _profctl_words "$2" "10s 1m 100ms"; return ;;
	-o | --output) compopt -o default; return ;;
	--stack-block) _profctl_words "$2" "10s 1m 100ms"; return ;;
	--stack-rate) :; return ;;
	--step-call) :; return ;;
	--steps) :; return ;;
	-s | --socket) compopt -o default; return ;;
	--thread) :; return ;;
	-t | --topics) _profctl_list "$2" "api ioctl sched device account irq stack fault io sample default all"; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--budget --buffer --catalog --duration --follow --interval --launch-from-step --min-duration --no-follow --output --stack-block --stack-rate --standalone --step-call --steps --socket --thread --topics --help"
	else
		_profctl_pids "$2"
	fi
}

_profctl_of_snapshot()
{
	case $3 in
	-l | --last) :; return ;;
	-o | --output) compopt -o default; return ;;
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--last --output --stacks --socket --help"
	else
		:
	fi
}

_profctl_of_trigger()
{
	case $3 in
	-e | --every) :; return ;;
	--launch-from-step) :; return ;;
	-l | --last) :; return ;;
	--steps) :; return ;;
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--every --launch-from-step --last --steps --socket --help"
	else
		:
	fi
}

_profctl_of_reload()
{
	case $3 in
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--socket --help"
	else
		:
	fi
}

_profctl_of_catalog()
{
	case $3 in
	-c | --catalog) mapfile -t COMPREPLY < <(compgen -d -- "$2"); compopt -o filenames; return ;;
	-f | --format) _profctl_words "$2" "text json"; return ;;
	-p | --pid) _profctl_pids "$2"; return ;;
	-s | --socket) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_profctl_words "$2" "--catalog --format --pid --socket --help"
	else
		if [[ $COMP_CWORD -eq 2 ]]; then _profctl_words "$2" "list check match"; else compopt -o default; fi
	fi
}

_profctl()
{
	local command=${COMP_WORDS[1]:-}

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		_profctl_words "$2" "attach record list stop status top why snapshot trigger reload catalog --help --version"
		return
	fi
	[[ $command != record ]] || ! _profctl_command || return
	case $command in
	attach | record | list | stop | status | top | why | snapshot | trigger | reload | catalog) "_profctl_of_$command" "$@" ;;
	esac
}

complete -F _profctl profctl
