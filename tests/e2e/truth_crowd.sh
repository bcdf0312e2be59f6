#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attached to many processes that share a library, each call of each is counted and none of others, with descriptors
# for files, not for processes, and the recording ends while they go on.
# longer: 2,000 and 5,000 processes, not 250
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

readonly CALLS=20 STRANGERS=40 GROWING=100 DESCRIPTORS=240
crowds=(250)
[ -z "${PROFBPF_TEST_LONG:-}" ] || crowds=(2000 5000)

descriptors() { find "/proc/$DAEMON_PID/fd" -mindepth 1 | wc -l; }
now_ms() { printf '%s\n' $((${EPOCHREALTIME/[.,]/} / 1000)); }
resident_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$DAEMON_PID/status"; }

# attach_crowd PIDS: says how long it took
attach_crowd() {
	local began
	began=$(now_ms)
	attach_in_background "$1" "$WORK/crowd.pbt" --catalog "$ROOT/tests/catalog"
	note "live after $(($(now_ms) - began)) ms, $(resident_kib) KiB"
}

# end_crowd HOW PROCESSES: each has called, and nothing else is counted
end_crowd() {
	local began
	began=$(now_ms)
	stop_attach
	note "ended after $(($(now_ms) - began)) ms"
	report_json "$WORK/crowd.pbt" "$WORK/crowd.json"
	assert_loss_accounted "$WORK/crowd.json"
	assert_eq "nothing is lost" true "$(jq .capture.complete "$WORK/crowd.json")"
	assert_eq "calls, $1" $(($2 * CALLS)) "$(api_count "$WORK/crowd.json" truth_noop)"
	truth_end
}

# trace_crowd HOW PROCESSES: they, and strangers, call while they are traced
trace_crowd() {
	local stranger stranger_in
	start_truth crowd "$STRANGERS" "$CALLS"
	stranger=$TRUTH_PID stranger_in=$TRUTH_IN
	start_truth crowd "$2" "$CALLS" "$WORK/pids"
	case $1 in
	"by their parent") attach_crowd "$TRUTH_PID" ;;
	esac
	assert_between "descriptors for $2 processes, $1" 1 "$DESCRIPTORS" "$(descriptors)"
	echo >&"$stranger_in"
	truth_go 60
	end_crowd "$1" "$2"
	exec {stranger_in}>&-
	wait "$stranger"
}

start_daemon

# Some come while the session is started, which takes longer than a look at who is there.
launch_truth crowd "$GROWING" "$CALLS" "$WORK/pids" 20
wait_until 10 test -s "$TRUTH_OUT" -o -e "$WORK/pids"
attach_crowd "$TRUTH_PID"
wait_for_line "$TRUTH_OUT" '^ready' 20
truth_go
end_crowd "of a growing crowd" "$GROWING"

for processes in "${crowds[@]}"; do
	trace_crowd "by their parent" "$processes"
done
stop_daemon
