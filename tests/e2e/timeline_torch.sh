#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Both timelines of a PyTorch job show its steps, waits for data, queue, named marks, Python functions, and the
# roots of waits; Perfetto's trace processor finds the report's figures in them.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/trace_queries_lib.sh"
need_root
need_command jq
need_trace_processor

PYTHON=$ROOT/build/venv-torch/bin/python
JOB=$ROOT/tests/workloads/torch/train.py
[ -e "$ROOT/build/venv-torch/.complete" ] || skip "PyTorch is not installed: make venv-torch"

readonly STEPS=20
"$PYTHON" "$JOB" --go "$WORK/go" 2 $STEPS >"$WORK/job.out" 2>"$WORK/job.err" </dev/null &
job=$!
wait_for_line "$WORK/job.out" '^ready$' 60
attach_in_background "$job" "$WORK/run.pbt" --standalone
touch "$WORK/go"
wait_for_end "$job" 60 || fail "the job failed: $(tail -n 5 "$WORK/job.err")"
wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(tail -n 5 "$WORK/profctl.err")"
R=$WORK/report.json
"$ANALYZER" report "$WORK/run.pbt" --section capture,pipeline,steps,python --format json --top 0 >"$R"
assert_eq "capture is complete" true "$(jq .capture.complete "$R")"

for format in perfetto chrome; do
	"$ANALYZER" export "$WORK/run.pbt" --to $format -o "$WORK/run.$format"
	assert_trace_clean "$WORK/run.$format"
	expect "steps" "$(jq '.steps.rows | length' "$R")" "select count(*) from slice where category = 'step'"
	expect "time in steps" "$(jq '[.steps.rows[].duration_ns] | add' "$R")" "select sum(dur) from slice where category = 'step'"
	expect "fetches" "$(jq '.pipeline[0].fetches | .count + .ends_of_data' "$R")" "select count(*) from slice where category = 'data'"
	expect "ends of data" 1 "select count(*) from slice where name = 'End of data'"
	expect "a value of the queue for each push and pop" "$(jq '.pipeline[0].operators[0].queue | .pushes + .pops' "$R")" \
		"select count(*) from counter c join track t on t.id = c.track_id where t.name glob 'Queue *'"
	expect "updates, as the job's optimizer marks them" $STEPS \
		"select count(*) from slice where category = 'range' and name = 'Optimizer.step#SGD.step'"
	expect "marks by the name of the function that makes them" 0 "select count(*) from slice where category = 'marker' and name glob '*record_function*'"
	expect "Python functions of the trainer" 1 "select count(*) > 0 from slice where category = 'python' and name = 'train (train.py)'"
	expect "an arrow from each that held others up" 0 \
		"select (select count(*) from flow) - (select count(*) from slice where category = 'holder')"
	expect "arrows that do not lead to who was held up" 0 \
		"select count(*) from flow f join slice s on s.id = f.slice_in where s.category not in ('root', 'holder')"
	compare "$WORK/run.$format"
done
