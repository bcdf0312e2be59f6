#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Requests to a block device: their number, bytes, threads, and the sleeps for them are exact.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq losetup

# A separate loop device is a disk without other users.
truncate -s 16M "$WORK/disk"
disk=$(losetup --find --show "$WORK/disk" 2>/dev/null) || skip "needs a loop device"
trap 'status=$?; trap - ERR; losetup -d "$disk"; (exit $status); cleanup_test' EXIT
# Fills the file: holes would be read without the device below.
dd if=/dev/zero of="$disk" bs=1M count=16 oflag=direct status=none

start_truth block "$disk"
attach_truth "$WORK/io.pbt" --topics sched,account,io
truth_go 60
stop_attach
truth_end
r=$WORK/io.json
report_json "$WORK/io.pbt" "$r" --top 0
assert_loss_accounted "$r"
assert_eq "capture is complete" true "$(jq .capture.complete "$r")"
! jq -r '.trace.notes[]?' "$r" | grep -q 'topic io is left out' || skip "this kernel has no tracepoints of block requests"

of() { jq "[.block_io[] | select(.device == \"$disk\" and .operation == \"$1\") | .$2] | add // 0" "$r"; }
block=$(truth_value block)
reads=$(($(truth_value reads) + $(truth_value cached)))
writes=$(($(truth_value writes) + $(truth_value flushes)))
assert_eq "the disk's number" "$(stat -c %t:%T "$disk")" \
	"$(printf %x:%x "$(jq "[.block_io[] | select(.device == \"$disk\") | .major][0]" "$r")" "$(jq "[.block_io[] | select(.device == \"$disk\") | .minor][0]" "$r")")"
assert_eq "reads" "$reads" "$(of read count)"
assert_eq "bytes read" $((reads * block)) "$(of read bytes)"
assert_eq "writes" "$writes" "$(of write count)"
assert_eq "bytes written" $(((2 * $(truth_value writes) + $(truth_value flushes)) * block)) "$(of write bytes)"
assert_eq "flushes" "$(truth_value flushes)" "$(of flush count)"
assert_eq "failed" 0 "$(jq '[.block_io[].failed] | add' "$r")"
assert_eq "all of them by the program" "[$TRUTH_PID]" "$(jq -c "[.block_io[] | select(.device == \"$disk\") | .pid] | unique" "$r")"
for operation in read write flush; do
	assert_between "the mean of each $operation lies between its extremes" "$(of $operation min_ns)" "$(of $operation max_ns)" "$(of $operation mean_ns)"
done

# The requesting thread slept for each request, unless the device was faster than the thread in leaving its CPU.
sleeps() {
	jq "[.processes[].threads[] | select(.tid == $(truth_value "$1.tid")) | .sleeps[] |
		select(.reason == \"block_io\" and .disk == \"$disk\" and .syscall == \"$2\") | .count] | add // 0" "$r"
}
# least NUMBER NUMBER
least() { echo $(($1 < $2 ? $1 : $2)); }
assert_between "sleeps in direct reads" "$(least 1 "$(truth_value reader.sleeps)")" "$(least "$(truth_value reads)" "$(truth_value reader.sleeps)")" "$(sleeps reader pread64)"
assert_between "sleeps in direct writes" "$(least 1 "$(truth_value writer.sleeps)")" "$(least "$(truth_value writes)" "$(truth_value writer.sleeps)")" "$(sleeps writer pwrite64)"
assert_between "sleeps in reads through the cache" "$(least 1 "$(truth_value cached.sleeps)")" "$(least "$(truth_value cached)" "$(truth_value cached.sleeps)")" "$(sleeps cached pread64)"
assert_between "sleeps in flushes" "$(least 1 "$(truth_value flusher.sleeps)")" "$(truth_value flushes)" "$(sleeps flusher fdatasync)"
[ "$(truth_value reader.sleeps)" -gt 0 ] || { note "the disk was always faster" && exit 0; }
tid=$(truth_value reader.tid)
# If the kernel omitted a switch, the time asleep is from its own sums, and less than the reported sleeps.
[ "$(thread_field "$r" "$tid" source)" != switches ] ||
	assert_between "time in block I/O is time asleep, but for what settles CPU time" 1 \
		$(($(thread_field "$r" "$tid" blocked_ns) + 5000000 * SLACK)) \
		"$(thread_field "$r" "$tid" blocked_by.block_io_ns)"
assert_between "a sleep's request takes about as long as the sleep" 1 $((2 * $(jq "[.processes[].threads[] | select(.tid == $tid) | .sleeps[] | select(.reason == \"block_io\") | .max_ns] | max" "$r"))) \
	"$(jq "[.processes[].threads[] | select(.tid == $tid) | .sleeps[] | select(.reason == \"block_io\") | .disk_mean_ns] | first" "$r")"
# Without the topic its tables are empty.
assert_eq "major faults" 0 "$(jq '.major_faults | length' "$r")"
