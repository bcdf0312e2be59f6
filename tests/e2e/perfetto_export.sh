#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Perfetto's own trace processor finds exactly the content of a known trace in both exports.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/trace_queries_lib.sh"
need_trace_processor

MAKE_TRACE=$BUILD/tests/tools/make_trace
EXPORT=$WORK/run.pftrace

# Expected values become variables: calls, ioctls, tasks, ...
eval "$("$MAKE_TRACE" "$WORK/run.pbt" 1000)"
# shellcheck disable=SC2154 # set by eval
note "expected: $calls calls, $ioctls ioctls, $tasks tasks, $sched slices on CPUs"

# ---- Perfetto's format

"$ANALYZER" export "$WORK/run.pbt" --to perfetto -o "$EXPORT"
assert_trace_clean "$EXPORT"

# shellcheck disable=SC2154
{
	expect "calls" "$calls" "select count(*) from slice where category in ('launch', 'copy', 'sync')"
	expect "time in calls" "$call_ns" "select sum(dur) from slice where category in ('launch', 'copy', 'sync')"
	expect "ioctls" "$ioctls" "select count(*) from slice where category = 'ioctl'"
	expect "errors" "$errors" "select count(*) from slice where name = 'cudaStreamSynchronize' and extract_arg(arg_set_id, 'debug.ret') = 700"
	expect "other returned values" 0 "select count(*) from slice where category != 'ioctl' and extract_arg(arg_set_id, 'debug.ret') != 700"
	expect "open calls" 1 "select count(*) from slice where extract_arg(arg_set_id, 'debug.open')"
	expect "bytes" 4102 "select max(extract_arg(arg_set_id, 'debug.bytes')) from slice where category = 'copy'"
	expect "ioctls inside cuLaunchKernel inside cudaLaunchKernel" "$ioctls" \
		"select count(*) from slice s join slice p on p.id = s.parent_id join slice g on g.id = p.parent_id
		 where s.category = 'ioctl' and p.name = 'cuLaunchKernel' and g.name = 'cudaLaunchKernel' and g.depth = 0"
	expect "calls on the thread that made them" "$ioctls" \
		"select count(*) from slice s join thread_track t on t.id = s.track_id join thread using (utid)
		 where s.name = 'cudaLaunchKernel' and tid between 5000 and 5003"
	expect "tasks" "$tasks" "select count(*) from slice where category in ('kernel', 'device_copy')"
	expect "time in tasks" "$task_ns" "select sum(dur) from slice where category in ('kernel', 'device_copy')"
	expect "rows of streams, with one more for each where tasks overlap" 12 \
		"select count(distinct s.track_id) from slice s where category in ('kernel', 'device_copy')"
	expect "arrows" "$flows" "select count(*) from flow"
	expect "arrows from a launch to its kernel" "$ioctls" \
		"select count(*) from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
		 where a.name = 'cudaLaunchKernel' and b.category = 'kernel' and b.ts - a.ts = 15000
		 and extract_arg(b.arg_set_id, 'debug.queue_delay_ns') = 14500"
	expect "arrows from a copy to its task" "$ioctls" \
		"select count(*) from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
		 where a.name = 'cudaMemcpyAsync' and b.name = 'HtoD' and b.ts - a.ts = 8000"
	expect "slices on CPUs" "$sched" "select count(*) from sched"
	expect "a's time on CPUs" "$((a_run_ns * 4))" "select sum(dur) from sched join thread using (utid) where tid between 5000 and 5003"
	expect "b's time on CPUs" "$((b_run_ns * 4))" "select sum(dur) from sched join thread using (utid) where tid between 5004 and 5007"
	expect "the thief's known time on CPUs" "$thief_run_ns" "select sum(dur) from sched join thread using (utid) where tid = 6000"
	expect "known idle time" "$idle_ns" "select sum(dur) from sched join thread using (utid) where tid = 0"
	expect "running states add up to the slices on CPUs" "$((a_run_ns * 4))" \
		"select sum(dur) from thread_state join thread using (utid) where state = 'Running' and tid between 5000 and 5003"
	expect "wake-ups" "$wakes" "select count(*) from thread_state where state = 'R' and waker_utid is not null"
	expect "wake-ups by a" "$((wakes / 2))" \
		"select count(*) from thread_state s join thread w on w.utid = s.waker_utid where state = 'R' and w.tid between 5000 and 5003"
	expect "wake-ups by interrupts" "$((wakes / 2))" "select count(*) from thread_state where state = 'R' and irq_context = 1"
	expect "preemptions" "$((wakes / 2))" \
		"select count(*) from thread_state join thread using (utid) where state = 'R+' and tid between 5000 and 5003"
	expect "I/O waits" "$io_waits" "select count(*) from thread_state where io_wait = 1 and state = 'D'"
	expect "longest claim about a thread that is not traced (ns)" 10000 "select max(dur) from sched join thread using (utid) where tid = 6000"
	expect "time of which nothing is known, in slices" "$unrecorded" \
		"select count(*) from sched join thread using (utid) where name = 'unrecorded'"
	expect "process" '/usr/bin/job --name \"a b\"' "select cmdline from process where pid = 5000"
	expect "threads 5999 in two processes" "short-lived,child" \
		"select group_concat(name, ',') from (select t.name from thread t join thread_track using (utid) where tid = 5999 order by t.name desc)"
	expect "each with its own call" 2 "select count(distinct utid) from slice join thread_track t on t.id = track_id join thread using (utid) where tid = 5999"
	expect "begin of the trace on CLOCK_BOOTTIME" "$start_ns" "select start_ts from trace_bounds"
	expect "its length" "$duration_ns" "select end_ts - start_ts from trace_bounds"
	expect "host" testhost "select str_value from metadata where name = 'trace_attribute.hostname'"
	expect "losses" 7 "select int_value from metadata where name = 'trace_attribute.sched.lost.ring full'"
	expect "losses on the timeline" 1 "select count(*) from slice where name = 'sched: 7 records lost: ring full'"
	expect "gaps that are split otherwise than to the nanosecond" 0 \
		"select count(*) from slice g where category = 'idle' and depth = 0
		 and dur != (select sum(dur) from slice p where p.parent_id = g.id)"
	expect "gaps are on the timeline" 1 "select count(*) > 0 from slice where category = 'idle' and depth = 0"
	expect "queue at the end" 0.0 "select value from counter c join track t on t.id = c.track_id where t.name = 'Tasks queued or running' order by ts desc limit 1"
}
compare "$EXPORT"

