#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A million launches on 8 streams, 5 % of the calls lost, numbers that restart, a device's clock that drifts by 200 ppm
# and jumps: read from files, every join is right, only lost calls are not joined, and times are within the stated
# error; and the same by order and names alone, for a device with unknown clock and streams.
# timeout: 1200
# long: test_launch_ids has the same in memory, and truth_storm live
. "$(dirname "$0")/lib.sh"
need_command jq python3

MAKE_JOINS=$BUILD/tests/tools/make_joins
R=$WORK/report.json

# check_joins PROFILE LAUNCHES HOW
check_joins() {
	local launches recorded
	eval "$("$MAKE_JOINS" "$WORK/run.pbt" "$1" "$2")"
	note "$launches launches, $recorded recorded"
	"$ANALYZER" report "$WORK/run.pbt" --device "$1" --section join --format json -o "$R"
	assert_eq "tasks: all, joined, without a call, ambiguous; calls without a task" \
		"$launches $recorded $((launches - recorded)) 0 0" \
		"$(jq -r '.join | "\(.tasks) \(.matched) \(.unmatched_tasks) \(.ambiguous) \(.unmatched_launches)"' "$R")"
	assert_eq "how" "$3" "$(json "$R" .join.method)"
	assert_between "drift, ppb" -205000 -195000 "$(json "$R" .join.clock.drift_ppb)"
	assert_eq "tasks before their launch" 0 "$(json "$R" .join.clock.before_enqueue)"
	"$ANALYZER" export "$WORK/run.pbt" --device "$1" --to sqlite -o "$WORK/run.db"
	python3 tests/tools/check_joins.py "$WORK/run.db" "$R" || fail "joins or times are wrong"
	rm "$WORK/run.db"
}

check_joins "$WORK/task_time_20261122.csv" 1000000 "numbers of stream and task"
assert_eq "jumps of the clock" 5 "$(json "$R" .join.clock.steps)"

# Only names and order, an unknown clock, and stream numbers that differ from the host's.
check_joins "$WORK/device.json" 20000 "order within the stream"
assert_eq "clock" "undeclared causality" "$(jq -r '.join.clock | "\(.clock) \(.method)"' "$R")"
assert_between "its error, ns: less than tasks are apart" 1 5500 "$(json "$R" .join.clock.error_ns)"
