#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# msprof-analyze 26 reads the files exported for it, finds the report's figures in them, and gives advice.
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq

note "-- a file of tasks: ten steps of four operators, one of them on a CPU"
{
	printf 'Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),aic_mac_ratio,aic_cube_fops\n'
	for ((i = 0; i < 10; i++)); do
		at=$((1700000000000000 + i * 10000))
		printf '0,1,%d,3,"net/Mat,Mul",MatMulV2,static,AI_CORE,%d.125\t,1500.25,0.8%d,%d\n' $((i * 4)) $at $i $((1000 + i))
		printf '0,1,%d,3,net/Unique,Unique,static,AI_CPU,%d.5\t,2500,N/A,N/A\n' $((i * 4 + 1)) $((at + 2000))
		printf '0,N/A,N/A,N/A,hcom_allReduce__1_%d,hcom_allReduce_,N/A,COMMUNICATION,%d\t,800.001,N/A,N/A\n' $i $((at + 5000))
		printf '0,1,%d,3,net/Adam,ApplyAdam,static,AI_VECTOR_CORE,%d\t,300,N/A,N/A\n' $((i * 4 + 3)) $((at + 6000))
	done
} >"$WORK/op_summary_20231114.csv"
"$ANALYZER" report --device "$WORK/op_summary_20231114.csv" --format json >"$WORK/report.json"
assert_eq "steps" "10 MatMulV2" \
	"$(jq -r '"\(.steps.rows | length) \(.operators[] | select(.name == "net/Mat,Mul") | .op_type)"' "$WORK/report.json")"

note "-- parts of the report"
"$ANALYZER" report --device "$WORK/op_summary_20231114.csv" --step 3..4 --format json >"$WORK/part.json"
assert_eq "two steps" "3 4" "$(jq -r '[.steps.rows[].index] | join(" ")' "$WORK/part.json")"
assert_eq "their tasks" 8 "$(jq '[.operators[].count] | add' "$WORK/part.json")"
assert_status "no such step" 1 "$ANALYZER" report --device "$WORK/op_summary_20231114.csv" --step 11
assert_contains "and which there are" "$WORK/err" 'the steps are 0 to 9'
"$ANALYZER" report --device "$WORK/op_summary_20231114.csv" --aggregate-by type --name 'mat mul' --format json >"$WORK/part.json"
assert_eq "a search" '[{"type":"kernel","op_type":"MatMulV2","core":"AICORE","device":0,"count":10}]' \
	"$(jq -c '[.operators[] | {type, op_type, core, device, count}]' "$WORK/part.json")"
PROFILING_FP_START=net/Unique PROFILING_BP_END=net/Unique \
	"$ANALYZER" report --device "$WORK/op_summary_20231114.csv" --section steps --format json >"$WORK/part.json"
assert_eq "points of the environment" "net/Unique 2500000" \
	"$(jq -r '"\(.steps.devices[0].fp_point) \(.steps.devices[0].rows[5].fp_bp_ns)"' "$WORK/part.json")"
FP_POINT=net/Adam "$ANALYZER" report --device "$WORK/op_summary_20231114.csv" --section steps --format json >"$WORK/part.json"
assert_eq "a point as older MindSpore names it" "net/Adam" "$(jq -r '.steps.devices[0].fp_point' "$WORK/part.json")"

note "-- what is written"
"$ANALYZER" export --device "$WORK/op_summary_20231114.csv" --to msprof -o "$WORK/export"
assert_eq "files" "api_statistic communication_statistic msprof op_statistic op_summary step_trace step_trace task_time" \
	"$(cd "$WORK/export"/PROF_000001_20231114*_PROFBPF/mindstudio_profiler_output &&
		printf '%s\n' *_20231114221320.* | sed 's/_2023.*//' | paste -sd ' ')"
assert_status "a second time into the same folder" 1 \
	"$ANALYZER" export --device "$WORK/op_summary_20231114.csv" --to msprof -o "$WORK/export"
assert_eq "nothing is left of the attempt" 1 "$(find "$WORK" -maxdepth 1 -name 'export*' | wc -l)"
"$ANALYZER" report --device "$WORK/export" --format json >"$WORK/again.json"
for section in operators operator_types overlap; do
	assert_eq "$section, read back" "$(jq -cS ".$section" "$WORK/report.json")" "$(jq -cS ".$section" "$WORK/again.json")"
done
assert_eq "steps, read back" "$(jq -c '[.steps.rows[] | [.start_ns, .duration_ns, .fp_bp_ns, .tail_ns]]' "$WORK/report.json")" \
	"$(jq -c '[.steps.rows[] | [.start_ns, .duration_ns, .fp_bp_ns, .tail_ns]]' "$WORK/again.json")"

note "-- what reads it"
"$ROOT/tests/tools/make-venv" msprof >"$WORK/install" 2>&1 ||
	skip "needs msprof-analyze in build/venv-msprof, which cannot be installed here: $(tail -n 1 "$WORK/install")"
VENV=$ROOT/build/venv-msprof/bin
(cd "$WORK" && "$VENV/python" "$ROOT/tests/truth/msprof_agree.py" "$WORK/export" "$WORK/report.json") ||
	fail "msprof-analyze reads something else"
(cd "$WORK" && "$VENV/msprof-analyze" advisor computation -pt msprof -l en -d "$WORK/export" -o "$WORK/advice" >"$WORK/advice.out" 2>&1) ||
	fail "msprof-analyze refuses it: $(tail -n 3 "$WORK/advice.out")"
assert_contains "its advice on the operator on a CPU" "$WORK/advice.out" 'AICPU'
