#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MindSpore's own Ascend back end trains on the simulated Ascend: its operators are counted exactly, and
# every task of the device is joined to the operator's call.
# timeout: 2400
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/minddata_lib.sh"
need_root
need_command jq python3 gcc readelf
need_mindspore
[ "$(uname -m)" = x86_64 ] || skip "needs x86-64: the stubs are its assembler"

STEPS=40
find -L "$MINDSPORE_VENV" -name 'libmindspore_ascend.so.2' | grep -q . || skip "this MindSpore has no Ascend back end"
libraries=$(python3 examples/ascend-sim/mindspore/build.py "$MINDSPORE_VENV" "$WORK/cann")
libraries=${libraries#LD_LIBRARY_PATH=}

mkdir "$WORK/job"
mkfifo "$WORK/job/in"
# Not in the folder of the libraries, because MindSpore would load them from its working directory.
(cd "$WORK/job" && exec env LD_LIBRARY_PATH="$libraries" ASCEND_SIM_OUT="$WORK/job" ASCEND_SIM_CLOCK_PPM=100 \
	ASCEND_SIM_FIRST_TASK=65000 "$MINDSPORE_VENV/bin/python" "$ROOT/tests/truth/ascend_job.py" $STEPS) \
	<"$WORK/job/in" >"$WORK/job/out" 2>"$WORK/job/err" &
job=$!
exec {job_in}>"$WORK/job/in"
wait_for_line "$WORK/job/out" '^ready' "$IMPORT_SECONDS"
attach_in_background "$job" "$WORK/job/trace.pbt"
echo go >&"$job_in"
wait_for_line "$WORK/job/out" '^done' 120
stop_attach
echo end >&"$job_in"
wait_for_end "$job" 30 || fail "the job failed: $(tail -n 20 "$WORK/job/err")"
profile=$(echo "$WORK"/job/PROF_*)
r=$WORK/report.json
report_json "$WORK/job/trace.pbt" "$r" --device "$profile"
assert_loss_accounted "$r"
assert_eq "lost calls" 0 "$(jq '.capture.sources[] | select(.name == "api") | .lost' "$r")"

# The launching thread waits for the queues before it, these wait for Python, and Python waits in GetNext for MindData's
# map, which sleeps for 200 ms in each of about ten steps (less if a busy machine delays the step before): that thread
# is the root.
main=$(sed -n 's/^main\.tid=//p' "$WORK/job/out")
map=$(sed -n 's/^map\.tid=//p' "$WORK/job/out" | tail -n 1)
of_map="select(.chain | any(.tid == $map))"
assert_between "the device's idle time that ends at the map, ns" 200000000 3200000000 \
	"$(jq "[.idle.roots[] | $of_map | .ns] | add // 0" "$r")"
jq "[.idle.roots[] | select(.cause == \"sleep\" and .tid == $map)] | max_by(.ns)" "$r" >"$WORK/root.json"
assert_eq "Python is on the way to it, and the map its end" "true $map" \
	"$(jq -r "[.chain | any(.tid == $main), (last | .tid)] | @tsv" "$WORK/root.json" | tr '\t' ' ')"
assert_between "threads on the way, the one that launches first" 4 12 "$(jq '.chain | length' "$WORK/root.json")"
note "$(jq -r '[.chain[].who] | join(" <- ")' "$WORK/root.json")"
assert_contains "where it sleeps" "$WORK/root.json" '"where": "ascend_job\.py:[0-9]+ decode'

# The operators of MindSpore's automatic differentiation in each step.
while read -r operator count; do
	assert_eq "aclnn$operator" $((count * STEPS)) \
		"$(jq "[.api[] | select(.function == \"aclnn$operator\") | .count] | add // 0" "$r")"
	assert_eq "$operator on the device" $((count * STEPS)) \
		"$(jq "[.operators[] | select(.name == \"aclnn$operator\") | .count] | add // 0" "$r")"
done <<-END
	Addmm 4
	Relu 2
	Mean 1
	Mul 3
	Sub 6
	Mm 6
	ThresholdBackward 2
	ReduceSum 4
	Add 4
END
"$ANALYZER" export "$WORK/job/trace.pbt" --device "$profile" --to chrome -o "$WORK/chrome.json"
python3 tests/tools/ascend_sim_check.py "$WORK/job/truth.json" "$r" "$WORK/chrome.json" ||
	fail "the report is not what the simulator knows"
