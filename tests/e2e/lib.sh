# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh - shared by end-to-end scripts. A script begins with
#
#     #!/bin/bash
#     # SPDX-License-Identifier: Apache-2.0
#     # One sentence: the property that this script proves.
#     # timeout: 2400         (seconds, only if 900 are not enough on a machine that is slow and busy)
#     . "$(dirname "$0")/lib.sh"
#     need_root
#     need_command ffmpeg
#
# and gets: strict mode (an unchecked failing command fails the test with its place), ROOT
# (the checkout, also the working directory), BUILD and SAN_BUILD (plain and sanitised
# programs), WORK (an empty folder, removed at the end), PROFCTL, PROFBPFD, ANALYZER,
# TRUTH (ground-truth programs), and a private PROFBPF_SOCKET, so that the machine's daemon is
# never used. Every process that the script started, also indirectly, is killed at the end.
# PROFBPF_TEST_KEEP names a folder where WORK of a script that fails is kept.

set -Eeuo pipefail

ROOT=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
cd "$ROOT"
BUILD=${BUILD:-$ROOT/build}
SAN_BUILD=${SAN_BUILD:-$ROOT/build/san}
PROFCTL=$BUILD/profctl
PROFBPFD=$BUILD/profbpfd
# Used by the scripts that source this file.
# shellcheck disable=SC2034
ANALYZER=$BUILD/analyzer TRUTH=$BUILD/tests/truth
WORK=$(mktemp -d "${TMPDIR:-/tmp}/profbpf-test.XXXXXX")
chmod 755 "$WORK"
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
export PROFBPF_SOCKET=$WORK/profbpfd.sock
# Inherited by everything the script starts: the mark by which leftovers are found.
export PROFBPF_TEST_WORK=$WORK
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
DAEMON_PID=

# ---- Ending

