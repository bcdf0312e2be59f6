#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A million launches on 8 streams, 5 % of the calls lost, numbers that start anew, a device's clock that drifts by 200 ppm
# and jumps: read from files, every join is the right one, what is not joined is what was lost, and times are as near as
# stated.
# timeout: 1200
. "$(dirname "$0")/lib.sh"
need_command jq python3

MAKE_JOINS=$BUILD/tests/tools/make_joins
PROFILE=$WORK/task_time_20261122.csv

# Expected values become variables: launches, recorded
eval "$("$MAKE_JOINS" "$WORK/run.pbt" "$PROFILE" 1000000)"
# shellcheck disable=SC2154 # set by eval
note "$launches launches, $recorded recorded"
R=$WORK/report.json
"$ANALYZER" report "$WORK/run.pbt" --device "$PROFILE" --section join --format json -o "$R"
# shellcheck disable=SC2154
assert_eq "tasks: all, joined, without a call, ambiguous; calls without a task" \
	"$launches $recorded $((launches - recorded)) 0 0" \
	"$(jq -r '.join | "\(.tasks) \(.matched) \(.unmatched_tasks) \(.ambiguous) \(.unmatched_launches)"' "$R")"
assert_eq "how" "numbers of stream and task" "$(json "$R" .join.method)"
assert_eq "jumps of the clock" 5 "$(json "$R" .join.clock.steps)"
assert_between "drift, ppb" -205000 -195000 "$(json "$R" .join.clock.drift_ppb)"
assert_eq "tasks before their launch" 0 "$(json "$R" .join.clock.before_enqueue)"
"$ANALYZER" export "$WORK/run.pbt" --device "$PROFILE" --to sqlite -o "$WORK/run.db"
python3 tests/tools/check_joins.py "$WORK/run.db" "$R" || fail "joins or times are wrong"
