# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# truth_lib.sh - traces ground-truth programs (tests/truth); sourced after lib.sh.

# The tolerance for time of the system itself, as a multiple of the tolerance on a real CPU;
# emulated CPUs (vmtests) need more. Counts are exact everywhere.
# shellcheck disable=SC2034 # for the scripts
SLACK=${PROFBPF_TEST_SLACK:-1}

# On an emulated CPU the verification of all topics' programs takes longer than all else. In the machines of ./setup
# check, where truth_calls, truth_ioctls and load test all topics, sessions that only count calls have these topics
# alone.
# shellcheck disable=SC2034
CALLS_DO=() IOCTLS_DO=()
[ -z "${PROFBPF_TEST_BRIEF:-}" ] || CALLS_DO=(--topics api) IOCTLS_DO=(--topics ioctl)

# own_truth NAME...: copies these programs, and the libraries of calls, so that no other process maps the files or has
# probes on them. Sets TRUTH to their folder.
own_truth() {
	local name
	mkdir "$WORK/truth"
	for name in libtruth.so libtruth2.so "$@"; do [ ! -e "$TRUTH/$name" ] || cp "$TRUTH/$name" "$WORK/truth/"; done
	TRUTH=$WORK/truth
}

# launch_truth NAME [ARG...]: sets TRUTH_PID.
launch_truth() {
	local name=$1
	shift
	rm -f "$WORK/$name.in" "$WORK/$name.out"
	mkfifo "$WORK/$name.in"
	"$TRUTH/$name" "$@" <"$WORK/$name.in" >"$WORK/$name.out" 2>"$WORK/$name.err" &
	TRUTH_PID=$!
	exec {TRUTH_IN}>"$WORK/$name.in"
	TRUTH_OUT=$WORK/$name.out
}

# start_truth NAME [ARG...]: like launch_truth, but returns once the program is ready to begin.
start_truth() {
	launch_truth "$@"
	wait_for_line "$TRUTH_OUT" '^ready' 10
}

truth_go() {
	echo >&"$TRUTH_IN"
	wait_for_line "$TRUTH_OUT" '^done' "${1:-30}"
}

# truth_value NAME: a value from the program's own output
truth_value() {
	local value
	value=$(sed -n "s/^$1=//p" "$TRUTH_OUT")
	[ -n "$value" ] || fail "the program printed no $1"
	printf '%s\n' "$value"
}

# ended_beyond WHAT NAME...: the excess of WHAT (cpu_ns, voluntary, involuntary) of the program's ended threads in the
# kernel's account over the values that each thread NAME printed just before its end; at least 0
ended_beyond() {
	local what=$1 name left
	shift
	left=$(truth_value "ended.$what")
	for name in "$@"; do left=$((left - $(truth_value "$name.$what"))); done
	printf '%s\n' $((left > 0 ? left : 0))
}

truth_end() {
	exec {TRUTH_IN}>&-
	wait_for_end "$TRUTH_PID" 10 || fail "the ground-truth program failed: $(cat "$TRUTH_OUT")"
}

# attach_truth TRACE [OPTION...]: attaches; without a budget on emulated CPUs, where tracing is disproportionately
# expensive
attach_truth() {
	local trace=$1 budget=()
	shift
	[ -z "${PROFBPF_TEST_SLACK:-}" ] || budget=(--budget off)
	attach_in_background "$TRUTH_PID" "$trace" --catalog "$ROOT/tests/catalog" "${budget[@]}" "$@"
}

# api_count REPORT FUNCTION [FIELD]: summed over processes, 0 if it was never called
api_count() {
	jq "[.api[] | select(.function == \"$2\") | .${3:-count}] | add // 0" "$1"
}

# of_counts TRACE EXPRESSION: over all calls of truth_count(), which returns its argument, kept as argument1
of_counts() {
	"$ANALYZER" query "$1" --format csv "select $2 as value from calls where function in (select function from functions where symbol = 'truth_count')" |
		tail -n 1
}

# thread_field REPORT TID FIELD
thread_field() {
	json "$1" "[.processes[].threads[] | select(.tid == $2) | .$3] | first"
}
