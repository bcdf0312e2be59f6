#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time, sleeps, lock waits, preemption and switch counts against the kernel's own figures.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth schedule
attach_truth "$WORK/schedule.pbt"
truth_go 60
stop_attach
report_json "$WORK/schedule.pbt" "$WORK/schedule.json"
r=$WORK/schedule.json
assert_loss_accounted "$r"
assert_eq "capture is complete" true "$(jq .capture.complete "$r")"

for name in burner sleeper holder waiter victim thief; do
	tid=$(truth_value "$name.tid")
	cpu=$(truth_value "$name.cpu_ns")
	run=$(thread_field "$r" "$tid" run_ns)
	assert_eq "name of thread $tid" "$name" "$(thread_field "$r" "$tid" name)"
	# Within 1 %; threads that hardly run print their figure before they are done with printing.
	assert_between "CPU time of $name" $((cpu - cpu * SLACK / 100)) $((cpu + cpu * SLACK / 100 + 500000 * SLACK)) "$run"
	voluntary=$(truth_value "$name.voluntary")
	involuntary=$(truth_value "$name.involuntary")
	assert_between "voluntary switches of $name" "$voluntary" $((voluntary + 2 * SLACK)) \
		"$(thread_field "$r" "$tid" voluntary_switches)"
	assert_between "involuntary switches of $name" "$involuntary" $((involuntary + 2 * SLACK)) \
		"$(thread_field "$r" "$tid" involuntary_switches)"
done

sleeper=$(truth_value sleeper.tid)
# What clock_nanosleep() took, less the time between wake-up and return.
blocked=$(thread_field "$r" "$sleeper" blocked_ns)
runnable=$(thread_field "$r" "$sleeper" runnable_ns)
assert_near "time sleeper slept, with waiting for a CPU afterwards" "$(truth_value sleeper.slept_ns)" $((2 * SLACK)) \
	$((blocked + runnable))
assert_between "time holder slept" 299000000 $((300000000 + 30000000 * SLACK)) "$(thread_field "$r" "$(truth_value holder.tid)" blocked_ns)"
waiter=$(truth_value waiter.tid)
waited=$(truth_value waiter.waited_ns)
assert_near "time waiter waited for the lock and slept before" $((waited + $(truth_value waiter.slept_ns))) $((2 * SLACK)) \
	$(($(thread_field "$r" "$waiter" blocked_ns) + $(thread_field "$r" "$waiter" runnable_ns)))

# Two threads on one CPU: what one runs, the other waits.
victim=$(truth_value victim.tid)
assert_near "victim's wall time is running plus waiting" "$(truth_value victim.wall_ns)" $((2 * SLACK)) \
	$(($(thread_field "$r" "$victim" run_ns) + $(thread_field "$r" "$victim" runnable_ns)))

# Who woke the waiter: the holder, and nobody else.
"$ANALYZER" export "$WORK/schedule.pbt" --to perfetto -o "$WORK/schedule.pftrace"
truth_end
need_trace_processor
assert_trace_clean "$WORK/schedule.pftrace"
holder=$(truth_value holder.tid)
assert_eq "wake-ups of waiter by holder" 1 "$(trace_query "$WORK/schedule.pftrace" \
	"select count(*) n from thread_state s join thread t using(utid) join thread w on s.waker_utid = w.utid
	where t.tid = $waiter and w.tid = $holder and s.state = 'R'" | tail -n 1)"
# While the victim waited for its CPU, the thief had it: nearly all of what it ran.
thief=$(truth_value thief.tid)
assert_between "CPU time of thief on CPU 0 in the timeline, ns" 380000000 420000000 "$(trace_query "$WORK/schedule.pftrace" \
	"select sum(dur) from sched join thread using(utid) where tid = $thief and cpu = 0" | tail -n 1)"
assert_between "times thief took over from victim" 10 100000 "$(trace_query "$WORK/schedule.pftrace" \
	"select count(*) from (select tid, lag(tid) over (order by ts) before from sched join thread using(utid) where cpu = 0)
	where tid = $thief and before = $victim" | tail -n 1)"
