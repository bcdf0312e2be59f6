#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# analyzer lake: its values for comparing ranks equal the report's; a run that is added twice is there once.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq

"$ROOT/tests/tools/make-venv" parquet >"$WORK/install" 2>&1 ||
	skip "DuckDB cannot be installed: $(tail -n 1 "$WORK/install")"
check() {
	"$ROOT/build/venv-parquet/bin/python" "$ROOT/tests/tools/check_lake.py" "$@" >"$WORK/checked" 2>&1 ||
		fail "the lake says something else: $(tail -n 2 "$WORK/checked")"
	note "the same in both: $(cat "$WORK/checked")"
}
ask() { "$ROOT/build/venv-parquet/bin/python" -c 'import sys, duckdb; print(duckdb.sql(sys.argv[1]).fetchall()[0][0])' "$1"; }

"$ANALYZER" lake --schema --format markdown | cmp - "$ROOT/docs/lake.md" || fail "docs/lake.md is not what the tables say: make docs"

note "-- two ranks whose files tell who they are"
for rank in 0 1; do
	folder=$WORK/job/rank${rank}_ascend_pt/ASCEND_PROFILER_OUTPUT
	mkdir -p "$folder"
	printf '{"rank_id": %d}\n' $((rank + 4)) >"$folder/../profiler_info_$((rank + 4)).json"
	{
		printf 'Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n'
		for ((i = 0; i < 8; i++)); do
			at=$((1700000000000000 + i * 10000))
			printf '%d,net/fc/MatMul-op1,MatMulV2,AI_CORE,%d.5\t,%d,0,20\n' $rank $((at + 1000 * rank)) $((3000 + i))
			printf '%d,hcom_allReduce__2_%d,hcom_allReduce_,COMMUNICATION,%d\t,%d,0,N/A\n' $rank $((2 * i)) $((at + 2000)) 700
			printf '%d,hcom_allReduce__2_%d,hcom_allReduce_,COMMUNICATION,%d\t,%d,0,N/A\n' $rank $((2 * i + 1)) $((at + 8000)) 500
			printf '%d,net/opt/Adam-op3,ApplyAdam,AI_CORE,%d\t,100,0,20\n' $rank $((at + 8800))
		done
	} >"$folder/kernel_details.csv"
done
"$ANALYZER" report --device "$WORK/job" --format json --top 0 >"$WORK/report.json"
"$ANALYZER" lake --device "$WORK/job" -o "$WORK/lake"
check "$WORK/lake" "$WORK/report.json"
assert_eq "ranks" "4 and 5" "$(ask "select string_agg(rank, ' and ' order by rank) from '$WORK/lake/hosts/*.parquet'")"
assert_eq "first begin of a step of rank 4, ns" 1700000000000000500 \
	"$(ask "select min(start_ns) from '$WORK/lake/steps/*.parquet' where rank = 4")"
assert_eq "computation of rank 4's first step, ns" 3100000 \
	"$(ask "select compute_ns from '$WORK/lake/steps/*.parquet' where rank = 4 order by step limit 1")"
assert_eq "exposed communication of it, ns" 500000 \
	"$(ask "select exposed_communication_ns from '$WORK/lake/steps/*.parquet' where rank = 4 order by step limit 1")"

assert_eq "type of ranks" INTEGER "$(ask "select min(typeof(rank)) from '$WORK/lake/collectives/*.parquet'")"
assert_eq "the least and the greatest rank of a file" "(4, 5)" "$(ask "select (min(stats_min_value)::INT, max(stats_max_value)::INT) from parquet_metadata('$WORK/lake/steps/*.parquet') where path_in_schema = 'rank'")"
"$ROOT/build/venv-parquet/bin/python" -c 'import sys, pyarrow.parquet; print(pyarrow.parquet.read_table(sys.argv[1])["rank"].type)' "$WORK/lake/hosts" >"$WORK/type"
assert_eq "type of ranks to pyarrow" int32 "$(cat "$WORK/type")"

note "-- the same again, and another run"
files=$(find "$WORK/lake" -type f | wc -l)
"$ANALYZER" lake --device "$WORK/job" -o "$WORK/lake"
assert_eq "files" "$files" "$(find "$WORK/lake" -type f | wc -l)"
check "$WORK/lake" "$WORK/report.json"
assert_status "no rank is known" 1 "$ANALYZER" lake --device "$WORK/job/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv" -o "$WORK/lake"
assert_contains "what to do" "$WORK/err" '\-\-rank N'
assert_eq "files of a run that failed" "$files" "$(find "$WORK/lake" -type f | wc -l)"
"$ANALYZER" lake --device "$WORK/job/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv" --rank 9 -o "$WORK/lake"
assert_eq "ranks then" 3 "$(ask "select count(distinct rank) from '$WORK/lake/hosts/*.parquet'")"

note "-- a recording, with its host"
"$ANALYZER" report "$ROOT/tests/data/traces/every.pbt" --format json --top 0 >"$WORK/trace.json" 2>/dev/null
"$ANALYZER" lake "$ROOT/tests/data/traces/every.pbt" --rank 0 -o "$WORK/host" 2>/dev/null
check "$WORK/host" "$WORK/trace.json"
assert_eq "its host" "$(jq -r .trace.hostname "$WORK/trace.json")" "$(ask "select min(host) from '$WORK/host/hosts/*.parquet'")"

note "-- wrong usage"
assert_status "no lake" 2 "$ANALYZER" lake "$ROOT/tests/data/traces/every.pbt"
assert_status "no device" 1 "$ANALYZER" lake "$ROOT/tests/data/traces/sleeps.pbt" --rank 0 -o "$WORK/none"
assert_contains "what is missing" "$WORK/err" 'no device tasks'
assert_status "a file in its place" 1 "$ANALYZER" lake "$ROOT/tests/data/traces/every.pbt" --rank 0 -o "$WORK/report.json"
assert_status "no such table" 1 "$ANALYZER" lake --schema=nonsense

note "-- a file that tells CUDA graphs, not the kernels in them"
mkdir "$WORK/nsys"
"$ROOT/tests/foreign/nsys_host.py" "$ANALYZER" "$WORK/nsys" >"$WORK/nsys.out" 2>&1 || fail "nsys_host.py: $(tail -n 3 "$WORK/nsys.out")"
for graph in 500000 5000; do
	"$ANALYZER" lake --device "$WORK/nsys/graphs_$graph.sqlite" --rank 1 --memory 1G -o "$WORK/lake$graph"
done
known="select concat_ws(' ', count(*) > 0, count(step_ns) = count(*), count(compute_ns), count(exposed_communication_ns), count(idle_ns))"
assert_eq "compute, exposed and idle time where graphs took time" "true true 0 0 0" \
	"$(ask "$known from '$WORK/lake500000/steps/*.parquet'")"
assert_eq "where they took next to none" "true" \
	"$(ask "select concat(count(*) > 0 and count(compute_ns) = count(*)) from '$WORK/lake5000/steps/*.parquet'")"
