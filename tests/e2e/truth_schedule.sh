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
assert_complete "$r"

# spare WHAT: usage of all threads together after each one's own last reading
spare() { ended_beyond "$1" burner sleeper holder waiter victim thief; }
# of TID FIELD: 0 if there is no such figure
of() { jq "[.processes[].threads[] | select(.tid == $1) | .$2 // 0] | first" "$r"; }

# The longest wait of a thread for a CPU here: far more than each wait of the burner, which ran alone
turn=$((5000000 * SLACK + 100 * $(truth_value burner.runnable_ns) / ($(truth_value burner.involuntary) + 1)))
for name in burner sleeper holder waiter victim thief; do
	tid=$(truth_value "$name.tid")
	cpu=$(truth_value "$name.cpu_ns")
	run=$(thread_field "$r" "$tid" run_ns)
	voluntary=$(truth_value "$name.voluntary")
	involuntary=$(truth_value "$name.involuntary")
	assert_eq "name of thread $tid" "$name" "$(thread_field "$r" "$tid" name)"
	# Within 1 %. Stolen time, unknown time from contradicting records and the switches themselves may be counted on
	# either side. An emulated CPU may stand still between the kernel's reading of its clock and ours.
	doubt=$((cpu * SLACK / 100 + 500000 * SLACK + $(of "$tid" stolen_ns) + $(of "$tid" unknown_ns) + 2000 * (voluntary + involuntary)))
	assert_between "CPU time of $name" $((cpu - doubt)) $((cpu + $(spare cpu_ns) + doubt)) "$run"
	assert_between "voluntary switches of $name" "$voluntary" $((voluntary + $(spare voluntary) + 2)) \
		"$(thread_field "$r" "$tid" voluntary_switches)"
	assert_between "involuntary switches of $name" "$involuntary" $((involuntary + $(spare involuntary) + 2)) \
		"$(thread_field "$r" "$tid" involuntary_switches)"

	# The thread existed at least between its own readings of the clock, at most from before its creation until it
	# was gone, including a last wait for a CPU; its sleep is that time minus its run time and, by the kernel's
	# account, its waits for a CPU.
	inner=$(truth_value "$name.inner_ns") outer=$(truth_value "$name.outer_ns") waited=$(truth_value "$name.runnable_ns")
	doubt=$((doubt + waited * SLACK / 100))
	# Kernels do not report every wake-up: then a wait for a CPU is part of the sleep before it.
	unseen=$((waited / 20 + 2 * turn))
	assert_between "time $name was alive" $((inner - doubt)) $((outer + doubt + turn)) "$(thread_field "$r" "$tid" alive_ns)"
	assert_between "time $name waited for a CPU" $((waited - doubt - unseen)) $((waited + outer - inner + doubt + turn)) \
		"$(thread_field "$r" "$tid" runnable_ns)"
	# The kernel counts a wait from when the target CPU, which may be asleep, notices it; the wake-up is earlier.
	low=$((inner - cpu - waited - doubt - turn))
	assert_between "time $name slept" $((low > 0 ? low : 0)) $((outer - cpu - waited + doubt + unseen)) "$(thread_field "$r" "$tid" blocked_ns)"
done
# At least fifty times 10 ms and ten times 30 ms, minus delays on its CPU before the sleep.
sleeper=$(truth_value sleeper.tid)
[ $(($(of "$sleeper" blocked_ns) + $(of "$sleeper" runnable_ns))) -ge 499000000 ] || fail "the sleeper slept too little"

# Only the holder woke the waiter.
"$ANALYZER" export "$WORK/schedule.pbt" --to perfetto -o "$WORK/schedule.pftrace"
truth_end
need_trace_processor
assert_trace_clean "$WORK/schedule.pftrace"
holder=$(truth_value holder.tid) waiter=$(truth_value waiter.tid) handovers=$(truth_value handovers)
# Kernels do not report every wake-up.
assert_between "wake-ups of waiter by holder" $((handovers - 2)) "$handovers" "$(trace_query "$WORK/schedule.pftrace" \
	"select count(*) n from thread_state s join thread t using(utid) join thread w on s.waker_utid = w.utid
	where t.tid = $waiter and w.tid = $holder and s.state = 'R'" | tail -n 1)"

# The thief's run time is the same on the timeline and in the report.
thief=$(truth_value thief.tid) victim=$(truth_value victim.tid) cpu=$(truth_value cpu)
run=$(of "$thief" run_ns) stolen=$(($(of "$thief" stolen_ns) + $(of "$thief" unknown_ns)))
assert_between "CPU time of thief on CPU $cpu in the timeline, ns" $((run * 95 / 100 - stolen)) $((run * 105 / 100 + stolen)) \
	"$(trace_query "$WORK/schedule.pftrace" \
		"select sum(dur) from sched join thread using(utid) where tid = $thief and cpu = $cpu" | tail -n 1)"
# Whenever the thief had the CPU, the victim waited for it.
IFS=, read -r both waiting <<<"$(trace_query "$WORK/schedule.pftrace" \
	"with t as (select ts, ts + dur e from sched join thread using(utid) where tid = $thief and cpu = $cpu),
	w as (select min(ts) a, max(ts + dur) z from sched join thread using(utid) where tid = $victim and cpu = $cpu),
	v as (select ts, ts + dur e from thread_state join thread using(utid) where tid = $victim and state in ('R', 'R+'))
	select (select sum(max(0, min(t.e, z) - max(t.ts, a))) from t, w),
		(select sum(max(0, min(t.e, v.e, z) - max(t.ts, v.ts, a))) from t, v, w)" | tail -n 1)"
assert_between "of it, while victim was there" 1 $((run * 105 / 100 + stolen)) "$both"
assert_between "of that, while victim waited for the CPU" $((both * 9 / 10 - stolen)) "$both" "$waiting"
