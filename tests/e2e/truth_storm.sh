#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A storm of launches on 8 streams of the simulated Ascend, traced live: numbers that restart, a counter that
# drifts by 200 ppm and jumps, and 5 % of all calls lost. Every join is right, only lost calls are not joined,
# and times are within the stated error.
# timeout: 2400
# longer: a million, not 200,000
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

SIM=$BUILD/ascend-sim
LAUNCHES=200000
[ -z "${PROFBPF_TEST_LONG:-}" ] || LAUNCHES=1000000
R=$WORK/report.json
[ -x "$SIM/storm" ] || fail "$SIM/storm is not built: run make ascend-sim"

# One table of the profile has all data that is needed here. The runtime's own calls, between those of the job and of
# the driver, add no information.
export ASCEND_SIM_OUT=$WORK ASCEND_SIM_FILES=task_time ASCEND_SIM_FIRST_TASK=65000 ASCEND_SIM_BLOCK_NS=5000 \
	ASCEND_SIM_CLOCK_PPM=200 ASCEND_SIM_CLOCK_STEPS=$((LAUNCHES * 17 / 100)):6000,-4000,3000,-5000,4000
mkdir "$WORK/catalog"
printf 'runtime hidden\n!rtKernelLaunch\n!rtStreamSynchronize\n' >"$WORK/catalog/hidden.catalog"
mkfifo "$WORK/in"
"$SIM/storm" $LAUNCHES <"$WORK/in" >"$WORK/out" 2>"$WORK/err" &
job=$!
exec {job_in}>"$WORK/in"
wait_for_line "$WORK/out" '^ready' 30
attach_in_background "$job" "$WORK/whole.pbt" --topics api --buffer 256M --catalog "$WORK/catalog"
echo go >&"$job_in"
wait_for_line "$WORK/out" '^done' 120
stop_attach
echo end >&"$job_in"
exec {job_in}>&-
wait_for_end "$job" 60 || fail "the job failed: $(cat "$WORK/err")"
assert_eq "launches" $LAUNCHES "$(sed -n 's/^launches=//p' "$WORK/out")"

# Nearly all calls are in the trace; 5 % of them are then removed from it.
report_json "$WORK/whole.pbt" "$R" --section capture
assert_loss_accounted "$R"
recorded=$(json "$R" '.capture.sources[] | select(.name == "api") | .delivered')
ring=$(json "$R" '.capture.sources[] | select(.name == "api") | .lost')
"$BUILD/tests/tools/lose_calls" "$WORK/whole.pbt" "$WORK/run.pbt" 5 >"$WORK/lost"
while read -r function kept dropped; do
	note "$function: $kept kept, $dropped left out"
done <"$WORK/lost"
assert_eq "calls kept and left out" "$recorded" "$(awk '{ sum += $2 + $3 } END { print sum }' "$WORK/lost")"
failed=$(sed -n 's/.*"failed_sends":\([0-9]*\).*/\1/p; /"tasks"/q' "$WORK/truth.json")
note "lost by the ring: $ring; found their queue full, and were sent again: $failed"
for function in aclrtLaunchKernel:$LAUNCHES halSqTaskSend:$((LAUNCHES + failed)); do
	assert_between "calls of ${function%:*}" $((${function#*:} - ring)) "${function#*:}" \
		"$(awk -v name="${function%:*}" '$1 == name { print $2 + $3 }' "$WORK/lost")"
done

profile=$(echo "$WORK"/PROF_*/mindstudio_profiler_output/task_time_*.csv)
report_json "$WORK/run.pbt" "$R" --device "$profile" --section capture,join
assert_loss_accounted "$R"
"$ANALYZER" export "$WORK/run.pbt" --device "$profile" --to sqlite -o "$WORK/run.db"
python3 tests/tools/check_storm.py "$WORK/truth.json" "$R" "$WORK/run.db" || fail "joins or times are wrong"
