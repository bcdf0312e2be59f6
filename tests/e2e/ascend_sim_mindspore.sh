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
# Not where the libraries are, which MindSpore would take from its working directory.
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

# As its automatic differentiation has them, in each step.
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
