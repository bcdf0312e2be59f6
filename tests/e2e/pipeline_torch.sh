#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The batches, worker processes and steps of a PyTorch job with known counts.
# timeout: 1800
# longer: a third way to start workers, and persistent ones without the pin-memory thread
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq

PYTHON=$ROOT/build/venv-torch/bin/python
JOB=$ROOT/tests/workloads/torch/train.py
[ -e "$ROOT/build/venv-torch/.complete" ] || skip "PyTorch is not installed: make venv-torch"

readonly STEPS=20 WORKERS=2
ALL_STEPS=$STEPS

# trace NAME WORKERS [OPTION...]: traces the job with these options; the recording is $WORK/NAME.pbt, the
# pipeline section $WORK/NAME.json. Libraries are loaded before the attach, because those that Python opens later are
# probed some milliseconds after they are mapped.
trace() {
	local name=$1 workers=$2 job
	shift 2
	"$PYTHON" "$JOB" --go "$WORK/$name.go" "$@" "$workers" $STEPS \
		>"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null &
	job=$!
	wait_for_line "$WORK/$name.out" '^ready$' 60
	attach_in_background "$job" "$WORK/$name.pbt" --standalone "${TRACE_OPTIONS[@]}"
	touch "$WORK/$name.go"
	wait_for_end "$job" 60 || fail "the job failed: $(tail -n 5 "$WORK/$name.err")"
	wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
	grep -q "^steps $ALL_STEPS\$" "$WORK/$name.out" || fail "the job said: $(cat "$WORK/$name.out")"
	"$ANALYZER" report "$WORK/$name.pbt" --section capture,host,pipeline,steps,python --format json >"$WORK/$name.json"
	assert_series_add_up "$WORK/$name.json"
}
TRACE_OPTIONS=()

# expect NAME FILTER VALUE
expect() {
	local found
	found=$(jq -r "$2" "$WORK/$1.json")
	[ "$found" = "$3" ] || fail "$1: $2 is $found, should be $3; pipeline: $(jq -c '.pipeline' "$WORK/$1.json" | head -c 1500)"
}

# expect_loader NAME EPOCHS: checks the properties of any loader with workers
expect_loader() {
	local name=$1 batches=$((STEPS * $2))
	expect "$name" '.pipeline | length' 1
	expect "$name" '.pipeline[0].framework' torch
	expect "$name" '.pipeline[0].fetches.count' $batches
	expect "$name" '.pipeline[0].fetches.ends_of_data' "$2"
	expect "$name" '.pipeline[0].operators[0].elements' $batches
	expect "$name" '.pipeline[0].operators[0].workers' $WORKERS
	expect "$name" '.pipeline[0].operators[0].queue.pushes' $batches
	expect "$name" '.pipeline[0].operators[0].queue.pops' $batches
	expect "$name" '.pipeline[0].operators[0].run_ns > 0' true
	# Each batch is a step, except that the step after the last batch has not ended when the job ends.
	expect "$name" ".steps.rows | length >= $batches - 1" true
	expect "$name" '[.steps.rows[] | .data_wait_ns + .host_ns == .duration_ns] | all' true
}

# worker_processes NAME: the number of worker processes
worker_processes() {
	jq '[.pipeline[0].operators[0].threads[] | select(.role == "worker process") | .pid] | unique | length' "$WORK/$1.json"
}

methods="fork spawn"
[ -z "${PROFBPF_TEST_LONG:-}" ] || methods+=" forkserver"
for method in $methods; do
	trace $method $WORKERS --start-method $method
	expect_loader $method 1
	assert_eq "worker processes by $method" $WORKERS "$(worker_processes $method)"
done
"$ANALYZER" report "$WORK/fork.pbt" >"$WORK/screen"
assert_contains "steps on one screen" "$WORK/screen" "^steps +$(jq '.steps.rows | length' "$WORK/fork.json"), median [0-9.]+ ms, 99th percentile .*; $(jq -r .steps.data_wait_percent "$WORK/fork.json" | awk '{ printf "%.1f", $1 }') % of"

ALL_STEPS=$((2 * STEPS))
if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	note "-- persistent workers: two epochs, the same processes"
	trace persistent $WORKERS --epochs 2
	expect_loader persistent 2
	assert_eq "worker processes" $WORKERS "$(worker_processes persistent)"
