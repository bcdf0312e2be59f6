#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MindSpore's own Ascend back end on the simulated Ascend: every call is counted, batches sent to the device and steps are found.
# timeout: 1800
# longer: single operators, and the training that ascend_sim_mindspore.sh attaches to
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/minddata_lib.sh"
need_root
need_command jq python3 gcc readelf
need_mindspore
[ "$(uname -m)" = x86_64 ] || skip "needs x86-64: the stubs are its assembler"
find -L "$MINDSPORE_VENV" -name 'libmindspore_ascend.so.2' | grep -q . || skip "this MindSpore has no Ascend back end"

libraries=$(python3 examples/ascend-sim/mindspore/build.py "$MINDSPORE_VENV" "$WORK/cann" 2>"$WORK/err") ||
	fail "the simulator cannot be built: $(tail "$WORK/err")"
mkdir "$WORK/job"

# run NAME [ARGUMENT...]: records a job of workloads/mindspore/ascend.py from its start; report: $WORK/NAME.json
run() {
	local name=$1
	shift
	(
		# The back end looks for libraries in its folder.
		cd "$WORK/job"
		env "$libraries" ASCEND_SIM_SINK=1 "$PROFCTL" record --standalone -o "$WORK/$name.pbt" -- \
			"$MINDSPORE_PYTHON" "$WORKLOADS/ascend.py" "$name" "$@" \
			>"$WORK/$name.out" 2>"$WORK/$name.err"
	) || fail "$name failed: $(tail "$WORK/$name.err" "$WORK/$name.out")"
	report_json "$WORK/$name.pbt" "$WORK/$name.json"
	assert_eq "$name: all that was recorded is there" true "$(jq .capture.complete "$WORK/$name.json")"
}

# counts NAME FUNCTION=COUNT...
counts() {
	local name=$1 pair
	shift
	for pair in "$@"; do
		assert_eq "$name: calls of ${pair%=*}" "${pair#*=}" "$(jq --arg function "${pair%=*}" \
			'[.api[] | select(.function == $function) | .count] | add // 0' "$WORK/$name.json")"
	done
}

# ---- Single operators: each runs once per call; the first phase runs only once, because the executor is cached.
# ---- A perceptron of two layers, operator by operator, forward called twice a step, 20 steps

if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	run operators
	counts operators aclnnRelu=100 aclnnMatmul=70 aclnnReluGetWorkspaceSize=1 aclnnMatmulGetWorkspaceSize=1
	run training
	counts training aclnnAddmm=80 aclnnRelu=40 aclnnMean=20 aclnnMul=60 aclnnSub=120 aclnnMm=120 \
		aclnnThresholdBackward=40 aclnnReduceSum=80 aclnnAdd=80 aclrtSynchronizeStreamWithTimeout=20
	assert_eq "training: steps" 20 "$(jq '.steps.rows | length' "$WORK/training.json")"
	assert_eq "training: batches fetched" 20 "$(json "$WORK/training.json" .pipeline[0].fetches.count)"
fi

# ---- Graph mode, operator by operator (O0), 20 calls

run graph
counts graph aclnnRelu=20 aclnnAddmm=40 aclrtMemcpyAsync=44 aclrtSynchronizeStreamWithTimeout=44
assert_eq "graph: runs of the graph" 20 "$(jq '[.api[] | select(.function | test("GraphScheduler::Run$")) | .count] | add' "$WORK/graph.json")"

# ---- MindData sends 200 batches to the device, each row sleeping 1 ms in one of two workers of a map

run queue "$WORK/mdq"
counts queue acltdtSendTensor=200 acltdtQueryChannelSize=400 acltdtCreateChannelWithCapacity=7
device='.pipeline[0].operators[] | select(.type == "DataQueue")'
assert_eq "queue: batches sent" 200 "$(json "$WORK/queue.json" "$device | .elements")"
assert_eq "queue: pushed to the device" 200 "$(json "$WORK/queue.json" "$device | .queue.pushes")"
assert_eq "queue: into a queue of the device" true "$(json "$WORK/queue.json" "$device | .queue.to_device")"
assert_eq "queue: steps" 200 "$(jq '.steps.rows | length' "$WORK/queue.json")"
assert_eq "queue: who holds it up" "Map(ID:2)" "$(json "$WORK/queue.json" .pipeline[0].bottleneck.name)"
# The map sleeps, and on a busy machine waits for a CPU after each sleep.
json "$WORK/queue.json" .pipeline[0].bottleneck.kind >"$WORK/kind"
assert_contains "queue: why" "$WORK/kind" '^(sleeps|starved)$'
# MindSpore's own tracing of the same batches, whole milliseconds each.
own=$(awk '$1 == 0 && $2 == 0 { sum += $4 } END { print sum }' "$WORK/mdq/device_queue_profiling_0.txt")
assert_between "queue: waits for data, beside MindSpore's own $own ms" $((own - 200 - own / 10)) $((own + 200 + own / 10)) \
	"$(jq '.pipeline[0].fetches.wait_ns / 1000000 | floor' "$WORK/queue.json")"
