#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions of one daemon, which share the scheduler's events, each see as much as a single session.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# A sleeping process for the other session.
sleep 1000 &
sleeper=$!
start_daemon
declare -A SESSION

# begin NAME PID [OPTION...]: starts a session that writes NAME.pbt
begin() {
	local name=$1 pid=$2
	shift 2
	attach_in_background "$pid" "$WORK/$name.pbt" "$@"
	mv "$WORK/profctl.err" "$WORK/$name.err"
	SESSION[$name]=$PROFCTL_PID
}

# end NAME: ends the session and checks that it accounts for all records
end() {
	kill -INT "${SESSION[$1]}"
	wait_for_end "${SESSION[$1]}" 20 || fail "session $1 failed: $(cat "$WORK/$1.err")"
	report_json "$WORK/$1.pbt" "$WORK/$1.json" --top 0
	assert_loss_accounted "$WORK/$1.json"
	assert_complete "$WORK/$1.json"
}

# threads_of REPORT: the short-lived threads of the target with their switches, a line each
threads_of() {
	jq -r ".processes[] | select(.pid == $TRUTH_PID) | .threads[] | select(.name != \"named-late\" and .tid != $TRUTH_PID) |
		\"\(.tid) \(.voluntary_switches) \(.involuntary_switches)\"" "$1" | sort -n
}

# records REPORT: the number of switches and wake-ups
records() { jq '.capture.sources[] | select(.name == "sched") | .delivered' "$1"; }

# all_seen NAME: checks a session that covers the whole program "threads"
all_seen() {
	local r=$WORK/$1.json process=".processes[] | select(.pid == $TRUTH_PID)" cpu ways
	assert_eq "$1: threads seen: 200, the late one and the first" 202 "$(jq "[$process | .threads[]] | length" "$r")"
	cpu=$(truth_value cpu_ns)
	ways=$(($(truth_value ended.cpu_ns) - cpu - $(truth_value late_ns)))
	assert_between "$1: CPU time of the short-lived threads" "$cpu" $((cpu + ways + cpu * SLACK / 5)) \
		"$(jq "[$process | .threads[] | select(.name != \"named-late\" and .tid != $TRUTH_PID) | .run_ns] | add" "$r")"
}

# The first session's slot is free again when the targets begin to work.
begin first "$sleeper"
begin other "$sleeper"
start_truth threads
begin one "$TRUTH_PID" --topics sched
begin all "$TRUTH_PID"
begin stacks "$TRUTH_PID" --topics sched,stack
end first
truth_go
for name in one all stacks other; do end "$name"; done
truth_end
for name in one all stacks; do all_seen "$name"; done
threads_of "$WORK/one.json" >"$WORK/one"
assert_between "threads compared" 200 200 "$(wc -l <"$WORK/one")"
for name in all stacks; do
	threads_of "$WORK/$name.json" | cmp -s - "$WORK/one" || fail "sessions one and $name differ: $(
		threads_of "$WORK/$name.json" | diff "$WORK/one" - | head
	)"
done
# Each thread is woken when it is created, gets a CPU and leaves it; the first thread waits for each.
for name in one all stacks; do assert_between "$name: switches and wake-ups" 600 1000000 "$(records "$WORK/$name.json")"; done
assert_between "switches and wake-ups of the sleeper's session" 0 100 "$(records "$WORK/other.json")"

# Later sessions in their slots find none of their data; after the last session the shared programs are gone, too.
start_truth threads
begin later "$TRUTH_PID" --topics sched
begin beside "$sleeper" --topics sched
truth_go
end beside
end later
truth_end
all_seen later
assert_between "later: switches and wake-ups" 600 1000000 "$(records "$WORK/later.json")"
assert_between "switches and wake-ups of the session beside" 0 100 "$(records "$WORK/beside.json")"
nothing_left() { [ -z "$(bpf_left)" ]; }
wait_until 20 nothing_left || fail "without a session the daemon keeps: $(bpf_left)"
kill "$sleeper"
