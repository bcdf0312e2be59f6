#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Topic irq: every timer that interrupted a thread, no more interrupts than its CPU had, and no more time than it lacks.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth interrupts
attach_truth "$WORK/irq.pbt" --topics sched,irq
truth_go 60
stop_attach
truth_end
r=$WORK/irq.json
report_json "$WORK/irq.pbt" "$r" --top 0
assert_loss_accounted "$r"
assert_complete "$r"
"$ANALYZER" export "$WORK/irq.pbt" --to csv -o "$WORK/csv"
tid=$(truth_value tid) cpu=$(truth_value cpu)

# of CONDITION VALUE: sum over the thread's interrupts during its loop; awk expressions with the columns' names
of() {
	awk -F, -v tid="$tid" -v begin="$(truth_value begin_ns)" -v end="$(truth_value end_ns)" '
		FNR == 1 { for (i = 1; i <= NF; i++) at[FILENAME, $i] = i; next }
		FILENAME ~ /threads.csv$/ { if ($at[FILENAME, "tid"] == tid) wanted = $at[FILENAME, "thread"]; next }
		$at[FILENAME, "thread"] == wanted {
			cpu = $at[FILENAME, "cpu"]; start_ns = $at[FILENAME, "start_ns"]; end_ns = $at[FILENAME, "end_ns"]
			hard = $at[FILENAME, "hard"]; soft = $at[FILENAME, "soft"]; timer = $at[FILENAME, "timer"]
			inside = start_ns >= begin && end_ns <= end
			if ('"$1"') sum += '"$2"'
		}
		END { printf "%.0f", sum }' "$WORK/csv/threads.csv" "$WORK/csv/interrupts.csv"
}
timers=$(truth_value timers) switches=$(truth_value switches)
# A timer that expired while the thread had no CPU interrupted another thread; the scheduler's tick is an interrupt,
# too.
least=$((timers > switches ? timers - switches : 0))
assert_between "timers that interrupted it, of $timers, with $switches switches" "$least" 1000000000 "$(of 'inside && timer' 1)"
assert_eq "interrupts of other CPUs" 0 "$(of "inside && cpu != $cpu" 1)"
assert_between "with software interrupts, by what its CPU handled" 0 \
	$(($(truth_value after.soft) - $(truth_value before.soft))) "$(of 'inside && soft' 1)"
assert_between "with hardware interrupts, by what its CPU handled" 0 \
	$(($(truth_value after.hard) - $(truth_value before.hard))) "$(of 'inside && hard' 1)"
lacking=$(truth_value lacking_ns)
assert_between "time they took, within what its loop lacks" "$((least > 0 ? 1 : 0))" "$lacking" "$(of inside 'end_ns - start_ns')"
assert_eq "time they took in the report" "$(of 1 'end_ns - start_ns')" "$(thread_field "$r" "$tid" interrupted_ns)"
assert_eq "interrupts that end before they begin" 0 "$(of 'end_ns < start_ns' 1)"

note "-- alone: what it interrupts is told of, though no switch of it is recorded"
(while :; do :; done) &
busy=$!
"$PROFCTL" attach --standalone --pid $busy --topics irq --duration 0.5s -o "$WORK/alone.pbt" 2>"$WORK/attach.err"
kill $busy
report_json "$WORK/alone.pbt" "$WORK/alone.json"
assert_complete "$WORK/alone.json"
assert_between "time of a busy loop that interrupts took" 1 500000000 \
	"$(jq --argjson pid $busy '[.processes[] | select(.pid == $pid) | .threads[].interrupted_ns // 0] | add' "$WORK/alone.json")"

note "-- without the topic"
"$PROFCTL" record --standalone --topics sched -o "$WORK/without.pbt" -- true 2>"$WORK/record.err"
report_json "$WORK/without.pbt" "$WORK/without.json"
assert_eq "nothing of it is said" 0 "$(jq '[.processes[] | select(has("interrupted_ns"))] | length' "$WORK/without.json")"
