#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MindInsight 2.3.1 reads the exported files of a device, and finds the report's figures in them.
# timeout: 1800
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq

note "-- ten steps: two operators on AI cores with shapes and operations counted, one on an AI CPU, collectives, copies"
{
	printf 'Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Block Num,'
	printf 'Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,aic_cube_fops\n'
	for ((i = 0; i < 10; i++)); do
		at=$((1700000000000000 + i * 10000))
		printf '0,%d,3,Default/network/fc/MatMul-op1,MatMulV2,AI_CORE,%d.125\t,1500.25,20,"""8,16;16,4""",FLOAT16;FLOAT16,ND;ND,' \
			$((i * 6)) $at
		printf '"""8,4""",FLOAT16,ND,%d\n' $((1000000 + i))
		printf '0,%d,3,Default/loss/Unique-op2,Unique,AI_CPU,%d.5\t,2500,1,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n' $((i * 6 + 1)) $((at + 2000))
		for stream in 8 9; do
			printf '0,%d,%d,hcom_allReduce__%d_%d,hcom_allReduce_,COMMUNICATION,%d\t,%d.001,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n' \
				$((i * 6 + 2)) $stream $stream $i $((at + 4000 + stream)) $((100 * stream + i))
		done
		printf '0,%d,3,Default/opt/Adam-op3,ApplyAdam,AI_VECTOR_CORE,%d\t,%d,8,4,FLOAT,ND,4,FLOAT,ND,N/A\n' $((i * 6 + 3)) $((at + 6000)) $((300 + i))
		printf '0,%d,4,MemcpyAsync,MemcpyAsync,MEMCPY_ASYNC,%d\t,50,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n' $((i * 6 + 4)) $((at + 7000))
	done
} >"$WORK/op_summary_20231114.csv"
"$ANALYZER" report --device "$WORK/op_summary_20231114.csv" --format json >"$WORK/report.json"
"$ANALYZER" export --device "$WORK/op_summary_20231114.csv" --to mindinsight -o "$WORK/profiler"
assert_eq "files" "aicore_intermediate_0_detail.csv aicore_intermediate_0_type.csv aicpu_intermediate_0.csv \
ascend_timeline_display_0.json ascend_timeline_summary_0.json flops_0.txt flops_scope_0.json flops_summary_0.json framework_raw_0.csv \
profiler_info_0.json step_trace_point_info_0.json step_trace_raw_0_detail_time.csv" \
	"$(cd "$WORK/profiler" && printf '%s\n' * | paste -sd ' ')"

assert_eq "operations by scope" "Total>Default Default>network(1_Default) network(1_Default)>fc(2_Default) 3" \
	"$(jq -r '"\([.data.links[] | "\(.source)>\(.target)"] | join(" ")) \(.max_scope_num)"' "$WORK/profiler/flops_scope_0.json")"
assert_eq "each the sum of all" "$(jq '.FLOPs' "$WORK/profiler/flops_summary_0.json")" \
	"$(jq '[.data.links[].value] | unique | if length == 1 then .[0] else . end' "$WORK/profiler/flops_scope_0.json")"
assert_eq "nodes" "Default Total fc(2_Default) network(1_Default)" \
	"$(jq -r '[.data.nodes[].name] | sort | join(" ")' "$WORK/profiler/flops_scope_0.json")"

note "-- and back: the same folder as the input of a report"
"$ANALYZER" report --device "$WORK/profiler" --format json >"$WORK/back.json"
for query in '[.operators[] | select(.core != "copy") | {name: (.name | sub(".*/"; "")), core, count, total_ns}] | sort_by(.name)' \
	'.overlap[0] | {computation_ns, communication_ns, pure_communication_ns, free_ns}'; do
	assert_eq "$query" "$(jq -c "$query" "$WORK/report.json")" "$(jq -c "$query" "$WORK/back.json")"
done

note "-- what reads it"
"$ROOT/tests/tools/make-venv" mindinsight >"$WORK/install" 2>&1 ||
	skip "needs MindInsight in build/venv-mindinsight, which cannot be installed here: $(tail -n 1 "$WORK/install")"
agree() {
	"$ROOT/build/venv-mindinsight/bin/python" "$ROOT/tests/truth/mindinsight_device.py" "$1" "$2" || fail "MindInsight reads something else"
}
agree "$WORK/report.json" "$WORK/profiler"

note "-- two ranks, of which one computes longer"
for rank in 0 1; do
	mkdir "$WORK/rank$rank"
	{
		printf 'Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n'
		for ((i = 0; i < 10; i++)); do
			at=$((1700000000000000 + i * 10000))
			printf '%d,1,3,net/fc/MatMul-op1,MatMulV2,AI_CORE,%d\t,%d\n' $rank $at $((2000 + 3000 * rank))
			printf '%d,2,8,hcom_allReduce__1_%d,hcom_allReduce_,COMMUNICATION,%d\t,%d\n' $rank $i $((at + 2010 + 3000 * rank)) $((4000 - 3000 * rank))
			printf '%d,3,3,net/opt/Adam-op3,ApplyAdam,AI_CORE,%d\t,100\n' $rank $((at + 7000))
		done
	} >"$WORK/rank$rank/op_summary_20231114.csv"
done
two=(--device "$WORK/rank0/op_summary_20231114.csv" --device "$WORK/rank1/op_summary_20231114.csv")
"$ANALYZER" report "${two[@]}" --format json >"$WORK/two.json"
assert_eq "who computes longer" "computation 1" "$(jq -r '.cluster.findings[] | select(.rule == "computation") | "\(.rule) \(.device)"' "$WORK/two.json")"
assert_eq "who comes last to collectives" "10" "$(jq '.communication.ranks[] | select(.device == 1) | .last' "$WORK/two.json")"
"$ANALYZER" export "${two[@]}" --to mindinsight -o "$WORK/cluster"
agree "$WORK/two.json" "$WORK/cluster"

