#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of long sleeps that end in a signal's handler, with the process, just before it, or in the middle of a system call.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# sleeps NAME [MORE]: the number of sleeps in NAME, and in MORE
sleeps() {
	jq --arg name "$1" --arg more "${2:-$1}" '[.stacks.blocking[] |
		select([.frames[].name] | index($name) and index($more)) | .count] | add // 0' "$report"
}

report=$WORK/returns.json
start_truth returns $((600 * SLACK))
# With api, the session is told of new mappings: those of children that end at once are known to be their parent's.
attach_truth "$WORK/returns.pbt" --topics api,sched,stack --stack-block 5ms
truth_go 60
stop_attach
truth_end
report_json "$WORK/returns.pbt" "$report"
assert_loss_accounted "$report"
assert_complete "$report"

# Kernels that do not report every switch hide some sleeps.
missing=$(($(json "$report" .capture.switches_missing) + 1))
interrupted=$(truth_value interrupted)
assert_between "interrupted sleeps, by where the thread slept" $((interrupted - missing)) "$interrupted" \
	"$(sleeps block_until_signal be_interrupted)"
assert_eq "found in the handler" 0 "$(sleeps on_alarm)"
killed=$(truth_value killed)
assert_between "sleeps of who was killed" $((killed - missing)) "$killed" "$(sleeps block_until_killed)"
short=$(truth_value short_lives)
assert_between "sleeps of who ends just after" $((short - missing)) "$short" "$(sleeps block_once)"
writes=$(truth_value write_sleeps) writers=$(truth_value writers) slept=$(sleeps block_in_write)
# A late reader may drain two fills of the pipe for one sleep.
assert_between "sleeps of writers" $((writes * 8 / 10 - missing)) $((writes + writers)) "$slept"
# In its first sleep a writer may be one too many of those that are to walk when they are back.
assert_between "of them by their whole chain" $((slept - writers - missing)) "$slept" "$(sleeps block_in_write writer)"
