#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A training job on the simulated Ascend, attached in the middle: every call counted, every task joined
# to the call that launched it, the device's clock found, and busy, idle, steps, collectives, queue and memory equal
# to the simulator's truth.
# timeout: 1800
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

SIM=$BUILD/ascend-sim
PRELOAD='' PROGRAM=job
# Enough seconds to distinguish the drift from wake-up latency.
STEPS=600
[ -x "$SIM/job" ] || fail "$SIM/job is not built: run make ascend-sim"

# start_job NAME ARGUMENT...: returns when it is ready. Sets JOB_PID, OUT
start_job() {
	local name=$1
	shift
	OUT=$WORK/$name
	mkdir "$OUT"
	mkfifo "$OUT/in"
	LD_PRELOAD=$PRELOAD ASCEND_SIM_OUT=$OUT "$SIM/$PROGRAM" "$@" <"$OUT/in" >"$OUT/out" 2>"$OUT/err" &
	JOB_PID=$!
	exec {JOB_IN}>"$OUT/in"
	wait_for_line "$OUT/out" '^ready' 30
}

# run_traced OPTION...: traces the steps; then the job ends and writes its profile. Sets PROFILE, R
run_traced() {
	attach_in_background "$JOB_PID" "$OUT/trace.pbt" "$@"
	[ -z "$PRELOAD" ] || wait_for_line "$OUT/mspti.log" '^delivered' 20
	echo go >&"$JOB_IN"
	wait_for_line "$OUT/out" '^done' 60
	stop_attach
	echo end >&"$JOB_IN"
	exec {JOB_IN}>&-
	wait_for_end "$JOB_PID" 20 || fail "the job failed: $(cat "$OUT/err")"
	PROFILE=$(echo "$OUT"/PROF_*)
	R=$OUT/report.json
	report_json "$OUT/trace.pbt" "$R" --device "$PROFILE"
	assert_loss_accounted "$R"
}

job_value() { sed -n "s/^$1=//p" "$OUT/out"; }
calls() { jq "[.api[] | select(.function == \"$1\") | .count] | add // 0" "$R"; }

check_calls() {
	local function
	assert_eq "lost calls" 0 "$(jq '.capture.sources[] | select(.name == "api") | .lost' "$R")"
	assert_eq "aclrtLaunchKernel" "$(job_value launches)" "$(calls aclrtLaunchKernel)"
	assert_eq "aclopExecuteV2" "$(job_value operators)" "$(calls aclopExecuteV2)"
	assert_eq "aclrtMemcpyAsync" "$(job_value copies)" "$(calls aclrtMemcpyAsync)"
	assert_eq "HcclAllReduce" "$(job_value collectives)" "$(calls HcclAllReduce)"
	assert_eq "aclrtSynchronizeStream" $STEPS "$(calls aclrtSynchronizeStream)"
	for function in aclrtRecordEvent aclrtStreamWaitEvent; do
		assert_eq "$function" $((2 * STEPS)) "$(calls "$function")"
	done
	assert_eq "rtProfilerTraceEx" $((3 * STEPS)) "$(calls rtProfilerTraceEx)"
	# Driver calls below them: an operator, seven kernels, a copy, three marks, four for events, three for a
	# collective.
	assert_eq "halSqTaskSend" $((19 * STEPS)) "$(calls halSqTaskSend)"
	# Before attach the queue was full, and the feeder was in a call to send one more.
	assert_eq "acltdtSendTensor" $((STEPS - 5)) "$(calls acltdtSendTensor)"
	assert_eq "acltdtQueryChannelSize" $((STEPS - 4)) "$(calls acltdtQueryChannelSize)"
}

check_memory() {
	local ledger='.memory.ledgers[] | select(.memory == "device")'
	assert_eq "device memory: taken, given back, most, left" "$((STEPS + 1)) $STEPS 65536 12345" \
		"$(jq -r "$ledger"' | "\(.allocations) \(.frees) \(.peak_bytes) \(.live_bytes)"' "$R")"
}