note "-- two stages of a pipeline, of a rank each: parts of their steps, their link, their memory"
for rank in 0 1; do
	folder=$WORK/job/rank${rank}_ascend_pt/ASCEND_PROFILER_OUTPUT
	mkdir -p "$folder"
	printf '{"rank_id": %d}\n' $rank >"$folder/../profiler_info_$rank.json"
	printf '{"parallel_group_info": {"group_name_7": {"group_name": "pp", "global_ranks": [0, 1]}}}\n' >"$folder/../profiler_metadata.json"
	{
		printf 'Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n'
		for ((i = 0; i < 5; i++)); do
			at=$((1700000000000000 + i * 10000))
			printf '%d,net/fc/MatMul-op1,MatMulV2,AI_CORE,%d.5\t,%d,0,20\n' $rank $((at + 1000 * rank)) $((3000 + i))
			printf '%d,hcom_receive__1_%d,hcom_receive_,COMMUNICATION,%d\t,%d,0,N/A\n' $rank $i $((at + 4010 + 1000 * rank)) $((1000 + 500 * rank))
			printf '%d,hcom_allReduce__2_%d,hcom_allReduce_,COMMUNICATION,%d\t,%d,0,N/A\n' $rank $i $((at + 8000)) 700
			printf '%d,net/opt/Adam-op3,ApplyAdam,AI_CORE,%d\t,100,0,20\n' $rank $((at + 3500 + 1000 * rank))
		done
	} >"$folder/kernel_details.csv"
	operation='"step1": {"p2p": {}, "collective": {"hcom_allReduce__2_0@1"'
	printf '{%s: {"Communication Time Info": {"Elapse Time(ms)": 3.5, "Transit Time(ms)": 2.5, "Wait Time(ms)": 0.5}}}}}\n' \
		"$operation" >"$folder/communication.json"
	printf '{%s: {"%d-%d": {"Transport Type": "HCCS", "Transit Time(ms)": 2.5, "Transit Size(MB)": 50, "Bandwidth(GB/s)": 20}}}}}\n' \
		"$operation" $rank $((1 - rank)) >"$folder/communication_matrix.json"
	{
		printf 'Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device\n'
		for ((i = 0; i < 5; i++)); do
			at=$((1700000000000000 + i * 10000))
			printf 'PTA,%d\t,%d,4096,NPU:%d\n' $at $((1024 + 256 * rank)) $rank
			printf 'PTA,%d\t,%d,4096,NPU:%d\n' $((at + 5000)) $((2048 + 512 * i)) $rank
		done
	} >"$folder/memory_record.csv"
done
"$ANALYZER" report --device "$WORK/job" --format json >"$WORK/stages.json"
"$ANALYZER" export --device "$WORK/job" --to mindinsight -o "$WORK/pipeline"
assert_eq "a step of the second stage" "7.800000,2.200000,8.500000,1.500000,0.700000" \
	"$(tail -n 1 "$WORK/pipeline/ascend_cluster_analyse_pipeline-parallel_2_2_1.csv")"
agree "$WORK/stages.json" "$WORK/pipeline"

note "-- and back: what was in use at the operators of each"
"$ANALYZER" report --device "$WORK/pipeline" --format json >"$WORK/stages_back.json"
assert_eq "peaks" "0 1073741824,1 1342177280" "$(jq -r '[.device_facts[] |
	select(.topic == "memory of graph 0" and .name == "peak of operators listed") | "\(.device) \(.value)"] | sort | join(",")' \
	"$WORK/stages_back.json")"

note "-- ranks of databases and of folders named by rank: its pages answer"
export PYTHONDONTWRITEBYTECODE=1
mkdir "$WORK/ranks"
python3 "$ROOT/tests/foreign/mindinsight_ranks.py" "$ANALYZER" "$WORK/ranks" || fail "ranks are not what their folders say"
for job in torch mindspore formers one; do
	"$ROOT/build/venv-mindinsight/bin/python" "$ROOT/tests/truth/mindinsight_pages.py" "$WORK/ranks/out" "$job" \
		>"$WORK/pages.txt" 2>"$WORK/pages.err" || fail "$job: $(tail -n 3 "$WORK/pages.err")"
	assert_eq "$job: pages that fail" "" "$(awk '$2 >= 500 { print $1, $2 }' "$WORK/pages.txt")"
	page() { sed -n "s|^$1 200 ||p" "$WORK/pages.txt"; }
	ranks=$(page devices | jq -r '.device_list | length')
	assert_eq "$job: ranks" "$([ $job = one ] && echo 1 || echo 4)" "$ranks"
	assert_eq "$job: ranks side by side" "$ranks" "$(page cluster-step-trace-summary | jq '.info | length')"
	assert_eq "$job: ranks in Marey's graph" "$ranks $ranks" \
		"$(page marey-graph/timeline | jq '.maps | length') $(page marey-graph/overview-time | jq length)"
	case $job in
	torch | mindspore) wanted="pipeline-parallel 2" ;;
	*) wanted="data-parallel 1" ;;
	esac
	assert_eq "$job: how it is parallel" "$wanted" \
		"$(page cluster-step-trace-summary | jq -r '"\(.["parallel-mode"]) \(.stage_num)"')"
	# The graph of strategies comes from the compiler only; the export has no file for it.
	assert_contains "$job: strategies" "$WORK/pages.txt" 'Can not find any parallel strategy data'
done
