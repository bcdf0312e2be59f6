#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report shows why the workers of a PyTorch loader are slow, for any number of them: asleep, or at work on a CPU.
# timeout: 1800
# longer: each start method, the pin-memory thread, four workers that compute
# beside others: what it judges is who slept and who computed, by the kernel's account
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_jobs_lib.sh"
need_root
need_command jq

PYTHON=$ROOT/build/venv-torch/bin/python
JOB=$ROOT/tests/workloads/torch/loaders.py
[ -e "$ROOT/build/venv-torch/.complete" ] || skip "PyTorch is not installed: make venv-torch"

readonly BATCHES=24 BATCH=4 MS=10

# trace NAME [OPTION...]: traces the job with these options; the report is in $WORK/NAME.json
trace() {
	local name=$1
	shift
	begin_job "$name" "$JOB" --go "$WORK/$name.go" --batches $BATCHES --batch $BATCH --ms $MS "$@"
	wait_for_line "$WORK/$name.out" '^ready$' 60
	attach_in_background "$JOB_PID" "$WORK/$name.pbt" --standalone
	touch "$WORK/$name.go"
	end_job 60 || fail "the job failed: $(tail -n 5 "$WORK/$name.err")"
	wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
	"$ANALYZER" report "$WORK/$name.pbt" --section capture,pipeline,advice --format json >"$WORK/$name.json"
}

# sleeps NAME WORKERS: all workers sleep, for the planted time: in total, and for each batch.
sleeps() {
	local planted=$((BATCHES * BATCH * MS)) found kind
	note "$1: $(jq -c '.pipeline[0].operators[0].work' "$WORK/$1.json")"
	kind=$(jq -r '.pipeline[0].bottleneck.kind' "$WORK/$1.json")
	# If other processes take the CPUs for longer than it sleeps, that is the reported reason.
	[ "$kind" = sleeps ] || jq -e '.pipeline[0].operators[0].work | .runnable_ns + .run_ns > .sleep_ns' "$WORK/$1.json" ||
		fail "$1: kind $kind"
	assert_eq "$1: workers" "$2" "$(jq '.pipeline[0].operators[0].workers' "$WORK/$1.json")"
	found=$(jq '.pipeline[0].operators[0].work.sleep_ns / 1000000 | floor' "$WORK/$1.json")
	note "$1: planted $planted ms of sleep, found $found; $(jq -r '.pipeline[0].bottleneck.reason' "$WORK/$1.json")"
	# A sleep takes somewhat longer than requested.
	assert_between "$1: sleep, ms" $((planted * 98 / 100)) $((planted * 125 / 100)) "$found"
	assert_between "$1: a batch, ms" $((BATCH * MS)) 1000 \
		"$(jq '.pipeline[0].operators[0].element_mean_ns / 1000000 | floor' "$WORK/$1.json")"
}

# burns NAME: the worker computes, or on a busy machine waits for CPUs, but never sleeps.
burns() {
	local planted=$((BATCHES * BATCH * MS)) found kind
	kind=$(jq -r '.pipeline[0].bottleneck.kind' "$WORK/$1.json")
	[[ $kind == busy || $kind == starved || $kind == takes_cpu ]] || fail "$1: $kind"
	found=$(jq '.pipeline[0].operators[0].work.run_ns / 1000000 | floor' "$WORK/$1.json")
	note "$1: planted $planted ms on a CPU, found $found; $(jq -r '.pipeline[0].bottleneck.reason' "$WORK/$1.json")"
	assert_between "$1: on a CPU, ms" $((planted * 98 / 100)) $((planted * 150 / 100)) "$found"
}

# rule NAME RULE: the rule's measured value in the advice
rule() { jq -r "[.advice[].rules[]? | select(.rule == \"$2\") | .value][0]" "$WORK/$1.json"; }

start_jobs "$PYTHON" numpy torch torch._dynamo torch.utils.data
for workers in 1 2 4; do
	trace "sleep$workers" --workers $workers --how sleep
	sleeps "sleep$workers" $workers
done
# has_cpus NAME: whether workers sleep much longer than they wait for CPUs
has_cpus() { jq -e '.pipeline[0].operators[0].work | .sleep_ns > 2 * .runnable_ns' "$WORK/$1.json" >"$WORK/has"; }
# A batch takes 40 ms, the trainer almost no time.
! has_cpus sleep1 || assert_between "msprof's rule on slow loaders, ms" 30 60 "$(rule sleep1 slow_dataloader)"
! has_cpus sleep4 || assert_eq "a worker that sleeps is not called idle" null "$(rule sleep4 worker_idle)"
jq -r '.advice[0].do' "$WORK/sleep2.json" >"$WORK/words"
! has_cpus sleep2 || assert_contains "the advice knows the setting" "$WORK/words" '^It has 2 workers now'
trace burn2 --workers 2 --how burn
burns burn2
# Workers that end with each epoch are started anew: of epochs of six batches that costs a share that is told. Its twins
# keep their workers, or have long epochs.
restarts() { jq '.pipeline[0].bottleneck | select(.kind == "restarts") | .percent | floor' "$WORK/$1.json"; }
trace anew --workers 2 --how none --epochs 12 --batches 6
note "anew: $(jq -r '.pipeline[0].bottleneck.reason' "$WORK/anew.json")"
assert_between "new workers in each epoch, % of the time" 10 100 "$(restarts anew)"
jq -r '.advice[].do' "$WORK/anew.json" >"$WORK/words"
assert_contains "the advice to keep them" "$WORK/words" 'persistent_workers=True'
trace kept --workers 2 --how none --epochs 12 --batches 6 --persistent
assert_eq "workers that are kept" "" "$(restarts kept)"
trace far --workers 2 --how none --epochs 2 --batches 400
assert_eq "long epochs" "" "$(restarts far)"
jq -r '.advice[].do' "$WORK/kept.json" "$WORK/far.json" >"$WORK/words"
assert_lacks "advice to keep workers that are kept" "$WORK/words" 'persistent_workers'
# With start method spawn, imports take longer than the work
trace spawn --workers 2 --how sleep --method spawn
sleeps spawn 2
if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	trace forkserver --workers 2 --how sleep --method forkserver
	sleeps forkserver 2
	trace pin --workers 2 --how sleep --pin --persistent
	sleeps pin 2
	trace burn4 --workers 4 --how burn
	burns burn4
fi
