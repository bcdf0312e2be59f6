#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Data pipelines without a framework (Python's threads, processes and pools, plain C++ threads) with a fault planted in
# the workers: the main thread's waits, the threads or processes that it waits for, and their activity, with function
# and line.
# timeout: 900
# longer: one worker and four, and those that compute, in all kinds
# beside others: what others take of the CPUs is told apart from what it judges
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

readonly JOB=$ROOT/tests/workloads/plain/stages.py ITEMS=120 MS=12

# traced NAME GO COMMAND...: traces it; GO starts its work once it is traced. Sets R, WAIT_NS and LOOP_NS
traced() {
	local name=$1 job
	shift
	mkfifo "$WORK/$name.in"
	"$@" <"$WORK/$name.in" >"$WORK/$name.out" 2>"$WORK/$name.err" &
	job=$!
	exec {input}>"$WORK/$name.in"
	wait_for_line "$WORK/$name.out" '^ready' 30
	attach_in_background "$job" "$WORK/$name.pbt" --standalone
	echo go >&$input
	touch "$WORK/$name.go"
	wait_for_end "$job" 120 || fail "$name failed: $(tail -n 3 "$WORK/$name.err")"
	exec {input}>&-
	wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
	R=$WORK/$name.json
	"$ANALYZER" report "$WORK/$name.pbt" --section verdict,waits,pipeline --format json -o "$R"
	WAIT_NS=$(sed -n 's/^wait_ns=//p' "$WORK/$name.out")
	LOOP_NS=$(sed -n 's/^loop_ns=//p' "$WORK/$name.out")
}

# stage NAME OPERATOR WORKERS: checks the stage that holds up the main thread, with the job's own time. Sets DOING to it
stage() {
	local held
	assert_eq "$1: pipelines" 1 "$(jq '.pipeline | length' "$R")"
	assert_eq "$1: framework" unknown "$(json "$R" '.pipeline[0].framework')"
	DOING=$(jq -c '.pipeline[0].operators | max_by(.held_up_ns)' "$R")
	note "$1: the main thread waited $WAIT_NS of $LOOP_NS ns; $(jq -c '{name, workers, held_up_ns, cause, where}' <<<"$DOING")"
	assert_eq "$1: who" "$2" "$(jq -r .name <<<"$DOING")"
	# Workers in lockstep: the awaited item may always be the same worker's, while the others' are ready.
	assert_between "$1: how many" 1 "$3" "$(jq .workers <<<"$DOING")"
	held=$(jq .held_up_ns <<<"$DOING")
	# The rest of a wait is the main thread's own return to a CPU, and on a loaded machine that of other threads of
	# the chain.
	assert_between "$1: how long" $((WAIT_NS * 70 / 100)) $((LOOP_NS + LOOP_NS / 20)) "$held"
	jq -r .verdict.sentence "$R" >"$WORK/words"
	assert_contains "$1: in words" "$WORK/words" "It waits for .*\\($(jq .workers <<<"$DOING") (thread|process)"
}

# is_at NAME WHERE
is_at() {
	jq -r .where <<<"$DOING" >"$WORK/words"
	assert_contains "$1: where" "$WORK/words" "$2"
}

# sleeps NAME WHERE: the stage sleeps. If other processes take the CPUs for longer, they are the cause.
sleeps() {
	is_at "$1" "$2"
	[ "$(jq -r .cause <<<"$DOING")" = sleep ] || jq -e '.cause == "runnable"' <<<"$DOING" >/dev/null || fail "$1: $DOING"
}

python() {
	traced "$1-$2-$3" python3 "$JOB" --kind "$1" --workers "$2" --fault "$3" --ms $MS --items $ITEMS --go "$WORK/$1-$2-$3.go"
}

for workers in 2 ${PROFBPF_TEST_LONG:+1 4}; do
	python threads $workers sleep
	stage threads "work (stages.py)" $workers
	sleeps threads '^stages.py:[0-9]+ decode$'
	python processes $workers sleep
	stage processes "process python3" $workers
	sleeps processes '^stages.py:[0-9]+ decode$'
done
python pool 2 sleep
stage pool "process python3" 2
sleeps pool '^stages.py:[0-9]+ decode$'
assert_eq "pool: who hands on what the processes made" "Pool._handle_results (pool.py)" "$(json "$R" '.pipeline[0].operators[0].name')"
python executor 2 sleep
stage executor "process python3" 2
sleeps executor '^stages.py:[0-9]+ decode$'
python ahead 1 sleep
stage ahead "prefetch (stages.py)" 1
sleeps ahead '^stages.py:[0-9]+ decode$'
python processes 1 burn
stage burning "process python3" 1
is_at burning 'decode|sha|hash|SHA'
if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	for kind in threads ahead pool executor; do
		python $kind 1 burn
		DOING=$(jq -c '.pipeline[0].operators | max_by(.held_up_ns)' "$R")
		is_at "$kind burns" 'decode|sha|hash|SHA'
	done
fi

# Healthy twins: the workers have nothing to do, and the main thread waits for none of them.
for kind in threads processes; do
	traced "$kind-healthy" python3 "$JOB" --kind $kind --workers 2 --fault none --step-ms 5 --items 100 --go "$WORK/$kind-healthy.go"
	note "$kind, healthy: the main thread waited $WAIT_NS of $LOOP_NS ns"
	assert_between "$kind, healthy: held up, ns" 0 $((WAIT_NS + LOOP_NS / 10)) "$(jq '[0, .pipeline[].operators[].held_up_ns] | max' "$R")"
	[ $((WAIT_NS * 20)) -gt "$LOOP_NS" ] || assert_eq "$kind, healthy: nobody is blamed" null "$(jq -r .verdict.stage "$R")"
done

if command -v g++ >/dev/null; then
	g++ -std=c++17 -O1 -g -pthread -o "$WORK/stages" "$ROOT/tests/truth/languages/stages.cpp"
	for workers in 2 ${PROFBPF_TEST_LONG:+1 4}; do
		traced "cpp$workers" "$WORK/stages" $workers $ITEMS sleep $MS
		stage "C++" decode $workers
		sleeps "C++" .
	done
	traced cpp-burn "$WORK/stages" 1 $ITEMS burn $MS
	stage "C++ burns" decode 1
	traced cpp-healthy "$WORK/stages" 2 $ITEMS none 0
	[ $((WAIT_NS * 20)) -gt "$LOOP_NS" ] || assert_eq "C++, healthy: nobody is blamed" null "$(jq -r .verdict.stage "$R")"
else
	leave_out "C++: no g++"
fi
