#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MindInsight 2.3.1 and MindSpore's own parser read the files exported for them, and find the report's figures in them.
# timeout: 1800
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/minddata_lib.sh"
need_root
need_command jq
need_mindspore
"$ROOT/tests/tools/make-venv" mindinsight >"$WORK/install" 2>&1 ||
	skip "needs MindInsight in build/venv-mindinsight, which cannot be installed here: $(tail -n 1 "$WORK/install")"

start_job export --rows 480 --epochs 2 --batch 16 --workers 2 --map burn --map-ms 3 --think-ms 40
run_traced export

note "-- what is written"
"$ANALYZER" export "$WORK/export.pbt" --to mindinsight -o "$WORK/profiler"
assert_eq "files" "dataset_iterator_profiling_0.txt minddata_cpu_utilization_0.json minddata_pipeline_raw_0.csv \
minddata_pipeline_summary_0.csv minddata_pipeline_summary_0.json pipeline_profiling_0.json profiler_info_0.json" \
	"$(cd "$WORK/profiler" && printf '%s\n' * | paste -sd ' ')"
assert_status "a second time into the same folder" 1 "$ANALYZER" export "$WORK/export.pbt" --to mindinsight -o "$WORK/profiler"
assert_contains "and why not" "$WORK/err" 'it exists already'
assert_eq "nothing is left of the attempt" 1 "$(find "$WORK" -maxdepth 1 -name 'profiler*' | wc -l)"

note "-- what reads it"
"$ROOT/build/venv-mindinsight/bin/python" "$WORKLOADS/mindinsight_read.py" "$WORK/profiler" >"$WORK/insight.json" \
	2>"$WORK/insight.err" || fail "MindInsight refuses it: $(tail -n 3 "$WORK/insight.err")
$(head -c 2000 "$WORK/insight.json")"
for table in .minddata_cpu_utilization.op .minddata_pipeline.object .minddata_queues.time; do
	assert_between "rows of MindInsight's $table" 1 1000 "$(jq "$table | length" "$WORK/insight.json")"
done
(cd "$WORK" && "$MINDSPORE_PYTHON" "$WORKLOADS/own_analysis.py" "$WORK/profiler" "$WORK/own" >"$WORK/own.out" 2>&1) ||
	fail "MindSpore refuses it: $(tail -n 3 "$WORK/own.out")"
start=$(json "$WORK/export.json" .trace.start_ns) from=$(json "$WORK/export.json" .host.start_ns)
report_json "$WORK/export.pbt" "$WORK/during.json" --section pipeline --from $((from - start))ns \
	--to $((from - start + $(json "$WORK/export.json" .host.duration_ns)))ns
python3 "$ROOT/tests/truth/mindinsight_agree.py" "$WORK/export.json" "$WORK/during.json" "$WORK/profiler" "$WORK/insight.json" \
	"$WORK/own/minddata_pipeline_summary_0.json" || fail "figures are not the report's"

note "-- its web backend lists the job, and its pages have something to show"
mkdir -p "$WORK/base/job"
cp -r "$WORK/profiler" "$WORK/base/job/profiler"
python3 "$ROOT/tests/truth/mindinsight_backend.py" "$ROOT/build/venv-mindinsight" "$WORK/workspace" "$WORK/base" job \
	>"$WORK/backend.json" 2>"$WORK/backend.err" || fail "its backend does not answer: $(tail -n 5 "$WORK/backend.err")"
backend() { jq -r "$1" "$WORK/backend.json"; }
batches=$(json "$WORK/export.json" .pipeline[0].fetches.count)
assert_eq "jobs listed, and their folder" "1 ./profiler" "$(backend '"\(.jobs | length) \(.jobs[0].profiler_dir)"')"
assert_eq "devices" '["0"]' "$(backend '.devices.device_list | tostring')"
assert_eq "batches on the page of data preparation" "$batches" "$(backend .summary.device_queue_info.summary.total_batch)"
assert_eq "batches on its curve of the queue" "$batches" "$(backend '.queue.info.queue | length')"
assert_eq "batches on its curve of waits" "$batches" "$(backend '.waits.info.get_cost | length')"
assert_eq "steps on the page of CPU utilization" "$batches" "$(backend .cpu.step_total_num)"
for table in .operators.object .cpu.op_info.op_list .cpu.device_info.user_utilization.metrics \
	.cpu.process_info.user_utilization.metrics; do
	assert_between "rows of $table" 1 1000000 "$(backend "$table | length")"
done

note "-- and back: the same files as the input of a report"
"$ANALYZER" report --device "$WORK/profiler" --format json -o "$WORK/back.json"
assert_eq "operators" "$(jq -c '[.pipeline[0].operators[].name]' "$WORK/export.json")" \
	"$(jq -c '[.pipeline[0].operators[].name]' "$WORK/back.json")"
assert_eq "batches" "$(jq .pipeline[0].fetches.count "$WORK/export.json")" "$(jq .pipeline[0].fetches.count "$WORK/back.json")"
assert_near "CPU time of the Python map, ms" "$(jq '.pipeline[0].operators[2].run_with_descendants_ns / 1e6' "$WORK/during.json")" \
	2 "$(jq '.pipeline[0].operators[2].run_ns / 1e6' "$WORK/back.json")"
# An interval shorter than half a second at an end is not written, because MindInsight's averages weight all intervals
# equally.
duration=$(json "$WORK/back.json" .host.duration_ns)
assert_between "ms that the file tells of" "$(jq '.host.duration_ns / 1e6 - 500 | floor' "$WORK/export.json")" \
	"$(jq '.host.duration_ns / 1e6 + 500 | floor' "$WORK/export.json")" $((duration / 1000000))
# The file has shares of the elapsed time; the kernel may have counted fewer ticks.
assert_near "idle time of the host and what was not, ms" "$(jq ".host | (.user_ns + .system_ns + .idle_ns) * $duration / 1e6 *
	(.cpus | length) / (.user_ns + .system_ns + .irq_ns + .softirq_ns + .iowait_ns + .idle_ns + .steal_ns)" "$WORK/export.json")" \
	2 "$(jq '.host | (.user_ns + .system_ns + .idle_ns) / 1e6' "$WORK/back.json")"
export_mean=$(jq '.pipeline[0].operators[1].queue.mean_size' "$WORK/export.json")
assert_between "what Batch's queue held" "$(jq -n "$export_mean - 0.2")" "$(jq -n "$export_mean + 0.2")" \
	"$(jq '.pipeline[0].operators[1].queue.mean_size' "$WORK/back.json")"

note "-- a trace without a data pipeline"
"$PROFCTL" record --standalone -o "$WORK/other.pbt" -- true 2>"$WORK/other.err"
assert_status "there is nothing to export" 1 "$ANALYZER" export "$WORK/other.pbt" --to mindinsight -o "$WORK/none"
assert_contains "and why" "$WORK/err" 'the trace has no data pipeline'
[ ! -e "$WORK/none" ] || fail "a folder is left"
