#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A device file that covers more than the recording: timelines, tables of operators and other tools' formats have the
# same tasks, those of the recording, and the number of left-out tasks is reported.
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

"$PROFCTL" record --standalone -o "$WORK/run.pbt" -- sleep 1 2>"$WORK/record.err" || fail "$(cat "$WORK/record.err")"
now=$(date +%s)
# A task of 50 ms each 100 ms, from 5 s before the end on for 10 s.
awk -v now="$now" 'BEGIN {
	print "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)"
	for (i = 0; i < 100; i++)
		printf "0,%d,3,net/op%d,T%d,AI_CORE,%d%06d\t,50000\n", i, i % 3, i % 3, now - 5 + int(i / 10), i % 10 * 100000
}' >"$WORK/op_summary_1.csv"
files=("$WORK/run.pbt" --device "$WORK/op_summary_1.csv")
"$ANALYZER" report "${files[@]}" --format json -o "$WORK/report.json"
tasks=$(jq '[.operators[].count] | add' "$WORK/report.json")
assert_between "tasks of the recording's second" 9 15 "$tasks"

"$ANALYZER" export "${files[@]}" --to mindinsight -o "$WORK/mi" 2>"$WORK/mi.err"
assert_eq "on MindInsight's timeline" "$tasks" \
	"$(jq '[.[] | select(.ph == "X" and .pid == 0 and .tid == 3)] | length' "$WORK/mi/ascend_timeline_display_0.json")"
assert_eq "in its summary" "$tasks" "$(jq .op_exe_times "$WORK/mi/ascend_timeline_summary_0.json")"
assert_eq "in its table of types" "$tasks" "$(awk -F, 'NR > 1 { n += $3 } END { print n }' "$WORK/mi/aicore_intermediate_0_type.csv")"
"$ANALYZER" export "${files[@]}" --to msprof -o "$WORK/ms" 2>"$WORK/ms.err"
assert_eq "in msprof's table" "$tasks" "$(tail -qn +2 "$WORK"/ms/PROF_*/mindstudio_profiler_output/op_summary_*.csv | wc -l)"

# A timeline also has the task that began before the recording.
"$ANALYZER" export "${files[@]}" --to chrome -o "$WORK/chrome.json" 2>"$WORK/chrome.err"
assert_eq "on Chrome's timeline" "$tasks" "$(jq '[.[] | select(.ph == "X" and .ts > 0 and
	((.name // "") | startswith("net/op")) and .cat == "kernel")] | length' "$WORK/chrome.json")"
for said in mi ms chrome; do
	assert_contains "$said: what is not there" "$WORK/$said.err" '[0-9]+ of 100 device tasks are outside of the recording'
done
