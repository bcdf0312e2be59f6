#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Known calls of known threads: counts, errors, durations, nesting, arguments and open calls are exact.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth calls
attach_truth "$WORK/calls.pbt"
truth_go
stop_attach
truth_end
report_json "$WORK/calls.pbt" "$WORK/calls.json"
r=$WORK/calls.json
assert_loss_accounted "$r"
assert_complete "$r"

assert_eq "truth_noop calls" "$(truth_value noops)" "$(api_count "$r" truth_noop)"
assert_eq "truth_fail_every calls" 300 "$(api_count "$r" truth_fail_every)"
assert_eq "truth_fail_every errors" 30 "$(api_count "$r" truth_fail_every errors)"
assert_eq "what truth_count returned, added up" 45 "$(of_counts "$WORK/calls.pbt" "sum(returned)")"
assert_eq "truth_make calls" 20 "$(api_count "$r" truth_make)"
assert_eq "truth_make null handles" 5 "$(api_count "$r" truth_make errors)"
assert_eq "truth_outer calls" 10 "$(api_count "$r" truth_outer)"
assert_eq "truth_inner calls, inside truth_outer" 30 "$(api_count "$r" truth_inner)"
assert_eq "truth_recurse calls, one inside the other" 5 "$(api_count "$r" truth_recurse)"
assert_eq "truth_arguments calls" 7 "$(api_count "$r" truth_arguments)"
assert_eq "truth_sleep calls" 20 "$(api_count "$r" truth_sleep)"
# Each call sleeps 5 ms, and lies within the program's own measurement.
assert_between "truth_sleep total ns" $((20 * 5000000)) "$(truth_value sleep_total_ns)" "$(api_count "$r" truth_sleep total_ns)"
assert_eq "truth_method calls" 21 "$(api_count "$r" truth_method)"
assert_eq "truth_method errors, of what it went on in" 5 "$(api_count "$r" truth_method errors)"
assert_between "truth_method total ns" $((20 * 1000000)) $(($(truth_value methods_total_ns) + 100000000)) "$(api_count "$r" truth_method total_ns)"
assert_eq "truth_dropped calls, of which it is not known where they went on" 1 "$(api_count "$r" truth_dropped end_unknown)"
assert_eq "truth_dropped calls that were left" 0 "$(api_count "$r" truth_dropped left)"
assert_eq "open calls at detach" 1 "$(api_count "$r" truth_block open)"

# The same for individual calls: arguments, string, the value written through a pointer, the thread.
"$ANALYZER" export "$WORK/calls.pbt" --to chrome -o "$WORK/calls.trace.json"
c=$WORK/calls.trace.json
assert_eq "truth_arguments with its string argument" 7 \
	"$(jq '[.[] | select(.name == "truth_arguments" and .args.text == "kernel_name_of_seven")] | length' "$c")"
assert_eq "bytes of the seven calls" 7021 "$(jq '[.[] | select(.name == "truth_arguments") | .args.bytes] | add' "$c")"
assert_eq "values written through a pointer" 42021 \
	"$(jq '[.[] | select(.name == "truth_arguments") | .args.value] | add' "$c")"
for i in 0 1 2; do
	tid=$(truth_value "thread.$i.tid")
	assert_eq "truth_noop calls of thread $tid" "$(truth_value "thread.$i.noops")" \
		"$(jq "[.[] | select(.ph == \"X\" and .name == \"truth_noop\" and .tid == $tid)] | length" "$c")"
done

# Shorter calls are counted but not recorded.
rm "$WORK/calls.in"
start_truth calls
attach_truth "$WORK/short.pbt" --min-duration 1ms --topics api
truth_go
stop_attach
truth_end
report_json "$WORK/short.pbt" "$WORK/short.json"
assert_loss_accounted "$WORK/short.json"
assert_eq "truth_noop calls counted under --min-duration" 30000 "$(api_count "$WORK/short.json" truth_noop)"
assert_eq "truth_sleep calls recorded under --min-duration" 20 "$(api_count "$WORK/short.json" truth_sleep)"
