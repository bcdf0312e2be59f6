#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A long sleep of a process that exits, when nothing runs on its return to user space any more, has its stack.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq unshare
unshare --pid --fork true 2>/dev/null || skip "this machine allows no namespaces of processes"
[ "$(awk '$1 !~ /^0+$/ { print; exit }' /proc/kallsyms)" ] || skip "this kernel tells no addresses of its functions"

start_truth exit_sleep
attach_truth "$WORK/exit.pbt" --topics sched,stack --stack-block 10ms
truth_go
stop_attach
truth_end
r=$WORK/exit.json
report_json "$WORK/exit.pbt" "$r" --top 0
assert_loss_accounted "$r"
waits=$(truth_value waits)
sleeps() { jq "[.stacks.blocking[] | select(any(.frames[]; .kind == \"kernel\" and (.name | startswith(\"zap_pid_ns_processes\")))) | .$1] | add // 0" "$r"; }
assert_between "sleeps of processes that exit" $((waits - $(json "$r" .capture.switches_missing))) "$waits" "$(sleeps count)"
[ "$(json "$r" .capture.switches_missing)" -gt 0 ] ||
	assert_between "time asleep" $((waits * $(truth_value wait_ns) * 8 / 10)) $((waits * $(truth_value wait_ns) * 20)) "$(sleeps total_ns)"
