#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Host, processes and threads against the kernel's own files, read around the session.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# Reported values lie between the changes within the session and the changes around it,
# with a tolerance of one tick of USER_HZ, or 1 % if that is more.
TICK=10000000

# assert_inside WHAT LOW HIGH ACTUAL RESOLUTION
assert_inside() {
	local slack=$(($3 / 100 > $5 ? $3 / 100 : $5))
	assert_between "$1" $(($2 - slack)) $(($3 + slack)) "$4"
}

# host_figure FILE CPU FIELD: from a copy of /proc/stat, in nanoseconds
host_figure() { awk -v cpu="$2" -v field="$3" '$1 == cpu { printf "%.0f", $field * 10000000 }' "$1"; }
host_count() { awk -v what="$2" '$1 == what { print $2 }' "$1"; }

cp "$(type -P true)" "$WORK/tiny-stranger"
start_truth process_totals
cat /proc/stat >"$WORK/stat0"
attach_truth "$WORK/host.pbt" --interval 100ms
cat /proc/stat >"$WORK/stat1"
# Before the job, because a process that exits while the session ends may have its last usage after it.
for ((i = 0; i < 30; i++)); do "$WORK/tiny-stranger"; done
truth_go 60
cat /proc/stat >"$WORK/stat2"
stop_attach
cat /proc/stat >"$WORK/stat3"
truth_end
report_json "$WORK/host.pbt" "$WORK/host.json" --top 0
r=$WORK/host.json
assert_loss_accounted "$r"

# A busy machine may lose some records, and reports that.
lost=$(jq '[.capture.sources[] | select(.name == "account") | .lost] | add // 0' "$r")
note "-- the process, against schedstat, getrusage and /proc/self/io"
process=".processes[] | select(.pid == $TRUTH_PID)"
figure() { json "$r" "$process | .$1"; }
for name in run_ns runnable_ns user_ns system_ns; do
	assert_inside "$name" "$(truth_value ${name}_low)" "$(truth_value ${name}_high)" "$(figure $name)" "$TICK"
done
# The last reading comes right after the session's end, up to which values are interpolated: a little of the usage
# shortly before is attributed to the time after the end.
for name in minor_faults major_faults read_chars write_chars; do
	assert_inside "$name, $lost accounts lost" "$([ "$lost" -gt 0 ] && echo 0 || truth_value ${name}_low)" \
		"$(truth_value ${name}_high)" "$(figure $name)" 1
done
for name in voluntary involuntary; do
	assert_inside "$name switches" "$(truth_value ${name}_low)" "$(truth_value ${name}_high)" \
		"$(jq "[$process | .threads[].${name}_switches] | add" "$r")" 1
done
# The kernel counts resident pages per CPU and adds the counters up at intervals.
assert_inside "peak_rss_bytes" "$(truth_value peak_rss_low)" "$(truth_value peak_rss_high)" \
	"$(figure peak_rss_bytes)" $((2 << 20))
assert_eq "user and system time add up" "$(figure run_ns)" "$(jq "$process | .user_ns + .system_ns" "$r")"
assert_eq "threads add up to the process" "$(figure run_ns)" "$(jq "[$process | .threads[].run_ns] | add" "$r")"
assert_inside "intervals add up to the process" "$(figure run_ns)" "$(figure run_ns)" \
	"$(jq "[$process | .series.rows[][2]] | add" "$r")" "$TICK"

note "-- short-lived processes"
children=".processes[] | select(.parent_pid == $TRUTH_PID)"
assert_eq "children" 40 "$(jq "[$children] | length" "$r")"
assert_inside "run_ns of the children" "$(truth_value children_ns_low)" "$(truth_value children_ns_high)" \
	"$(jq "[$children | .run_ns] | add" "$r")" "$TICK"
assert_eq "processes of others that lived for a millisecond" 30 \
	"$(jq '[.processes[] | select(.name == "tiny-stranger" and .run_ns > 0)] | length' "$r")"

note "-- the host, against /proc/stat"
columns=(user_ns:2 system_ns:4 idle_ns:5 iowait_ns:6 irq_ns:7 softirq_ns:8 steal_ns:9)
for cpu in $(jq '.host.cpus[].cpu' "$r"); do
	for column in "${columns[@]}"; do
		name=${column%:*} field=${column#*:} low=0 high=0
		for f in "$field" $([ "$name" = user_ns ] && echo 3); do # user time counts niced time too
			low=$((low + $(host_figure "$WORK/stat2" "cpu$cpu" "$f") - $(host_figure "$WORK/stat1" "cpu$cpu" "$f")))
			high=$((high + $(host_figure "$WORK/stat3" "cpu$cpu" "$f") - $(host_figure "$WORK/stat0" "cpu$cpu" "$f")))
		done
		assert_inside "CPU $cpu $name" "$low" "$high" \
			"$(json "$r" ".host.cpus[] | select(.cpu == $cpu) | .$name")" "$TICK"
	done
done
for count in context_switches:ctxt forks:processes; do
	assert_between "${count%:*}" $(($(host_count "$WORK/stat2" "${count#*:}") - $(host_count "$WORK/stat1" "${count#*:}"))) \
		$(($(host_count "$WORK/stat3" "${count#*:}") - $(host_count "$WORK/stat0" "${count#*:}"))) \
		"$(json "$r" ".host.${count%:*}")"
done
assert_eq "CPUs add up to the host" "$(json "$r" .host.user_ns)" "$(jq '[.host.cpus[].user_ns] | add' "$r")"
# The last reading comes right after the session's end, up to which the totals are interpolated.
assert_inside "intervals add up to the host" "$(json "$r" .host.user_ns)" "$(json "$r" .host.user_ns)" \
	"$(jq '[.host.series.rows[][2]] | add' "$r")" $((4 * TICK))
assert_eq "intervals of CPUs add up to the host's" "$(jq '[.host.series.rows[][7]] | add' "$r")" \
	"$(jq '[.host.cpus[].series.rows[][5]] | add' "$r")"
# The last interval may be very short, and have no active process.
assert_eq "intervals of half their length or more in which no process was active" 0 \
	"$(jq '.host.series | (.columns | index("duration_ns")) as $ns | (.columns | index("active_processes")) as $active |
		[.rows[] | select(.[$ns] >= 50000000 and .[$active] < 1)] | length' "$r")"

note "-- all of it together"
# Busy time is sampled once a tick, and ticks of emulated CPUs come late; run times of threads are measured, and include
# interrupts and, on some kernels, stolen time. This only checks that they agree roughly.
busy=$(jq '.host | .user_ns + .system_ns' "$r")
taken=$(jq '.host | .irq_ns + .softirq_ns + .steal_ns' "$r")
ran=$(jq '[.processes[].run_ns] | add' "$r")
assert_between "what all threads ran, by the CPUs' busy time" $((busy / 2)) $(((busy + taken) * 2)) "$ran"