cleanup_test() {
	local status=$? files file pid
	trap - EXIT ERR
	mapfile -t files < <(grep -lsaz "^PROFBPF_TEST_WORK=$WORK\$" /proc/[0-9]*/environ)
	for file in "${files[@]}"; do
		pid=${file#/proc/} pid=${pid%/environ}
		[ "$pid" = $$ ] || kill -KILL "$pid" 2>/dev/null || :
	done
	for file in "${GROUPS_MADE[@]}"; do remove_group "$file"; done
	for file in "${MOUNTS_MADE[@]}"; do umount -l "$file" || :; done
	for file in "${FOLDERS_MADE[@]}"; do rm -rf "$file" && rmdir -p "${file%/*}" 2>/dev/null || :; done
	if [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ -n "${PROFBPF_TEST_KEEP:-}" ]; then
		mkdir -p "$PROFBPF_TEST_KEEP" && cp -r --sparse=always "$WORK" "$PROFBPF_TEST_KEEP/${0##*/}-$$" || :
	fi
	rm -rf "$WORK"
	exit "$status"
}

# The message goes to standard error, too, so that a failing stage of a pipeline is visible.
failed_command() {
	# shellcheck disable=SC2016 # backquotes to be printed
	printf 'FAIL: %s:%s: `%s` ended with status %s\n' "${BASH_SOURCE[1]##*/}" "${BASH_LINENO[0]}" "$2" "$1" >&2
}

trap cleanup_test EXIT
trap 'failed_command "$?" "$BASH_COMMAND"' ERR
trap 'exit 1' INT TERM HUP

# fail WORDS: ends the script as failed.
fail() {
	local i
	printf 'FAIL: %s\n' "$*" >&2
	for ((i = 1; i < ${#FUNCNAME[@]}; i++)); do
		printf '    at %s:%s\n' "${BASH_SOURCE[i]##*/}" "${BASH_LINENO[i - 1]}" >&2
	done
	exit 1
}

# skip REASON: ends the script as skipped. Only for things that this machine lacks, never for failures.
skip() {
	printf '%s\n' "$*"
	exit 77
}

note() { printf '# %s\n' "$*"; }

# leave_out REASON: reports that a part of the script is skipped, because this machine lacks something; the rest runs.
leave_out() { printf '# left out: %s\n' "$*"; }

# ---- Requirements of a script

need_root() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }

need_command() {
	local command
	for command in "$@"; do
		command -v "$command" >/dev/null || skip "needs the command $command (./setup check installs it)"
	done
}

need_opencl_device() {
	need_command clinfo
	clinfo -l 2>/dev/null | grep -q 'Device #0' || skip "needs an OpenCL device (./setup check installs PoCL)"
}

need_trace_processor() {
	need_command node
	[ -s "$ROOT/build/tools/trace-processor/trace_processor.wasm" ] ||
		skip "needs Perfetto's trace processor (./setup check fetches it)"
}

# ---- Judging

# assert_eq WHAT EXPECTED ACTUAL
assert_eq() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
	note "$1: $3"
}

is_number() { [[ $1 =~ ^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$ ]]; }

# assert_between WHAT LOW HIGH ACTUAL: numbers, both ends included; exact for integers.
assert_between() {
	local value
	for value in "$2" "$3" "$4"; do
		is_number "$value" || fail "$1: '$value' is not a number (expected $2 to $3, got '$4')"
	done
	if [[ $2$3$4 =~ ^[-0-9]+$ ]]; then
		(($4 >= $2 && $4 <= $3)) || fail "$1: expected $2 to $3, got $4"
	else
		awk -v low="$2" -v high="$3" -v x="$4" 'BEGIN { exit !(x + 0 >= low + 0 && x + 0 <= high + 0) }' ||
			fail "$1: expected $2 to $3, got $4"
	fi
	note "$1: $4 (expected $2 to $3)"
}

# assert_near WHAT EXPECTED PERCENT ACTUAL: within PERCENT of EXPECTED
assert_near() {
	local bounds
	is_number "$2" || fail "$1: expected value '$2' is not a number"
	bounds=$(awk -v x="$2" -v p="$3" 'BEGIN { d = x * p / 100; if (d < 0) d = -d; printf "%.3f %.3f", x - d, x + d }')
	assert_between "$1" "${bounds% *}" "${bounds#* }" "$4"
}

# assert_contains WHAT FILE PATTERN: an extended regular expression, on one line of the file
assert_contains() {
	grep -qE -e "$3" "$2" || fail "$1: no line matches '$3' in:
$(tail -n 40 "$2")"
	note "$1: $(grep -m1 -E -e "$3" "$2")"
}

assert_lacks() {
	! grep -qE -e "$3" "$2" || fail "$1: '$(grep -m1 -E -e "$3" "$2")' should not be there"
}

# assert_status WHAT EXPECTED COMMAND...: the output goes to $WORK/out and $WORK/err.
assert_status() {
	local what=$1 expected=$2 status=0
	shift 2
	"$@" >"$WORK/out" 2>"$WORK/err" </dev/null || status=$?
	[ "$status" -eq "$expected" ] || fail "$what: expected status $expected, got $status from: $*
$(tail -n 20 "$WORK/err")"
	note "$what: status $status"
}

# json FILE PATH: the value at jq's PATH in FILE, as plain text; fails if it is absent or null.
json() {
	local value
	value=$(jq -r "$2" "$1") || fail "$1: jq $2 failed"
	case "$value" in "" | null) fail "$1: nothing at $2" ;; esac
	printf '%s\n' "$value"
}

# ---- Waiting

# wait_until SECONDS COMMAND...: waits until the command succeeds; fails after PATIENCE times SECONDS. SECONDS is the
# time on an otherwise idle machine. Emulated CPUs (vmtests) get more.
PATIENCE=${PROFBPF_TEST_SLACK:-8}
wait_until() {
	local deadline
	deadline=$((${EPOCHREALTIME/[.,]/} + $1 * PATIENCE * 1000000))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/[.,]/}" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

# wait_for_line FILE PATTERN SECONDS
wait_for_line() {
	wait_until "$3" grep -qE -e "$2" "$1" || fail "no line matched '$2' within $(($3 * PATIENCE)) s in $1:
$(tail -n 20 "$1" 2>&1 || :)"
}

# wait_for_end PID SECONDS: waits for a child of this shell; returns its status.
wait_for_end() {
	wait_until "$2" process_is_gone "$1" || fail "process $1 still runs after $(($2 * PATIENCE)) s"
	wait "$1"
}

# A zombie counts as gone: it only waits for its parent.
process_is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status"; }

# pythons: prints lines "VERSION COMMAND" for python3, pyenv's CPython 3 and make-venv's 3.14, each version once; the
# similar versions 3.8 to 3.12 only in long tests
pythons() {
	local python version seen=' '
	for python in python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 \
		"$ROOT/build/venv-python3.14/bin/python3.14"; do
		version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
		[[ $seen != *" $version "* ]] || continue
		if [ "$seen" != ' ' ] && [ -z "${PROFBPF_TEST_LONG:-}" ] && [[ $version =~ ^3\.([89]|1[0-2])$ ]]; then
			continue
		fi
		seen+="$version "
		printf '%s %s\n' "$version" "$python"
	done
}

# ---- The daemon and traces

# start_daemon [OPTION...]: starts profbpfd on this script's own socket; its messages: $WORK/profbpfd.log
start_daemon() {
	"$PROFBPFD" "$@" >"$WORK/profbpfd.log" 2>&1 </dev/null &
	DAEMON_PID=$!
	wait_until 20 test -S "$PROFBPF_SOCKET" || fail "profbpfd did not open $PROFBPF_SOCKET:
$(tail -n 20 "$WORK/profbpfd.log")"
}

# stop_daemon: asks it to end; it must end without error and without a sanitizer report.
stop_daemon() {
	local status=0
	kill -TERM "$DAEMON_PID"
	wait_for_end "$DAEMON_PID" 10 || status=$?
	DAEMON_PID=
	[ "$status" -eq 0 ] || fail "profbpfd ended with status $status:
$(tail -n 40 "$WORK/profbpfd.log")"
}

# bpf_left: prints the kinds of the daemon's BPF objects, one a line, except the unwind tables, which stay for the next
# session. Without bpftool maps have no names, and none is listed.
bpf_left() {
	local fd kind id
	find "/proc/$DAEMON_PID/fd" -lname 'anon_inode:bpf*' -printf '%f %l\n' | while read -r fd kind; do
		if [ "$kind" = anon_inode:bpf-map ]; then
			command -v bpftool >/dev/null || continue
			id=$(sed -n 's/^map_id:[[:space:]]*//p' "/proc/$DAEMON_PID/fdinfo/$fd")
			[[ $(bpftool map show id "$id" -j | jq -r '.name // ""') != unwind_* ]] || continue
		fi
		printf '%s\n' "$kind"
	done
}

# attach_in_background PID OUTPUT [OPTION...]: returns once capture is live. Sets PROFCTL_PID;
# its messages: $WORK/profctl.err
attach_in_background() {
	local pid=$1 output=$2
	shift 2
	: >"$WORK/profctl.err"
	# A shell's background jobs start with SIGINT ignored.
	env --default-signal=INT "$PROFCTL" attach --pid "$pid" -o "$output" "$@" 2>"$WORK/profctl.err" </dev/null &
	PROFCTL_PID=$!
	wait_for_line "$WORK/profctl.err" '^tracing' 30
}

# stop_attach: sends SIGINT like Ctrl-C; profctl must end with success.
stop_attach() {
	kill -INT "$PROFCTL_PID"
	wait_for_end "$PROFCTL_PID" 20 || fail "profctl ended with status $?:
$(tail -n 20 "$WORK/profctl.err")"
}

# report_json TRACE OUTPUT [OPTION...]
report_json() {
	local trace=$1 output=$2
	shift 2
	"$ANALYZER" report "$trace" --format json -o "$output" "$@"
	jq -e '.schema == "profbpf.report/1"' "$output" >/dev/null || fail "$output is not a profbpf.report/1"
}

# assert_loss_accounted REPORT: produced = delivered + lost, for every source.
assert_loss_accounted() {
	local wrong
	wrong=$(jq -c '.capture.sources[] | select(.produced != .delivered + .lost)' "$1")
	[ -z "$wrong" ] || fail "$1: produced is not delivered + lost: $wrong"
	[ "$(jq '.capture.sources | length' "$1")" -gt 0 ] || fail "$1: no capture sources"
}

# assert_complete REPORT: every produced record was read, and the session ended.
assert_complete() {
	[ "$(jq .capture.complete "$1")" = true ] || fail "$1: the capture is not complete: $(jq -c .capture "$1")"
	note "the capture is complete"
}

# assert_series_add_up REPORT: intervals of the host and of each operator add up to their totals.
assert_series_add_up() {
	local wrong
	wrong=$(jq -c 'def summed(name): (.columns | index(name)) as $i | [.rows[][$i]] | add;
		(.host | . as $host | ("user_ns", "system_ns", "context_switches") | select(. as $name |
			$host.series | summed($name) != $host[$name]) | "host \(.)"),
		(.pipeline[].operators[] | select(.series) |
			select((.run_with_descendants_ns and (.series | summed("run_ns")) != .run_with_descendants_ns) or
				(.elements and (.series | summed("elements")) != .elements)) | .name)' "$1")
	[ -z "$wrong" ] || fail "$1: intervals do not add up: $wrong"
	[ "$(jq '[.pipeline[].operators[].series.rows // [] | length] | add' "$1")" -gt 0 ] || fail "$1: no intervals"
	note "intervals add up to the whole"
}

# trace_query TRACE SQL: prints rows as comma-separated values, the first with the column names.
trace_query() {
	TP_WASM_DIR=$ROOT/build/tools/trace-processor node "$ROOT/tests/tools/tpq.mjs" -q "$2" "$1"
}

# assert_trace_clean TRACE: Perfetto's trace processor loads it without error, loss or misplaced event.
assert_trace_clean() {
	local rows
	rows=$(TP_WASM_DIR=$ROOT/build/tools/trace-processor node "$ROOT/tests/tools/tpq.mjs" \
		-f "$ROOT/tests/tools/check.sql" "$1") || fail "the trace processor can't load $1"
	[ "$(wc -l <<<"$rows")" -eq 1 ] || fail "$1: the trace processor finds:
$rows"
	note "the trace processor loads ${1##*/} without a complaint"
}

# as_nobody PROGRAM [ARG...]: runs as an ordinary user without any privilege. The program is copied
# to a place that this user can reach, because the checkout may be in a private folder.
as_nobody() {
	local program copy
	program=$(command -v "$1")
	copy=$WORK/public/${program##*/}
	mkdir -p "$WORK/public"
	cp -u "$program" "$copy"
	shift
	setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$copy" "$@"
}

# ---- Groups of processes with a CPU quota

# make_group NAME: makes a cgroup with the CPU controller, version 1 or 2. Sets GROUP to its folder
# and GROUP_VERSION; skips the script if that is not possible. remove_group removes it.
make_group() {
	local root
	GROUP_VERSION=1
	root=$(awk '$3 == "cgroup" && (","$4",") ~ /,cpu,/ { print $2; exit }' /proc/mounts)
	if [ -z "$root" ]; then
		# shellcheck disable=SC2034 # for the scripts
		GROUP_VERSION=2
		root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
		[ -n "$root" ] || skip "needs cgroups with a CPU controller"
		grep -qw cpu "$root/cgroup.subtree_control" 2>/dev/null ||
			{ echo +cpu >"$root/cgroup.subtree_control"; } 2>/dev/null ||
			skip "needs the CPU controller of cgroup version 2"
	fi
	GROUP=$root/$1-$$
	mkdir "$GROUP" 2>/dev/null || skip "needs a writable cgroup hierarchy ($root)"
	GROUPS_MADE+=("$GROUP")
}
GROUPS_MADE=()
# Folders below WORK on which the script mounted something.
MOUNTS_MADE=()
# Folders outside of WORK that the script made, and none of whose parents anybody needs when they are empty.
FOLDERS_MADE=()

# make_slow_group NAME DEVICE RATE: makes a cgroup whose processes read at most RATE bytes a second from DEVICE
# (MAJOR:MINOR), with either version of cgroups. Sets SLOW_GROUP to its folder; returns false if that is not possible.
# shellcheck disable=SC2034 # for the scripts
make_slow_group() {
	local root
	root=$(awk '$3 == "cgroup" && (","$4",") ~ /,blkio,/ { print $2; exit }' /proc/mounts)
	if [ -n "$root" ]; then
		SLOW_GROUP=$root/$1-$$
		mkdir "$SLOW_GROUP" || return 1
		GROUPS_MADE+=("$SLOW_GROUP")
		echo "$2 $3" >"$SLOW_GROUP/blkio.throttle.read_bps_device"
		return
	fi
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	grep -qw io "$root/cgroup.controllers" 2>/dev/null || return 1
	echo +io >"$root/cgroup.subtree_control" || return 1
	SLOW_GROUP=$root/$1-$$
	mkdir "$SLOW_GROUP" || return 1
	GROUPS_MADE+=("$SLOW_GROUP")
	echo "$2 rbps=$3" >"$SLOW_GROUP/io.max"
}

# remove_group FOLDER: moves remaining processes to the root, and removes it; an exiting process
# keeps its group for a moment.
remove_group() {
	local pid
	[ -d "$1" ] || return 0
	for ((i = 0; i < 100; i++)); do
		while read -r pid; do
			echo "$pid" >"${1%/*}/cgroup.procs" || :
		done <"$1/cgroup.procs" 2>/dev/null || :
		! rmdir "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	note "the group $1 could not be removed"
}
