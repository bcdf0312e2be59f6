#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The target is killed during a session: the session ends by itself with a complete file.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
own_truth busy

start_daemon
start_truth busy
attach_truth "$WORK/target.pbt"
sleep 1
kill -KILL "$TRUTH_PID"
wait_for_end "$PROFCTL_PID" 20 || fail "profctl failed: $(cat "$WORK/profctl.err")"
assert_contains "why it ended" "$WORK/profctl.err" 'target exited'
report_json "$WORK/target.pbt" "$WORK/target.json"
assert_loss_accounted "$WORK/target.json"
assert_eq "the file is complete" true "$(jq .capture.complete "$WORK/target.json")"
"$PROFCTL" list --format json >"$WORK/list.json"
assert_eq "sessions left" 0 "$(jq '.sessions | length' "$WORK/list.json")"
stop_daemon
