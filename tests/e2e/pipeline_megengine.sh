#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Batches and CPU tasks of a MegEngine job with known counts.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq

PYTHON=$ROOT/build/venv-megengine/bin/python
[ -x "$PYTHON" ] || skip "MegEngine is not installed: make venv-megengine"

readonly WORKERS=2 BATCH=4
# Each step of the model below submits the same tasks to the CPU device.
cat >"$WORK/job.py" <<END
import multiprocessing, os, sys, time
import numpy as np
import megengine as mge, megengine.functional as F, megengine.module as M
from megengine.data import DataLoader, SequentialSampler
from megengine.data.dataset import Dataset

class Data(Dataset):
    def __init__(self, batches):
        super().__init__()
        self.batches = batches
    def __len__(self): return self.batches * $BATCH
    def __getitem__(self, i): return np.full((16,), i, dtype="float32"), i % 4

if __name__ == "__main__":
    mge.device.set_default_device("cpu0")
    net = M.Linear(16, 4)
    # A loader opens its library with the first batch.
    data = Data(2)
    for _ in DataLoader(data, sampler=SequentialSampler(data, batch_size=$BATCH), num_workers=$WORKERS): pass
    data = Data(int(sys.argv[1]))
    while multiprocessing.active_children(): time.sleep(0.05)
    print("ready", flush=True)
    while not os.path.exists(sys.argv[2]): time.sleep(0.05)
    steps = 0
    for x, y in DataLoader(data, sampler=SequentialSampler(data, batch_size=$BATCH), num_workers=$WORKERS):
        loss = F.nn.cross_entropy(net(mge.tensor(x)), mge.tensor(np.array(y).astype("int32")))
        loss.item()
        steps += 1
        if steps == 1: print("first", flush=True)
    print("steps", steps)
END

# trace STEPS: the report is in $WORK/STEPS.json. Libraries are loaded before the attach, because those that
# Python opens later are probed some milliseconds after they are mapped.
trace() {
	local job
	"$PYTHON" "$WORK/job.py" "$1" "$WORK/go.$1" >"$WORK/$1.out" 2>"$WORK/$1.err" </dev/null &
	job=$!
	wait_for_line "$WORK/$1.out" '^ready$' 60
	attach_in_background "$job" "$WORK/$1.pbt" --standalone
	touch "$WORK/go.$1"
	wait_for_end "$job" 60 || fail "the job failed: $(tail -n 5 "$WORK/$1.err")"
	wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
	grep -q "^steps $1\$" "$WORK/$1.out" || fail "the job said: $(cat "$WORK/$1.out")"
	"$ANALYZER" report "$WORK/$1.pbt" --section capture,host,pipeline,api --format json >"$WORK/$1.json"
	assert_series_add_up "$WORK/$1.json"
}

# expect STEPS FILTER VALUE
expect() {
	local found
	found=$(jq -r "$2" "$WORK/$1.json")
	[ "$found" = "$3" ] || fail "$1 steps: $2 is $found, should be $3; pipeline: $(jq -c '.pipeline' "$WORK/$1.json" | head -c 1500)"
}

dispatches() {
	jq '[.api[] | select(.function | test("DispatcherImpl::dispatch")) | .count] | add' "$WORK/$1.json"
}

for steps in 20 40 60; do
	trace $steps
	expect $steps '.pipeline | length' 1
	expect $steps '.pipeline[0].framework' MegEngine
	expect $steps '.pipeline[0].fetches.count' $steps
	expect $steps '.pipeline[0].operators[0].elements' $steps
	expect $steps '.pipeline[0].operators[0].workers' $WORKERS
	expect $steps '.pipeline[0].operators[0].queue.pushes' $steps
	expect $steps '.pipeline[0].operators[0].queue.pops' $steps
done
assert_eq "tasks of 20 more steps" $(($(dispatches 40) - $(dispatches 20))) $(($(dispatches 60) - $(dispatches 40)))

note "-- live: what workers made and the trainer took"
"$PYTHON" "$WORK/job.py" 200000 "$WORK" >"$WORK/live.out" 2>"$WORK/live.err" &
live=$!
wait_until 120 grep -q first "$WORK/live.out" || fail "the job makes no steps: $(tail -n 5 "$WORK/live.err")"
# On a busy machine a second may contain no batch.
top_shows() {
	"$PROFCTL" top --standalone --once --format json --pid $live >"$WORK/top.json" 2>"$WORK/top.err" &&
		jq -e '[.operators[0].queue.pops] | add > 0' "$WORK/top.json"
}
wait_until 60 top_shows || fail "top shows no batch: $(cat "$WORK/top.err" "$WORK/top.json")"
kill -KILL "$live" || fail "the job ended while it was watched"
assert_eq "operators" "MegEngine workers" "$(jq -r '[.operators[].name] | join(" ")' "$WORK/top.json")"
assert_between "batches taken" 1 1000000000 "$(jq '.operators[0].queue.pops' "$WORK/top.json")"
# A worker makes at most two batches ahead, and one more that waits.
assert_between "made and not taken, or taken and made before" -$((4 * WORKERS)) $((4 * WORKERS)) \
	"$(jq '.operators[0].queue | .pushes - .pops' "$WORK/top.json")"
