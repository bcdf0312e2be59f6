#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MindData: operators, rows and batches of a real pipeline are exact.
# timeout: 2400
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/minddata_lib.sh"
need_root
need_command jq
need_mindspore

start_job start --rows 160 --epochs 2 --batch 16 --workers 2

# ---- From the job's start: nothing is missing, nothing is counted twice
run_traced start
assert_eq "batches fetched" "$(job_value start batches)" "$(json "$WORK/start.json" .pipeline[0].fetches.count)"
assert_eq "ends of epochs" 2 "$(json "$WORK/start.json" .pipeline[0].fetches.ends_of_data)"
assert_eq "the operators, from the trainer down" \
	"EpochCtrl(ID:0) Batch(ID:1) Map(ID:2) Map(ID:3) Shuffle(ID:4) Generator(ID:5)" \
	"$(jq -r '[.pipeline[0].operators[].name] | join(" ")' "$WORK/start.json")"
assert_eq "who hands to whom" "[[],[0],[1],[2],[3],[4]]" \
	"$(jq -c '[.pipeline[0].operators[].parents]' "$WORK/start.json")"
for id in 2 3 4 5; do
	assert_eq "rows of operator $id" "$(job_value start rows)" "$(operator start "$id" elements)"
done
assert_eq "batches of Batch" "$(job_value start batches)" "$(operator start 1 elements)"
assert_eq "workers of the Python map" 2 "$(operator start 2 workers)"
assert_eq "its threads" "collector main worker worker" \
	"$(operator start 2 'threads | map(.role) | sort | join(" ")')"
assert_eq "capacity of its queue" 4 "$(operator start 2 queue.capacity)"
assert_eq "steps, each ended by the next fetch" "$(job_value start batches)" "$(jq '.steps.rows | length' "$WORK/start.json")"
assert_eq "each operator's intervals are the host's" true "$(jq '(.host.series.rows | length) as $n |
	[.pipeline[0].operators[].series.rows | length == $n] | all' "$WORK/start.json")"
# Its pushes are no calls; the queue's own counter in memory has them, including the ends of epochs and the final end.
assert_between "pushes of Shuffle" "$(($(job_value start rows) + 2))" "$(($(job_value start rows) + 6))" "$(operator start 4 queue.pushes)"
assert_between "most elements in its queue, hundredths" 1 400 "$(operator start 4 'queue.mean_size * 100 | ceil')"
column() { operator start "$1" "series | (.columns | index(\"$2\")) as \$at | [.rows[][\$at] // 0] | $3"; }
assert_between "rows of the Python map by interval" 1 "$(job_value start rows)" "$(column 2 elements add)"
assert_between "most elements in its queue, hundredths" 0 400 "$(column 2 queue_size 'max * 100 | floor')"

# ---- Operators on the CPU have MindSpore's names
# Calls whose end is not probed for its cost have no times. The first calls load their libraries, and some time passes
# before their ends are probed; a jump to a kernel's own code must then be met once before the ends there are probed.
"$PROFCTL" record --standalone --budget off -o "$WORK/names.pbt" -- "$MINDSPORE_PYTHON" -c '
import time
import mindspore, numpy
mindspore.set_context(device_target="CPU", mode=mindspore.PYNATIVE_MODE)
x = mindspore.Tensor(numpy.ones((64, 64), numpy.float32))
for i in range(20):
    y = mindspore.ops.softmax(mindspore.ops.relu(mindspore.ops.matmul(x, x)))
    if i < 3:
        y.asnumpy()
        time.sleep(1)
y.asnumpy()' >"$WORK/names.txt" 2>&1 || fail "record: $(cat "$WORK/names.txt")"
assert_eq "names of what MindSpore launched" "MatMul 20 ReLU 20 Softmax 20" "$("$ANALYZER" report "$WORK/names.pbt" --format json |
	jq -r '[.launched[] | select(.runtime == "mindspore") | "\(.name) \(.count)"] | sort | join(" ")')"

"$ANALYZER" export "$WORK/names.pbt" --to chrome -o "$WORK/names.json"
assert_eq "the track of operators on CPUs" "MatMul ReLU Softmax" "$(jq -r '([.[] | select(.args.name == "Host CPU Op") | .pid][0]) as $pid |
	[.[] | select(.ph == "X" and .pid == $pid) | .name] | unique | join(" ")' "$WORK/names.json")"
"$ANALYZER" export "$WORK/names.pbt" --to perfetto -o "$WORK/names.pftrace"
# Packets of the trace are compressed in parts.
assert_eq "and in Perfetto" True "$(python3 -c '
import re, sys, zlib
data = open(sys.argv[1], "rb").read()
pieces = []
for at in re.finditer(b"\x78[\x01\x5e\x9c\xda]", data):
    try:
        pieces.append(zlib.decompressobj().decompress(data[at.start():]))
    except zlib.error:
        pass
print(any(b"Host CPU Op" in piece for piece in [data] + pieces))' "$WORK/names.pftrace")"
"$ANALYZER" export "$WORK/names.pbt" --to mindinsight -o "$WORK/names.mi"
# First calls may have no recorded end.
for table in type detail; do
	assert_eq "types in MindInsight's table by $table" "MatMul ReLU Softmax" "$(python3 -c '
import csv, sys
print(*sorted(row["op_type"] for row in csv.DictReader(open(sys.argv[1]))))' "$WORK/names.mi/cpu_op_${table}_info_0.csv")"
done
"$ANALYZER" report --device "$WORK/names.mi" --format json -o "$WORK/names.back.json"
assert_eq "read back" "$(awk -F, 'NR > 1 { n += $2 } END { print n }' "$WORK/names.mi/cpu_op_type_info_0.csv")" \
	"$(jq '[.. | objects | select(.op_type? and .core? == "HOSTCPU" and .name? == null) | .count] | add' "$WORK/names.back.json")"

# ---- Live: operators with their queues, in a job that waits for its Python map
start_job live --middle --rows 10000 --epochs 2 --batch 16 --workers 1 --map sleep --map-ms 100 --think-ms 1
job_ready live
pid=$(cat "$WORK/live.pid")
echo go >"$WORK/live.in"
"$PROFCTL" top --standalone --once --format json --pid "$pid" >"$WORK/top.json" 2>"$WORK/top.err" ||
	fail "top: $(cat "$WORK/top.err")"
"$PROFCTL" top --standalone --once --pid "$pid" >"$WORK/top.txt" 2>"$WORK/top.err" || fail "top: $(cat "$WORK/top.err")"
kill -KILL "$pid"
live() { json "$WORK/top.json" ".operators[] | select(.id == $1) | .$2"; }
assert_eq "numbers of operators" "[1,2,3,4,5]" "$(jq -c '[.operators[].id]' "$WORK/top.json")"
note "$(jq -r '[.operators[].name] | join(" ")' "$WORK/top.json")"
assert_between "rows taken from the slow map" 1 1000000 "$(live 2 queue.pops)"
assert_eq "capacity of its queue" 4 "$(live 2 queue.capacity)"
assert_between "how full the queue before it is, percent" 50 100 "$(live 3 queue.fill_percent)"
assert_between "how full the queue behind it is, percent" 0 39 "$(live 2 queue.fill_percent)"
assert_contains "its bar" "$WORK/top.txt" '\(ID:3\) +\[#{3,10} *\] +[0-9.]+/4'