fi

note "-- pin memory: a thread between workers and trainer, two epochs, the same processes"
trace pin $WORKERS --epochs 2 --pin
expect_loader pin 2
assert_eq "worker processes" $WORKERS "$(worker_processes pin)"
expect pin '.pipeline[0].operators[1].type' pin
expect pin '.pipeline[0].operators[1].elements' $ALL_STEPS
expect pin '.pipeline[0].operators[0].parents | join(" ")' 1
expect pin '.pipeline[0].operators[1].queue.pushes' $ALL_STEPS
expect pin '.pipeline[0].operators[1].queue.pops' $ALL_STEPS
expect pin '.pipeline[0].operators[1].threads | length' 1
expect pin '.pipeline[0].operators[1].run_ns > 0' true

note "-- no workers: the trainer does it all itself"
ALL_STEPS=$STEPS
trace single 0
expect single '.pipeline[0].fetches.count' $STEPS
expect single '.pipeline[0].operators[0].in_trainer' true

note "-- waits for the interpreter's lock, by thread"
ALL_STEPS=$((4 * STEPS))
TRACE_OPTIONS=(--topics "api,sched,stack")
trace lock $WORKERS --epochs 4 --pin
expect lock '.pipeline[0].fetches.count' $ALL_STEPS
# shellcheck disable=SC2016 # $pid is jq's
expect lock '.pipeline[0].pid as $pid | [.python[] | select(.pid == $pid)] | length' 1
expect lock '[.python[] | (.gil_waits // 0) == ([.threads[].gil_waits] | add // 0)] | all' true
# shellcheck disable=SC2016
note "$(jq -r '.pipeline[0].pid as $pid | .python[] | select(.pid == $pid) | .threads[] |
	"\(.name): \(.gil_waits) waits, \(.gil_wait_ns / 1e6) ms"' "$WORK/lock.json" | paste -sd ';')"

note "-- live: what workers made and the trainer took"
"$PYTHON" "$JOB" $WORKERS 1000000 >"$WORK/live.out" 2>"$WORK/live.err" &
live=$!
wait_until 120 grep -q running "$WORK/live.out" || fail "the job makes no steps: $(tail -n 5 "$WORK/live.err")"
# On a busy machine a second may contain no batch.
top_shows() {
	"$PROFCTL" top --standalone --once --format json --pid $live >"$WORK/top.json" 2>"$WORK/top.err" &&
		jq -e '[.operators[0].queue.pops] | add > 0' "$WORK/top.json"
}
wait_until 60 top_shows || fail "top shows no batch: $(cat "$WORK/top.err" "$WORK/top.json")"
top_lists() {
	"$PROFCTL" top --standalone --once --pid $live >"$WORK/top.txt" 2>"$WORK/top.err" &&
		grep -qE 'torch workers, tensors +(\[#* *\] [0-9.]+/[0-9]+|never empty|\?)' "$WORK/top.txt"
}
wait_until 60 top_lists || fail "no line with a queue: $(cat "$WORK/top.err" "$WORK/top.txt")"
assert_eq "waits that calls do not tell" false "$(jq '[.operators[].queue | has("push_wait_ns")] | any' "$WORK/top.json")"
assert_eq "the trainer's waits are no longer than the time" true \
	"$(jq '.duration_ns as $all | [.operators[].queue | .pop_wait_ns // 0 | . >= 0 and . <= $all] | all' "$WORK/top.json")"
kill -KILL "$live" || fail "the job ended while it was watched"
assert_eq "operators" "torch workers, tensors" "$(jq -r '[.operators[].name] | join(" ")' "$WORK/top.json")"
assert_eq "whose" $live "$(jq '.operators[0].pid' "$WORK/top.json")"
assert_between "tensors taken" 1 1000000000 "$(jq '.operators[0].queue.pops' "$WORK/top.json")"
# Two batches, of two tensors each, are requested in advance from each worker; one batch may be half taken.
assert_between "made and not taken, or taken and made before" -$((4 * WORKERS + 2)) $((4 * WORKERS + 2)) \
	"$(jq '.operators[0].queue | .pushes - .pops' "$WORK/top.json")"
