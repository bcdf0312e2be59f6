#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Page faults of threads: minor and major faults equal the kernel's counts; each major fault has its file.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# A file system on a disk, because one in memory has no major faults.
folder=''
for candidate in "${PROFBPF_TEST_DISK:-}" "$WORK" /var/tmp "$BUILD"; do
	[ -d "$candidate" ] || continue
	device=$(findmnt -n -o SOURCE --target "$candidate" || :)
	[ -b "${device%%\[*}" ] && folder=$(mktemp -d "$candidate/faults.XXXXXX") && break
done
trap 'status=$?; trap - ERR; rm -rf "$folder"; (exit $status); cleanup_test' EXIT

start_truth page_faults "${folder:-$WORK}"
attach_truth "$WORK/faults.pbt" --topics sched,account,fault
truth_go 60
# The end of the session brings the last figures of exited threads.
stop_attach
truth_end
r=$WORK/faults.json
report_json "$WORK/faults.pbt" "$r" --top 0
assert_loss_accounted "$r"
assert_eq "capture is complete" true "$(jq .capture.complete "$r")"

# A thread has some more faults, before its first instruction and after its last one.
tid=$(truth_value minor.tid) n=$(truth_value minor.minor)
assert_between "minor faults" "$n" $((n + 40)) "$(thread_field "$r" "$tid" minor_faults)"
assert_eq "major faults of that thread" "$(truth_value minor.major)" "$(thread_field "$r" "$tid" major_faults)"

[ -n "$folder" ] && [ "$(truth_value cold)" = 1 ] || skip "needs a file system on a disk (PROFBPF_TEST_DISK)"
tid=$(truth_value major.tid) n=$(truth_value major.major) file=$(truth_value file)
[ "$n" -ge "$(truth_value pages)" ] || skip "this file system's pages stay in memory: $n major faults"
assert_between "major faults, as the kernel counts" "$n" $((n + 2)) "$(thread_field "$r" "$tid" major_faults)"
faults() { jq "[.major_faults[] | select(.file == \"$file\") | .$1] | add // 0" "$r"; }
assert_eq "major faults of the file, one by one" "$(truth_value pages)" "$(faults count)"
# A fast disk delivers the page before the thread sleeps, or while it leaves its CPU: then it has no sleep.
assert_between "of these, slept for" 1 "$(truth_value major.sleeps)" "$(faults slept)"
sleeps() { jq "[.processes[].threads[] | select(.tid == $tid) | .sleeps[] | select($1) | .$2] | add // 0" "$r"; }
assert_between "sleeps in major faults" 1 "$(truth_value major.sleeps)" \
	"$(sleeps '.reason == "major_fault" and .major' count)"
assert_between "sleeps on that file" 1 "$(truth_value major.sleeps)" \
	"$(sleeps ".reason == \"major_fault\" and .name == \"$file\"" count)"
assert_between "time asleep in them, within the faults" 1 "$(faults total_ns)" \
	"$(sleeps ".reason == \"major_fault\" and .name == \"$file\"" total_ns)"
assert_eq "no other reason has them" 0 "$(sleeps '.reason == "page_fault"' count)"
