#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads blocked in an ioctl or a read when recording begins, when it ends, or both: each call is counted once, with
# its kind and its known duration.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# RNDGETENTCNT
readonly COMMAND=$((0x80045200))
start_truth blocked || skip "needs userfaultfd"
attach_truth "$WORK/blocked.pbt" --topics +ioctl
truth_go
stop_attach
truth_end
r=$WORK/blocked.json
report_json "$WORK/blocked.pbt" "$r" --top 0
assert_loss_accounted "$r"
assert_complete "$r"
session=$(json "$r" .trace.start_ns) end=$(($(json "$r" .trace.start_ns) + $(json "$r" .trace.duration_ns)))
released=$(truth_value released_ns) blocked=$(truth_value blocked_ns)

note "-- ioctls"
"$ANALYZER" export "$WORK/blocked.pbt" --to csv -o "$WORK/csv"
# rows NAME: "start end open returned began_before" of the thread's ioctls
rows() {
	awk -F, -v tid="$(truth_value "$1.tid")" '
		FNR == 1 { for (i = 1; i <= NF; i++) at[FILENAME, $i] = i; next }
		FILENAME ~ /threads.csv$/ { if ($at[FILENAME, "tid"] == tid) thread = $at[FILENAME, "thread"]; next }
		$at[FILENAME, "thread"] == thread {
			returned = $at[FILENAME, "returned"]
			print $at[FILENAME, "start_ns"], $at[FILENAME, "end_ns"], $at[FILENAME, "open"],
				returned == "" ? "unknown" : returned, $at[FILENAME, "began_before"]
		}' "$WORK/csv/threads.csv" "$WORK/csv/ioctls.csv" | sort -n
}
assert_eq "ioctls of the thread that was blocked before" $((1 + $(truth_value afterwards))) "$(rows ioctl_before | wc -l)"
read -r from to open returned before <<<"$(rows ioctl_before | head -n 1)"
assert_eq "the first of them: had not returned, began before" "0 1" "$open $before"
# Hooks on the function see no return of a call whose entry they did not see.
[ "$returned" = 0 ] || assert_eq "what it returned" unknown "$returned"
assert_between "when it was found" "$session" "$released" "$from"
[ "$(json "$r" .capture.switches_missing)" -gt 0 ] ||
	assert_between "how long it took at least" "$released" "$(truth_value ioctl_before.returned_ns)" "$to"
assert_eq "the others" "0 0 0" "$(rows ioctl_before | tail -n +2 | cut -d ' ' -f 3- | sort -u)"
assert_eq "ioctls of the thread that was blocked throughout" 1 "$(rows ioctl_through | wc -l)"
read -r from to open returned before <<<"$(rows ioctl_through)"
assert_eq "had not returned, began before" "1 unknown 1" "$open $returned $before"
assert_between "when it was found" "$session" "$released" "$from"
assert_eq "how long it was seen" "$end" "$to"
assert_eq "ioctls of the thread that was blocked afterwards" 1 "$(rows ioctl_after | wc -l)"
through=$((to - from))
read -r from to open returned before <<<"$(rows ioctl_after)"
assert_eq "had not returned, began while recording" "1 unknown 0" "$open $returned $before"
assert_between "when it began" "$(truth_value ioctl_after.entered_ns)" "$blocked" "$from"
assert_eq "how long it was seen" "$end" "$to"
device() { jq "[.ioctl[] | select(.number == $COMMAND and .device == \"/dev/urandom\" and .pid == $TRUTH_PID) | .$1] | add // 0" "$r"; }
assert_eq "ioctls in the report: all, open, began before, failed" "$((3 + $(truth_value afterwards))) 2 2 0" \
	"$(device count) $(device open) $(device began_before) $(device errors)"
assert_eq "what those took that were open, ns" $((through + to - from)) "$(device open_ns)"
assert_eq "the sum is of those alone that began and ended" "$(rows ioctl_before | tail -n +2 | awk '{ n += $2 - $1 } END { print n + 0 }')" \
	"$(device total_ns)"

note "-- reads"
# sleeps_of NAME FIELD: a field of the thread's sleeps in a read
sleeps_of() {
	jq "[.processes[].threads[] | select(.tid == $(truth_value "$1.tid")) | .sleeps[] | select(.syscall == \"read\") | .$2] | add // 0" "$r"
}
if [ "$(json "$r" .capture.switches_missing)" -eq 0 ]; then
	# A sleep is counted at its end.
	assert_eq "sleeps that ended, of the thread that slept before" 1 "$(sleeps_of read_before count)"
	assert_between "how long it slept while recording" $((released - session)) \
		$(($(truth_value read_before.returned_ns) - session)) "$(sleeps_of read_before total_ns)"
	assert_eq "who woke it" "$TRUTH_PID" "$(sleeps_of read_before woken_by_pid)"
	assert_eq "sleeps that ended, of the thread that slept afterwards" 0 "$(sleeps_of read_after count)"
	assert_between "how long it slept while recording" $((end - blocked)) $((end - $(truth_value read_after.entered_ns))) \
		"$(sleeps_of read_after total_ns)"
fi
assert_eq "of the thread that slept throughout" "0 $((end - session)) 0" \
	"$(sleeps_of read_through count) $(sleeps_of read_through total_ns) $(thread_field "$r" "$(truth_value read_through.tid)" run_ns)"
assert_eq "what it slept in after the last entry" pipe \
	"$(jq -r "[.processes[].threads[] | select(.tid == $(truth_value read_after.tid)) | .sleeps[] | .reason] | first" "$r")"
