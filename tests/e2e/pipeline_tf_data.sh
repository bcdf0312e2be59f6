#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The operators, elements and fetches of a tf.data job with known counts.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq

PYTHON=$ROOT/build/venv-tensorflow/bin/python
[ -x "$PYTHON" ] || skip "TensorFlow is not installed: make venv-tensorflow"

readonly STEPS=40 BATCH=8

cat >"$WORK/job.py" <<END
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
data = tf.data.Dataset.range($STEPS * $BATCH).map(lambda x: x * 2, num_parallel_calls=2)
data = data.batch($BATCH).prefetch(2)
options = tf.data.Options()
options.experimental_optimization.map_and_batch_fusion = False
print("ready", flush=True)
while not os.path.exists(sys.argv[1]): time.sleep(0.05)
print("batches", sum(1 for _ in data.with_options(options)))
END
# Libraries are loaded before the attach, because those that Python opens later are probed a while after they are
# mapped.
"$PYTHON" "$WORK/job.py" "$WORK/go" >"$WORK/tf.out" 2>"$WORK/tf.err" </dev/null &
job=$!
wait_for_line "$WORK/tf.out" '^ready$' 60
attach_in_background "$job" "$WORK/tf.pbt" --standalone
: >"$WORK/go"
wait_for_end "$job" 60 || fail "the job failed: $(tail -n 5 "$WORK/tf.err")"
wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
grep -q "^batches $STEPS\$" "$WORK/tf.out" || fail "the job said: $(cat "$WORK/tf.out")"
"$ANALYZER" report "$WORK/tf.pbt" --section capture,host,pipeline --format json >"$WORK/tf.json"
assert_series_add_up "$WORK/tf.json"

# expect FILTER VALUE
expect() {
	local found
	found=$(jq -r "$1" "$WORK/tf.json")
	[ "$found" = "$2" ] || fail "$1 is $found, should be $2; pipeline: $(jq -c '.pipeline' "$WORK/tf.json" | head -c 1500)"
}

expect '.pipeline[0].framework' tf.data
expect '.pipeline[0].fetches.count' $STEPS
expect '.pipeline[0].fetches.ends_of_data' 1
expect '[.pipeline[0].operators[] | select(.type | startswith("Prefetch"))][0].elements' $STEPS
expect '[.pipeline[0].operators[] | select(.type | startswith("Batch"))][0].elements' $STEPS
expect '[.pipeline[0].operators[] | select(.type | startswith("ParallelMap"))][0].elements' $((STEPS * BATCH))
expect '[.pipeline[0].operators[] | select(.type == "Range")][0].elements' $((STEPS * BATCH))

note "-- live: operators, and what is in the buffer"
cat >"$WORK/live.py" <<END
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
data = tf.data.Dataset.range(1 << 40).map(lambda x: x * 2, num_parallel_calls=2).batch($BATCH).prefetch(2)
options = tf.data.Options()
options.experimental_optimization.map_and_batch_fusion = False
for _ in data.with_options(options):
    print("batch", flush=True)
END
"$PYTHON" "$WORK/live.py" >"$WORK/live.out" 2>"$WORK/live.err" &
live=$!
wait_until 120 grep -q batch "$WORK/live.out" || fail "the job makes no batches: $(tail -n 5 "$WORK/live.err")"
# On a busy machine a second may contain no batch.
top_shows() {
	"$PROFCTL" top --standalone --once --format json --pid $live >"$WORK/top.json" 2>"$WORK/top.err" &&
		jq -e '[.operators[] | select(.queue) | .queue.pops] | add > 0' "$WORK/top.json"
}
wait_until 60 top_shows || fail "top shows no batch: $(cat "$WORK/top.err" "$WORK/top.json")"
kill -KILL "$live" || fail "the job ended while it was watched"
live() { jq "[.operators[] | select(.name | startswith(\"$1\"))][0] | .$2" "$WORK/top.json"; }
note "$(jq -r '[.operators[].name] | join(" ")' "$WORK/top.json")"
pops=$(live Prefetch queue.pops)
assert_between "batches taken" 1 1000000000 "$pops"
assert_between "batches put in" $((pops - 3)) $((pops + 3)) "$(live Prefetch queue.pushes)"
assert_eq "a queue of what has none" null "$(live Range queue)"
