#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job whose cgroup limits its disk reads (io.max, or blkio of version 1): the throttled time is reported as
# waiting for a file or its disk, not as CPU time or any other sleep.
# beside others: a disk of its own is what it waits for
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq losetup

readonly RATE=131072
truncate -s 16M "$WORK/disk"
disk=$(losetup --find --show "$WORK/disk" 2>/dev/null) || skip "needs a loop device"
trap 'status=$?; trap - ERR; losetup -d "$disk"; (exit $status); cleanup_test' EXIT
dd if=/dev/zero of="$disk" bs=1M count=16 oflag=direct status=none
make_slow_group profbpf-slow "$(stat -c '%Hr:%Lr' "$disk")" $RATE ||
	skip "needs a cgroup controller of block devices (blkio of version 1, io of version 2)"
note "$(grep -H . "$SLOW_GROUP/io.max" "$SLOW_GROUP/blkio.throttle.read_bps_device" 2>/dev/null || :)"

start_truth block "$disk"
echo "$TRUTH_PID" >"$SLOW_GROUP/cgroup.procs"
attach_truth "$WORK/slow.pbt" --topics sched,account,io
truth_go 120
stop_attach
truth_end
r=$WORK/slow.json
report_json "$WORK/slow.pbt" "$r" --top 0
assert_eq "capture is complete" true "$(jq .capture.complete "$r")"
! jq -r '.trace.notes[]?' "$r" | grep -q 'topic io is left out' || skip "this kernel has no tracepoints of block requests"

# Two threads read, one after the other. The first bytes are not throttled; waits for a CPU on a busy machine
# shorten the waits for the disk. A kernel thread finally submits throttled requests: the sleep is then a sleep for
# a file, and without throttling a sleep for a disk.
bytes=$((($(truth_value reads) + $(truth_value cached)) * $(truth_value block)))
least_ms=$((bytes * 1000 / RATE / 3))
sum() {
	jq "[.processes[].threads[] | select(.tid == $(truth_value reader.tid) or .tid == $(truth_value cached.tid)) | $1] |
		add / 1000000 | floor" "$r"
}
asleep=$(sum .blocked_ns)
assert_between "ms asleep while $bytes bytes were read" $least_ms 100000000 "$asleep"
assert_between "of it for the disk" $((asleep * 9 / 10)) $((asleep + asleep / 10 + 1)) \
	"$(sum '(.blocked_by | (.file_ns // 0) + (.block_io_ns // 0))')"
assert_between "ms on a CPU" 0 "$asleep" "$(sum .run_ns)"
assert_between "bytes that the process read from it" "$bytes" 100000000 \
	"$(jq "[.processes[] | select(.pid == $TRUTH_PID) | .read_bytes] | first" "$r")"
