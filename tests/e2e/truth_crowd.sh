#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# With many targets that share a library, each call of each target is counted and none of other processes; descriptors
# are needed per file, not per process, and the recording can end while the targets run.
# longer: 2,000 and 5,000 processes, not 300
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# The first 256 processes given by ids are held by a descriptor each.
readonly CALLS=20 STRANGERS=40 GROWING=320 DESCRIPTORS=240 HELD=256
crowds=(300)
[ -z "${PROFBPF_TEST_LONG:-}" ] || crowds=(2000 5000)

descriptors() { find "/proc/$DAEMON_PID/fd" -mindepth 1 | wc -l; }
now_ms() { printf '%s\n' $((${EPOCHREALTIME/[.,]/} / 1000)); }
resident_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$DAEMON_PID/status"; }

age_ns() { "$PROFCTL" list --format json | jq '.sessions[0].age_ns'; }
is_older() { [ "$(age_ns)" -gt "$1" ]; }

# die: the recording ends with the last process of the crowd, which no descriptor holds, and not earlier
die() {
	local last
	last=$(tail -n 1 "$WORK/pids")
	assert_eq "processes in the list" "$(wc -l <"$WORK/pids")" \
		"$("$PROFCTL" list --format json | jq '.sessions[0] | (.pids | length) + .pids_left_out')"
	head -n -1 "$WORK/pids" | xargs kill -KILL
	# The daemon checks once a second.
	wait_until 10 is_older $(($(age_ns) + 2500000000)) || fail "it ended too early: $(cat "$WORK/profctl.err")"
	kill -KILL "$last"
	wait_for_end "$PROFCTL_PID" 10 || fail "profctl ended with status $?: $(cat "$WORK/profctl.err")"
}

# attach_crowd PIDS [OPTION...]: attaches and prints the duration
attach_crowd() {
	local pids=$1 began
	shift
	began=$(now_ms)
	attach_in_background "$pids" "$WORK/crowd.pbt" --catalog "$ROOT/tests/catalog" --catalog "$WORK/catalogs" "$@"
	note "live after $(($(now_ms) - began)) ms, $(resident_kib) KiB"
}

# end_crowd HOW PROCESSES: checks that each process's calls are counted, and no others
end_crowd() {
	local began
	began=$(now_ms)
	if [ "$1" = "by their ids" ]; then
		die
	else
		stop_attach
		note "ended after $(($(now_ms) - began)) ms"
	fi
	report_json "$WORK/crowd.pbt" "$WORK/crowd.json"
	assert_loss_accounted "$WORK/crowd.json"
	assert_eq "nothing is lost" true "$(jq .capture.complete "$WORK/crowd.json")"
	assert_eq "calls, $1" $(($2 * CALLS)) "$(api_count "$WORK/crowd.json" truth_noop)"
	assert_eq "calls of crowd_through, $1" $(($2 * CALLS)) "$(api_count "$WORK/crowd.json" crowd_through)"
	truth_end
}

# trace_crowd HOW PROCESSES: traces the processes while they, and processes that are not traced, call
trace_crowd() {
	local stranger stranger_in most=$DESCRIPTORS
	start_truth crowd "$STRANGERS" "$CALLS"
	stranger=$TRUTH_PID stranger_in=$TRUTH_IN
	start_truth crowd "$2" "$CALLS" "$WORK/pids"
	case $1 in
	"by their parent") attach_crowd "$TRUTH_PID" ;;
	"by their ids") attach_crowd "@$WORK/pids" --no-follow ;;
	esac
	[ "$1" = "by their parent" ] || most=$((most + HELD))
	assert_between "descriptors for $2 processes, $1" 1 "$most" "$(descriptors)"
	echo >&"$stranger_in"
	truth_go 60
	assert_between "the same, once they have called" 1 "$most" "$(descriptors)"
	end_crowd "$1" "$2"
	exec {stranger_in}>&-
	wait "$stranger"
}

mkdir "$WORK/catalogs"
printf 'runtime crowd\ncrowd_through other 1\n' >"$WORK/catalogs/crowd.catalog"
start_daemon

few_descriptors() { [ "$(descriptors)" -le "$DESCRIPTORS" ]; }

# Some processes appear while the session starts, which takes longer than a scan of processes, most of them later: at
# first each has separate probes for libraries that all processes map.
launch_truth crowd "$GROWING" "$CALLS" "$WORK/pids" 5
wait_until 10 test -s "$TRUTH_OUT" -o -e "$WORK/pids"
attach_crowd "$TRUTH_PID"
wait_for_line "$TRUTH_OUT" '^ready' 20
wait_until 20 few_descriptors || fail "$(descriptors) descriptors for $GROWING processes that came"
truth_go
end_crowd "of a growing crowd" "$GROWING"

for processes in "${crowds[@]}"; do
	trace_crowd "by their parent" "$processes"
	trace_crowd "by their ids" "$processes"
done

stop_daemon
