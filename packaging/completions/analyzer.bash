# SPDX-License-Identifier: Apache-2.0
# bash completion for analyzer; made by packaging/completions/generate, do not edit
# shellcheck shell=bash

# The last of several words between commas; those already there stay.
_analyzer_list()
{
	mapfile -t COMPREPLY < <(compgen -W "$2" -- "${1##*,}")
	[[ $1 != *,* ]] || COMPREPLY=("${COMPREPLY[@]/#/${1%,*},}")
	compopt -o nospace
}

_analyzer_pids()
{
	if [[ $1 == @* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -P @ -- "${1#@}")
		compopt -o filenames
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s\n' [0-9]*)" -- "${1##*,}")
	[[ $1 != *,* ]] || COMPREPLY=("${COMPREPLY[@]/#/${1%,*},}")
}

_analyzer_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
}

_analyzer_of_report()
{
	case $3 in
	--bp-point) :; return ;;
	--device) compopt -o default; return ;;
	--format) _analyzer_words "$2" "text json html"; return ;;
	--fp-point) :; return ;;
	--from) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	--memory) :; return ;;
	-o | --output) compopt -o default; return ;;
	--pid) _analyzer_pids "$2"; return ;;
	--section) _analyzer_list "$2" "verdict trace capture host processes pipeline steps waits api ioctl io devices join operators overlap communication idle cluster shapes memory stacks advice python"; return ;;
	--step) :; return ;;
	--thread) :; return ;;
	--to) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	--top) :; return ;;
	--aggregate) _analyzer_words "$2" "sum max min mean"; return ;;
	--aggregate-by) _analyzer_words "$2" "name type core shape scope"; return ;;
	--input-dtype) :; return ;;
	--max-time) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	--min-time) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	--name) :; return ;;
	--order-by) :; return ;;
	--scope-depth) :; return ;;
	--type) _analyzer_list "$2" "operators kinds"; return ;;
	esac
	if [[ $2 == -* ]]; then
		_analyzer_words "$2" "--bp-point --device --format --fp-point --from --full --memory --output --pid --schema --section --step --strict --subtract-probe-cost --thread --to --top --aggregate --aggregate-by --input-dtype --max-time --min-time --name --order-by --scope-depth --type --help"
	else
		compopt -o default
	fi
}

_analyzer_of_export()
{
	case $3 in
	--bp-point) :; return ;;
	--device) compopt -o default; return ;;
	--fp-point) :; return ;;
	--from) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	--kind) _analyzer_words "$2" "on-cpu off-cpu device"; return ;;
	--memory) :; return ;;
	-o | --output) compopt -o default; return ;;
	--pid) _analyzer_pids "$2"; return ;;
	--scope-depth) :; return ;;
	--step) :; return ;;
	--to) _analyzer_words "$2" "perfetto chrome folded speedscope pprof csv sqlite parquet mindinsight msprof"; return ;;
	--until) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	esac
	if [[ $2 == -* ]]; then
		_analyzer_words "$2" "--bp-point --device --fp-point --from --gil --kind --memory --no-merge --output --pid --scope-depth --step --strict --to --until --help"
	else
		compopt -o default
	fi
}

_analyzer_of_query()
{
	case $3 in
	--device) compopt -o default; return ;;
	--format) _analyzer_words "$2" "table csv json"; return ;;
	--from) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	--memory) :; return ;;
	-o | --output) compopt -o default; return ;;
	--pid) _analyzer_pids "$2"; return ;;
	--step) :; return ;;
	--to) _analyzer_words "$2" "10s 1m 100ms"; return ;;
	esac
	if [[ $2 == -* ]]; then
		_analyzer_words "$2" "--device --format --from --memory --output --pid --schema --step --strict --to --help"
	else
		compopt -o default
	fi
}

_analyzer_of_diff()
{
	case $3 in
	--after) :; return ;;
	--before) :; return ;;
	--format) _analyzer_words "$2" "text json html"; return ;;
	--memory) :; return ;;
	-o | --output) compopt -o default; return ;;
	--top) :; return ;;
	esac
	if [[ $2 == -* ]]; then
		_analyzer_words "$2" "--after --before --format --memory --output --strict --top --help"
	else
		compopt -o default
	fi
}

_analyzer_of_lake()
{
	case $3 in
	--bp-point) :; return ;;
	--device) compopt -o default; return ;;
	--format) _analyzer_words "$2" "table csv json"; return ;;
	--fp-point) :; return ;;
	--memory) :; return ;;
	-o | --output) mapfile -t COMPREPLY < <(compgen -d -- "$2"); compopt -o filenames; return ;;
	--rank) :; return ;;
	--step) :; return ;;
	esac
	if [[ $2 == -* ]]; then
		_analyzer_words "$2" "--bp-point --device --format --fp-point --memory --output --rank --schema --step --strict --help"
	else
		compopt -o default
	fi
}

_analyzer_of_info()
{
	case $3 in
	--device) compopt -o default; return ;;
	--format) _analyzer_words "$2" "text json"; return ;;
	--memory) :; return ;;
	-o | --output) compopt -o default; return ;;
	esac
	if [[ $2 == -* ]]; then
		_analyzer_words "$2" "--device --format --memory --output --strict --help"
	else
		compopt -o default
	fi
}

_analyzer()
{
	local command=${COMP_WORDS[1]:-}

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		_analyzer_words "$2" "report export query diff lake info --help --version"
		return
	fi
	case $command in
	report | export | query | diff | lake | info) "_analyzer_of_$command" "$@" ;;
	esac
}

complete -F _analyzer analyzer
