#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that use the same slot of the table of call stacks, one after the other and side by side, and a thread whose
# id changes when it executes another program: every call is recorded once, for the right thread.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth places
attach_truth "$WORK/places.pbt" --topics api
truth_go 120
stop_attach
truth_end
report_json "$WORK/places.pbt" "$WORK/places.json"
r=$WORK/places.json
assert_loss_accounted "$r"
assert_complete "$r"
each=$(truth_value each)
assert_eq "truth_noop calls" $((3 * each)) "$(api_count "$r" truth_noop)"
assert_eq "truth_inner calls, inside truth_outer" 18 "$(api_count "$r" truth_inner)"
"$ANALYZER" export "$WORK/places.pbt" --to chrome -o "$WORK/places.trace.json"
for name in first second third; do
	tid=$(truth_value "$name.tid")
	assert_eq "truth_noop calls of the $name thread, $tid" "$each" \
		"$(jq "[.[] | select(.ph == \"X\" and .name == \"truth_noop\" and .tid == $tid)] | length" "$WORK/places.trace.json")"
done

rm "$WORK/places.in"
start_truth places exec
attach_truth "$WORK/exec.pbt" --topics api
truth_go
stop_attach
assert_eq "id of the thread that ran the program" "$TRUTH_PID" "$(truth_value tid)"
truth_end
report_json "$WORK/exec.pbt" "$WORK/exec.json"
assert_loss_accounted "$WORK/exec.json"
assert_complete "$WORK/exec.json"
assert_eq "truth_noop calls before" "$(truth_value noops)" "$(api_count "$WORK/exec.json" truth_noop)"
