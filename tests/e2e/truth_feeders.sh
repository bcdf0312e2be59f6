#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The feeders of the submitting thread, in a program without a framework: a process writes into a pipe,
# two threads read it and fill a list, for which the submitting thread waits.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

readonly ELEMENTS=200

start_truth decoders $ELEMENTS
attach_truth "$WORK/feeders.pbt"
truth_go
stop_attach
truth_end
report_json "$WORK/feeders.pbt" "$WORK/feeders.json" --top 0
r=$WORK/feeders.json
assert_loss_accounted "$r"
p=".pipeline[] | select(.pid == $TRUTH_PID)"
assert_eq "pipelines" 1 "$(jq "[$p] | length" "$r")"
assert_eq "its framework" unknown "$(jq -r "$p | .framework" "$r")"
assert_eq "operators, that nearest to the device first" "decode,process reader" \
	"$(jq -r "[$p | .operators[].name] | join(\",\")" "$r")"
assert_eq "threads of decode" 2 "$(jq "[$p | .operators[0].threads[]] | length" "$r")"
assert_eq "the reader's process" "$(truth_value reader)" "$(jq "$p | .operators[1].threads[0].pid" "$r")"
assert_eq "what the reader feeds" "[0]" "$(jq -c "[$p | .operators[1].parents[]]" "$r")"
# Every element finds the submitting thread asleep; kernels do not report every switch.
assert_between "sleeps of the submitting thread" $((ELEMENTS * 8 / 10)) $((ELEMENTS * 11 / 10)) "$(jq "$p | .fetches.sleeps" "$r")"
assert_eq "no number of elements is made up" null "$(jq "$p | .operators[0].elements" "$r")"
assert_eq "no steps are made up" 0 "$(jq '[.steps.pipelines[]?.count // 0] | add // 0' "$r")"
