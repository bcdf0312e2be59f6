#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ioctls on device files are counted by driver, device and command, with their errors; others are not.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth ioctls
attach_truth "$WORK/ioctls.pbt" --topics +ioctl
truth_go
stop_attach
truth_end
report_json "$WORK/ioctls.pbt" "$WORK/ioctls.json"
r=$WORK/ioctls.json
assert_loss_accounted "$r"
assert_eq "ioctls on the terminal" "$(truth_value good)" \
	"$(jq '[.ioctl[] | select(.device == "/dev/ptmx") | .count] | add' "$r")"
assert_eq "of them with an error" 0 "$(jq '[.ioctl[] | select(.device == "/dev/ptmx") | .errors] | add' "$r")"
assert_eq "ioctls on /dev/null" "$(truth_value bad)" \
	"$(jq '[.ioctl[] | select(.device == "/dev/null") | .count] | add' "$r")"
assert_eq "of them with an error" "$(truth_value bad)" \
	"$(jq '[.ioctl[] | select(.device == "/dev/null") | .errors] | add' "$r")"
assert_eq "driver of /dev/null" mem "$(jq -r '[.ioctl[] | select(.device == "/dev/null") | .driver] | first' "$r")"
assert_eq "process" "$TRUTH_PID" "$(jq '[.ioctl[].pid] | unique | first' "$r")"
assert_eq "ioctls in all: none on pipes" $(($(truth_value good) + $(truth_value bad))) "$(jq '[.ioctl[].count] | add' "$r")"
