#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ends of calls are not seen while that would cost more than the budget: all calls are counted, the trace tells when.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth hot
attach_truth "$WORK/hot.pbt" --budget 2% --topics api
truth_go 60
stop_attach
truth_end
report_json "$WORK/hot.pbt" "$WORK/hot.json"
r=$WORK/hot.json
assert_loss_accounted "$r"
assert_complete "$r"

calls=$(truth_value calls) unknown=$(api_count "$r" truth_noop end_unknown)
assert_eq "calls of the function that became hot" "$calls" "$(api_count "$r" truth_noop)"
assert_between "of them without an end" 20000 $((calls - 1000)) "$unknown"
assert_eq "calls of the function that did not" "$(truth_value rare)" "$(api_count "$r" truth_make)"
assert_eq "of them without an end" 0 "$(api_count "$r" truth_make end_unknown)"
assert_eq "calls that were left" 0 "$(api_count "$r" truth_noop left)"
assert_eq "functions without ends" truth_noop "$(jq -r '[.capture.ends_not_seen[].function] | unique | join(" ")' "$r")"
assert_eq "times that they were" 1 "$(jq '.capture.ends_not_seen | length' "$r")"
# It is called rarely for the last 8 s, of which 5 or so pass until that counts.
assert_eq "ends that were seen again, before the end" true "$(jq '.trace as $t | .capture.ends_not_seen[0] |
	.start_ns + .duration_ns < ([$t.start_ns // 0, 0] | max) + $t.duration_ns - 500000000' "$r")"
note "without an end: $unknown of $calls calls; $(jq -c '.capture.ends_not_seen' "$r")"

# Calls that are too short for a record: while they are hot, all calls of the function are counted only, without their time.
rm "$WORK/hot.in"
start_truth hot
attach_truth "$WORK/short.pbt" --budget 2% --topics api --min-duration 1s
truth_go 60
stop_attach
truth_end
r=$WORK/short.json
report_json "$WORK/short.pbt" "$r"
assert_loss_accounted "$r"
assert_complete "$r"
calls=$(truth_value calls) unknown=$(api_count "$r" truth_noop end_unknown)
assert_eq "calls of the hot function that were too short" "$calls" "$(api_count "$r" truth_noop)"
assert_between "of these without a time" 20000 $((calls - 1000)) "$unknown"
assert_between "records of calls" 0 50 "$(jq '[.capture.sources[] | select(.name == "api") | .produced] | add' "$r")"
assert_eq "short functions without ends" truth_noop "$(jq -r '[.capture.ends_not_seen[].function] | unique | join(" ")' "$r")"
assert_eq "times that short calls had no ends" 1 "$(jq '.capture.ends_not_seen | length' "$r")"
assert_between "ns of a call, of those with a time" 1 100000 "$(api_count "$r" truth_noop mean_ns)"

# As much as it takes.
rm "$WORK/hot.in"
start_truth hot hot
attach_truth "$WORK/off.pbt" --budget off --topics api
truth_go 60
stop_attach
truth_end
report_json "$WORK/off.pbt" "$WORK/off.json"
assert_eq "calls without a budget" "$(truth_value calls)" "$(api_count "$WORK/off.json" truth_noop)"
assert_eq "of them without an end" 0 "$(api_count "$WORK/off.json" truth_noop end_unknown)"
