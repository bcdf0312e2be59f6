#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Topic "account" alone: CPU time and switches of threads without a record of any switch.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth schedule
attach_truth "$WORK/account.pbt" --topics account --interval 50ms
truth_go 60
stop_attach
truth_end
r=$WORK/account.json
report_json "$WORK/account.pbt" "$r" --top 0
assert_loss_accounted "$r"
assert_complete "$r"
assert_eq "records of switches" 0 "$(jq '[.capture.sources[] | select(.name == "sched") | .produced] | add // 0' "$r")"

# spare WHAT: usage of all threads together after each one's own last reading
spare() { ended_beyond "$1" burner sleeper holder waiter victim thief; }

for name in burner sleeper holder waiter victim thief; do
	tid=$(truth_value "$name.tid")
	cpu=$(truth_value "$name.cpu_ns")
	assert_eq "name of thread $tid" "$name" "$(thread_field "$r" "$tid" name)"
	# The kernel's own sums: the thread's own reading of its clock, plus its exit.
	assert_between "CPU time of $name" $((cpu - cpu / 1000)) $((cpu + $(spare cpu_ns) + cpu * SLACK / 100 + 2000000 * SLACK)) \
		"$(thread_field "$r" "$tid" run_ns)"
	voluntary=$(truth_value "$name.voluntary")
	assert_between "voluntary switches of $name" "$voluntary" $((voluntary + $(spare voluntary) + 2)) \
		"$(thread_field "$r" "$tid" voluntary_switches)"
	involuntary=$(truth_value "$name.involuntary")
	assert_between "involuntary switches of $name" "$involuntary" $((involuntary + $(spare involuntary) + 2)) \
		"$(thread_field "$r" "$tid" involuntary_switches)"
done

# An interval may be longer on a busy machine, but never shorter by more than the time of a reading.
span=$(jq .trace.duration_ns "$r")
assert_between "readings of the CPUs" 2 $((span / 50000000 + 2)) "$(jq '.host.series.rows | length' "$r")"

# 50 children that live shorter than an interval: each has its own figures.
record_dir=$WORK/children.pbt
"$PROFCTL" record --topics account -o "$record_dir" -- bash -c 'for i in {1..50}; do /bin/true; done' 2>"$WORK/record.err" ||
	fail "record: $(cat "$WORK/record.err")"
report_json "$record_dir" "$WORK/children.json" --top 0
note "children: $(jq -c '[.processes[] | select(.target) | [.pid, .name, .run_ns]]' "$WORK/children.json")"
assert_eq "children with CPU time" 50 \
	"$(jq '[.processes[] | select(.target and .name == "true" and .run_ns > 0)] | length' "$WORK/children.json")"
