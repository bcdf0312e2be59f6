#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 200 threads of a millisecond each are all recorded; a thread that is named late has that name in the report.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth threads
attach_truth "$WORK/threads.pbt"
truth_go
stop_attach
truth_end
report_json "$WORK/threads.pbt" "$WORK/threads.json" --top 0
r=$WORK/threads.json
assert_loss_accounted "$r"
process=".processes[] | select(.pid == $TRUTH_PID)"
assert_eq "threads seen: 200, the late one and the first" 202 "$(jq "[$process | .threads[]] | length" "$r")"
cpu=$(truth_value cpu_ns)
# Creation and exit of a thread take some CPU time outside its own readings; the kernel's sum contains them,
# except the last instructions.
ways=$(($(truth_value ended.cpu_ns) - cpu - $(truth_value late_ns)))
assert_between "CPU time of the short-lived threads" "$cpu" $((cpu + ways + cpu * SLACK / 5)) \
	"$(jq "[$process | .threads[] | select(.name != \"named-late\" and .tid != $TRUTH_PID) | .run_ns] | add" "$r")"
assert_eq "the thread named late" 1 "$(jq "[$process | .threads[] | select(.name == \"named-late\")] | length" "$r")"
assert_eq "run_ns of the process is the sum of its threads" \
	"$(jq "[$process | .threads[].run_ns] | add" "$r")" "$(jq "$process | .run_ns" "$r")"