# ---- A part of the trace

"$ANALYZER" export "$WORK/run.pbt" --to perfetto --pid 5999 -o "$EXPORT"
assert_trace_clean "$EXPORT"
expect "calls of one process" 1 "select count(*) from slice where category = 'sync'"
compare "$EXPORT"

# ---- Chrome's format

EXPORT=$WORK/run.json
"$ANALYZER" export "$WORK/run.pbt" --to chrome -o "$EXPORT"
assert_trace_clean "$EXPORT"
jq -e 'length > 0' "$EXPORT" >/dev/null || fail "the JSON export is no JSON array"
expect "calls (JSON)" "$calls" "select count(*) from slice where category in ('launch', 'copy', 'sync')"
expect "time in calls (JSON)" "$call_ns" "select sum(dur) from slice where category in ('launch', 'copy', 'sync')"
expect "ioctls (JSON)" "$ioctls" "select count(*) from slice where category = 'ioctl'"
expect "tasks (JSON)" "$tasks" "select count(*) from slice where category in ('kernel', 'device_copy')"
expect "time in tasks (JSON)" "$task_ns" "select sum(dur) from slice where category in ('kernel', 'device_copy')"
expect "arrows (JSON)" "$flows" "select count(*) from flow"
expect "arrows from a launch to its kernel (JSON)" "$ioctls" \
	"select count(*) from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
	 where a.name = 'cudaLaunchKernel' and b.category = 'kernel' and b.ts - a.ts = 15000"
expect "time of a on CPUs (JSON)" "$((a_run_ns * 4))" "select sum(dur) from slice where category = 'cpu' and name = 'job'"
compare "$EXPORT"

# ---- Chrome's format with more runs than a viewer can load; message and file report the merging

eval "$("$MAKE_TRACE" "$WORK/long.pbt" 7000)"
"$ANALYZER" export "$WORK/long.pbt" --to chrome --no-merge -o "$WORK/each.json" 2>"$WORK/each.err"
[ ! -s "$WORK/each.err" ] || fail "with --no-merge: $(cat "$WORK/each.err")"
"$ANALYZER" export "$WORK/long.pbt" --to chrome -o "$WORK/merged.json" 2>"$WORK/merged.err"
# Read as text with an event on each line, because the file has tens of megabytes.
all=$(grep -c '"cat":"cpu"' "$WORK/each.json")
read -r slices merged runs < <(awk '/"cat":"cpu"/ { slices++; if (match($0, /"runs":[0-9]+/)) { merged++;
	runs += substr($0, RSTART + 7, RLENGTH - 7) } else runs++ } END { print slices, merged, runs }' "$WORK/merged.json")
note "$all runs are $slices slices, $merged of them of several"
assert_eq "runs in slices" "$all" "$runs"
assert_between "slices" 1 100000 "$slices"
assert_contains "the message" "$WORK/merged.err" \
	"^analyzer: $((all - slices + merged)) runs on CPUs that are shorter than [0-9]+ us are $merged slices of $WORK/merged.json; with --no-merge each is one\$"
assert_trace_clean "$WORK/merged.json"
assert_status "where nothing is merged" 2 "$ANALYZER" export "$WORK/run.pbt" --to perfetto --no-merge -o "$WORK/x"

# ---- A failed write leaves no file behind

assert_status "a folder that is not there" 1 "$ANALYZER" export "$WORK/run.pbt" --to perfetto -o "$WORK/none/x.pftrace"
assert_contains "the message names it" "$WORK/err" "$WORK/none/x.pftrace"