# Checks the host's activity while the device was idle: it slept, computed, or waited itself.
check_idle() {
	local slept cause expected
	slept=$(job_value slept_ns)
	cause=$(jq '[.idle.causes[] | select(.cause == "sleep") | .ns] | add // 0' "$R")
	# 20 ms each time, minus waits for a CPU before the sleep and after the wake-up, which are another cause.
	assert_between "idle because the job slept" $(($(job_value sleeps) * 16000000)) $((slept + 100000)) "$cause"
	assert_between "gaps in which it slept" $(($(job_value sleeps) * 9 / 10)) "$(job_value sleeps)" \
		"$(jq '[.idle.causes[] | select(.cause == "sleep") | .gaps] | add' "$R")"
	cause=$(jq '[.idle.causes[] | select(.cause == "user_code") | .ns] | add // 0' "$R")
	assert_between "idle because the job computed" $((STEPS * 30000)) $((STEPS * 1500000)) "$cause"
	assert_eq "causes add up" "$(jq .idle.total_ns "$R")" "$(jq '[.idle.causes[].ns] | add' "$R")"
	# The job sleeps and computes itself; on a loaded machine other processes may cost it more.
	expected=$(jq -r '[.idle.roots[] | { ns, state: (if .cause | IN("runnable", "throttled", "irq") then "cpu"
		elif .cause == "device_wait" then "device" else "host_code" end) }] |
		group_by(.state) | max_by(map(.ns) | add)[0].state' "$R")
	assert_eq "the verdict" "$expected" "$(jq -r .verdict.state "$R")"
	assert_eq "its gain, as a share of the device's time" "$(jq .verdict.percent "$R")" \
		"$(jq .verdict.gain_at_most_percent "$R")"
}

# check_truth [host]
check_truth() {
	"$ANALYZER" export "$OUT/trace.pbt" --device "$PROFILE" --to chrome -o "$OUT/chrome.json"
	python3 tests/tools/ascend_sim_check.py "$OUT/truth.json" "$R" "$OUT/chrome.json" "$@" ||
		fail "the report is not what the simulator knows"
}

# A counter that runs 200 ppm fast, task numbers that restart, a profile with the host's part.
export ASCEND_SIM_CLOCK_PPM=200 ASCEND_SIM_FIRST_TASK=65000
start_job drifting $STEPS 5
run_traced
check_calls
check_memory
check_idle
check_truth
# On a busy machine the job waits for a CPU even longer.
assert_eq "what made the device idle longest" sleep \
	"$(jq -r '[.idle.causes[].cause | select(. != "runnable" and . != "throttled")][0]' "$R")"

# The first step began before the recording, with the end of the step before it.
"$ANALYZER" report "$OUT/trace.pbt" --device "$PROFILE" --section steps --top 1 >"$OUT/steps.txt"
assert_contains "start of the first step, before the recording" "$OUT/steps.txt" \
	'^ +6 +-[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3} '

# The profile alone: tasks are joined by its own numbers, on its own clock.
"$ANALYZER" report --device "$PROFILE" --format json -o "$OUT/alone.json"
assert_eq "alone: tasks" "$((20 * (STEPS + 5)))" "$(jq .join.tasks "$OUT/alone.json")"
assert_eq "alone: steps" "$((STEPS + 5))" "$(jq '.steps.rows | length' "$OUT/alone.json")"
assert_eq "alone: tasks with a call, all but the marks" $((17 * (STEPS + 5))) \
	"$(jq .join.matched "$OUT/alone.json")"

STEPS=100
# A counter with a reading that is wrong by 1 ms, and that runs slow, and only the device's part of the profile: the
# times are unusable, and joins do not need them.
export ASCEND_SIM_CLOCK_PPM=-80 ASCEND_SIM_CLOCK_OFFSET_NS=-1000000 ASCEND_SIM_DEVICE_ONLY=1
start_job wrong_anchor $STEPS 5
run_traced
check_calls
check_truth
assert_eq "clock" "declared clock, corrected by causality" "$(json "$R" .join.clock.method)"
assert_between "tasks before their launch by the clock as declared" $STEPS $((20 * STEPS)) \
	"$(json "$R" .join.clock.negative_launch_delays)"
assert_between "what it lacked" 800000 1200000 "$(json "$R" .join.clock.correction_ns)"
unset ASCEND_SIM_CLOCK_PPM ASCEND_SIM_CLOCK_OFFSET_NS ASCEND_SIM_DEVICE_ONLY ASCEND_SIM_FIRST_TASK

