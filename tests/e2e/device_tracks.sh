#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Timelines of a device like those of vendors' tools: streams by executing unit, steps, scopes, overlap;
# Perfetto's trace processor finds the report's figures in both formats.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/trace_queries_lib.sh"
need_command jq
need_trace_processor

TABLE=$WORK/op_summary_20231114.csv
note "-- ten steps of four operators on three kinds of cores, a copy and a collective that computing hides in part"
{
	printf 'Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n'
	for ((i = 0; i < 10; i++)); do
		at=$((1700000000000000 + i * 10000))
		printf '0,1,%d,3,Default/network/fc/MatMul-op1,MatMulV2,AI_CORE,%d.125\t,1500.25\n' $((i * 5)) $at
		printf '0,1,%d,3,Default/loss/Unique-op2,Unique,AI_CPU,%d.5\t,2500\n' $((i * 5 + 1)) $((at + 2000))
		printf '0,N/A,N/A,N/A,hcom_allReduce__1_%d,hcom_allReduce_,COMMUNICATION,%d\t,800.001\n' $i $((at + 4000))
		printf '0,1,%d,3,Default/opt/Adam-op3,ApplyAdam,AI_VECTOR_CORE,%d\t,300\n' $((i * 5 + 3)) $((at + 6000))
		printf '0,1,%d,4,MemcpyAsync,MemcpyAsync,MEMCPY_ASYNC,%d\t,50\n' $((i * 5 + 4)) $((at + 7000))
	done
} >"$TABLE"
R=$WORK/report.json
"$ANALYZER" report --device "$TABLE" --format json >"$R"

# Without records nothing is reported as incomplete.
for command in report info; do
	"$ANALYZER" $command --device "$TABLE" >"$WORK/$command.txt"
	assert_contains "$command" "$WORK/$command.txt" '^no recording: all figures are from device files$'
	assert_lacks "$command" "$WORK/$command.txt" 'INCOMPLETE|header could not be read'
done

# check FILE: the same figures in both formats
check() {
	local query
	for query in computation_ns:Computing communication_ns:Communication \
		'pure_communication_ns:Communication(Not Overlapped)' free_ns:Free; do
		expect "${query#*:}" "$(jq ".overlap[0].${query%%:*}" "$R")" \
			"select sum(dur) from slice where category = 'overlap' and name = '${query#*:}'"
	done
	expect "steps" "$(jq '.steps.devices[0].rows | length' "$R")" \
		"select count(*) from slice where category = 'step' and name glob 'Step *'"
	expect "time in steps" "$(jq '[.steps.devices[0].rows[].duration_ns] | add' "$R")" \
		"select sum(dur) from slice where category = 'step' and name glob 'Step *'"
	expect "time from the first operator to the end of the backward pass" \
		"$(jq '[.steps.devices[0].rows[].fp_bp_ns] | add' "$R")" "select sum(dur) from slice where name = 'FP_BP Time'"
	expect "parts of steps that are in none" 0 \
		"select count(*) from slice where category = 'step' and depth = (name glob 'Step *')"
	expect "scopes" "Default fc loss network opt" \
		"select group_concat(name, ' ') from (select distinct name from slice where category = 'scope' order by name)"
	expect "tasks" "$(jq '[.operators[].count] | add' "$R")" \
		"select count(*) from slice where category not in ('step', 'scope', 'overlap', 'idle', 'root')"
	compare "$1"
}

"$ANALYZER" export --device "$TABLE" --to perfetto -o "$WORK/device.pftrace"
assert_trace_clean "$WORK/device.pftrace"
expect "streams, by what runs their tasks" "AI CPU/Stream 3,AI Core/Stream 3,Communication/No stream,Other tasks/Stream 4" \
	"select group_concat(x) from (select distinct p.name || '/' || t.name as x from slice s join track t on t.id = s.track_id
		join track p on p.id = t.parent_id where t.name glob '*[Ss]tream*' order by 1)"
check "$WORK/device.pftrace"

"$ANALYZER" export --device "$TABLE" --to chrome -o "$WORK/device.json"
check "$WORK/device.json"
assert_eq "its processes" "AI CPU,AI Core,Ascend,Communication,Other tasks,Overlap" \
	"$(jq -r '[.[] | select(.name == "process_name" and (.args.name | startswith("Ascend"))) | .args.name | sub("^Ascend: "; "")] |
		sort | join(",")' "$WORK/device.json")"

note "-- as deep as asked for"
for depth in 0 1; do
	"$ANALYZER" export --device "$TABLE" --to perfetto --scope-depth $depth -o "$WORK/$depth.pftrace"
	expect "levels of scopes" $depth "select count(distinct track_id) from slice where category = 'scope'"
	compare "$WORK/$depth.pftrace"
done
note "-- a part of it"
"$ANALYZER" report --device "$TABLE" --step 3..4 --format json >"$WORK/part.json"
"$ANALYZER" export --device "$TABLE" --to perfetto --step 3..4 -o "$WORK/part.pftrace"
expect "two steps" 2 "select count(*) from slice where category = 'step' and name glob 'Step *'"
expect "their operators" "$(jq '[.operators[].count] | add' "$WORK/part.json")" \
	"select count(*) from slice where category in ('kernel', 'communication', 'device_copy')"
compare "$WORK/part.pftrace"
assert_status "not a depth" 2 "$ANALYZER" export --device "$TABLE" --to perfetto --scope-depth x -o "$WORK/x.pftrace"
