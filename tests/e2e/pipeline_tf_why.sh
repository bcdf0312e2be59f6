#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The activity of pool threads for a map() of tf.data is that map's work: time on a CPU or asleep, equal to the job's
# own measure.
# timeout: 1200
# longer: Python that computes, and a map() that TensorFlow itself makes parallel
# beside others: what it judges is who slept and who computed, by the kernel's account
. "$(dirname "$0")/lib.sh"
need_root
need_command jq

PYTHON=$ROOT/build/venv-tensorflow/bin/python
JOB=$ROOT/tests/workloads/tensorflow/pipelines.py
[ -x "$PYTHON" ] || skip "TensorFlow is not installed: make venv-tensorflow"

readonly BATCHES=40 BATCH=4 MS=5
readonly PLANTED=$((BATCHES * BATCH * MS))

# trace NAME [OPTION...]: traces the job with these options; the report is in $WORK/NAME.json
trace() {
	local name=$1 job
	shift
	"$PYTHON" "$JOB" --go "$WORK/$name.go" --batches $BATCHES --batch $BATCH --ms $MS "$@" \
		>"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null &
	job=$!
	wait_for_line "$WORK/$name.out" '^ready$' 60
	attach_in_background "$job" "$WORK/$name.pbt" --standalone
	: >"$WORK/$name.go"
	wait_for_end "$job" 60 || fail "the job failed: $(tail -n 5 "$WORK/$name.err")"
	wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
	"$ANALYZER" report "$WORK/$name.pbt" --section capture,host,pipeline --format json >"$WORK/$name.json"
	assert_series_add_up "$WORK/$name.json"
	note "$name: the job: $(tail -n 1 "$WORK/$name.out"); the map: $(map "$name" -c '.work'), $(map "$name" .workers) workers; $(
		jq -r '.pipeline[0].bottleneck.reason' "$WORK/$name.json")"
}

# map NAME [OPTION...] FILTER: a value of the operator that is the map()
map() {
	local name=$1
	shift
	jq "${@:1:$#-1}" "[.pipeline[0].operators[] | select(.type | startswith(\"ParallelMap\"))][0] | ${*: -1}" "$WORK/$name.json"
}

# kinds NAME KIND...: the map() is the bottleneck, for one of these reasons, if the job waited for its batches at all.
kinds() {
	local name=$1 found operator
	shift
	[ "$(tail -n 1 "$WORK/$name.out" | jq '.wait_percent > 20')" = true ] || return 0
	found=$(jq -r '.pipeline[0].bottleneck.kind' "$WORK/$name.json")
	operator=$(jq -r '.pipeline[0].bottleneck.name' "$WORK/$name.json")
	[[ " $* " == *" $found "* ]] || fail "$name: $found"
	[[ $operator == *::ParallelMap* ]] || fail "$name: $operator is blamed"
}

# The time of the job's other threads also contains the iterators' own work and Python's.
computes() {
	local others
	others=$(tail -n 1 "$WORK/$1.out" | jq .others_cpu_ms)
	assert_between "$1: on a CPU, ms" $((others * 85 / 100)) $((others * 102 / 100)) "$(map "$1" '.work.run_ns / 1000000 | floor')"
	kinds "$1" busy starved takes_cpu
}

trace burn --how burn
computes burn
trace sleep --how sleep
assert_between "asleep, ms" $((PLANTED * 98 / 100)) $((PLANTED * 130 / 100)) "$(map sleep '.work.sleep_ns / 1000000 | floor')"
[ "$(map sleep '.work | .runnable_ns + .run_ns > .sleep_ns')" = true ] || kinds sleep sleeps
trace cache --how burn --cache
assert_eq "operators, however often it is repeated" 8 "$(jq '.pipeline[0].operators | length' "$WORK/cache.json")"
assert_eq "elements of the map" $((BATCHES * BATCH / 4)) "$(map cache .elements)"
assert_eq "elements of the cache" $((BATCHES * BATCH)) \
	"$(jq '[.pipeline[0].operators[] | select(.type == "MemoryCache")][0].elements' "$WORK/cache.json")"

# Two equal data sets, used in turn: iterators from before the attach, and new iterators in the second epoch.
trace two --how quick --second sleep --batches 24 --epochs 2 --ms 20
assert_eq "batches and ends of each" "$(tail -n 1 "$WORK/two.out" | jq -c '[.batches, .ends] | transpose')" \
	"$(jq -c '[.pipeline[].fetches | [.count, .ends_of_data]]' "$WORK/two.json")"
assert_eq "whose map sleeps" true "$(jq '[.pipeline[].operators[] | select(.type | startswith("ParallelMap")) | .work.sleep_ns] |
	length == 2 and .[1] > 2 * .[0]' "$WORK/two.json")"
# If other processes take the CPUs all the time, the job may hardly wait for the map.
[ "$(jq '.pipeline[1].fetches | .wait_ns * 5 < .duration_ns' "$WORK/two.json")" = true ] ||
	assert_eq "the slow one's map is blamed" true "$(jq '.pipeline[1].bottleneck.name // "" | test("::ParallelMap")' "$WORK/two.json")"
if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	trace python --how python
	assert_between "on a CPU, ms" $((PLANTED * 95 / 100)) $((PLANTED * 120 / 100)) "$(map python '.work.run_ns / 1000000 | floor')"
	trace own --how burn --parallel 0
	computes own
fi