# A runtime without visible driver calls: tasks are joined by the calls in the profile, on the host's clock.
mkdir "$WORK/catalog"
printf 'runtime hidden\n!halSqTaskSend\n' >"$WORK/catalog/hidden.catalog"
start_job hidden $STEPS 5
run_traced --catalog "$WORK/catalog"
assert_eq "driver calls" 0 "$(calls halSqTaskSend)"
check_truth host

# A pipeline that is too slow: the queue is found empty, and the device waits in GetNext.
start_job starving 50 2 20000 0 0
run_traced
check_truth
# The exact wait is compared above; a batch takes 20 ms, a step less than 10 if the trainer has its CPU.
assert_between "GetNext waited, ns" 10000000 "$(json "$R" .trace.duration_ns)" \
	"$(jq '[.operators[] | select(.name == "GetNext") | .total_ns] | add' "$R")"

# The device's tasks live, from MSPTI: no profile is needed.
PRELOAD="$SIM/libmspti.so $BUILD/libprofbpf-mspti.so"
start_job live $STEPS 5
run_traced
PRELOAD=
check_calls
"$ANALYZER" report "$OUT/trace.pbt" --format json -o "$OUT/live.json"
# An operator, seven kernels, a copy and a collective; MSPTI has no records for events and marks.
assert_eq "tasks told live, with their call, lost" "$((10 * STEPS)) $((10 * STEPS)) 0" \
	"$(jq -r '"\(.join.tasks) \(.join.matched) \(.capture.sources[] | select(.name == "device") | .lost)"' "$OUT/live.json")"
"$ANALYZER" export "$OUT/trace.pbt" --to sqlite -o "$OUT/live.db"
python3 tests/tools/ascend_sim_live.py "$OUT/truth.json" "$OUT/live.db" || fail "MSPTI told something else"

# Copies in both directions: in each turn two to the device and one back.
PRELOAD="$SIM/libmspti.so $BUILD/libprofbpf-mspti.so" PROGRAM=layers
start_job ways train 20
run_traced
PRELOAD='' PROGRAM=job
"$ANALYZER" report "$OUT/trace.pbt" --format json -o "$OUT/live.json"
assert_eq "copies to the device, and back" "40 20" "$(jq -r '[.operators[] | {(.name): .count}] | add |
	"\(."Memcpy HtoD") \(."Memcpy DtoH")"' "$OUT/live.json")"

# Attach and detach while it runs: launches before, after, or during the attaching of probes do not
# count as lost.
start_job running 2000 5
echo go >&"$JOB_IN"
attach_in_background "$JOB_PID" "$OUT/trace.pbt"
sleep 1
stop_attach
wait_for_line "$OUT/out" '^done' 60
echo end >&"$JOB_IN"
exec {JOB_IN}>&-
wait_for_end "$JOB_PID" 20 || fail "the job failed: $(cat "$OUT/err")"
R=$OUT/report.json
report_json "$OUT/trace.pbt" "$R" --device "$(echo "$OUT"/PROF_*)"
assert_eq "lost calls" 0 "$(jq '.capture.sources[] | select(.name == "api") | .lost' "$R")"
assert_between "tasks of the session" 1 $((20 * 2005)) "$(json "$R" .join.tasks)"
assert_eq "joined" "$(json "$R" .join.tasks)" "$(json "$R" .join.matched)"
# Probes of the library that numbers tasks may be attached later than those of the libraries above, and removed earlier.
"$ANALYZER" export "$OUT/trace.pbt" --device "$(echo "$OUT"/PROF_*)" --to sqlite -o "$OUT/trace.db"
ends=$(tests/tools/unjoined_launches.py "$OUT/trace.db") ||
	fail "launching calls without a task between others that have one: $ends"
read -r _ before _ _ _ after _ <<<"$ends"
assert_eq "launching calls without a task" "$(json "$R" .join.unmatched_launches)" $((before + after))
assert_eq "all tasks, inside and outside" $((20 * 2005)) \
	"$(($(json "$R" .join.tasks) + $(json "$R" .join.tasks_outside_session)))"
