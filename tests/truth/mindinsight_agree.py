#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the values that MindInsight and MindSpore read from exported files with the report of the same trace.

usage: mindinsight_agree.py REPORT DURING FOLDER MINDINSIGHT SUMMARY

DURING: a report of the time with figures of the host, which is the exported time;
FOLDER: the export; MINDINSIGHT: the output of mindinsight_read.py for it; SUMMARY: the
minddata_pipeline_summary that MindSpore made from it. Ends with status 1 if a figure differs.
"""
import json
import sys

report_path, during_path, folder, insight_path, summary_path = sys.argv[1:]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


report, insight, theirs = load(report_path), load(insight_path), load(summary_path)
exported = load(f"{folder}/minddata_cpu_utilization_0.json")
ours = load(f"{folder}/minddata_pipeline_summary_0.json")
pipeline = report["pipeline"][0]
wrong = 0


def expect(what, report_value, found, allowed):
    global wrong
    bad = not abs(report_value - found) <= allowed
    wrong += bad
    print(f"{what:<52}{report_value:>14.3f}{found:>14.3f}{'  WRONG' if bad else ''}")


print(f"{'':<52}{'report':>14}{'read':>14}")
stamps = exported["time_stamp"]
lengths = [after - before for before, after in zip(stamps, stamps[1:])]
series = report["host"]["series"]

with open(f"{folder}/dataset_iterator_profiling_0.txt", encoding="ascii") as file:
    first_ms = int(file.readline().split()[4])
# MindInsight leaves out intervals that end before the first batch.
shown = [i for i in range(len(lengths)) if stamps[i + 1] >= first_ms]

# The host: MindInsight averages over intervals, in whole percents.
everything = ["user_ns", "system_ns", "irq_ns", "softirq_ns", "iowait_ns", "idle_ns", "steal_ns"]
for key, column in (("user_utilization", "user_ns"), ("sys_utilization", "system_ns"), ("idle_utilization", "idle_ns")):
    at = series["columns"].index(column)
    columns = [series["columns"].index(name) for name in everything]
    # The last interval may be shorter than the kernel's tick, and all zeros.
    shares = [100 * row[at] / (sum(row[c] for c in columns) or 1) for row in series["rows"]]
    mean = sum(shares[i] for i in shown) / len(shown)
    expect(f"MindInsight: host, {key}", mean, insight["minddata_cpu_utilization"]["device"][key], 0.51)

during = {op["id"]: op for op in load(during_path)["pipeline"][0]["operators"]}
whole = {op["id"]: op.get("utilization_with_descendants_percent", 0) for op in pipeline["operators"]}

# Operators: the intervals add up to their run time.
for op, metrics in zip(pipeline["operators"], exported["op_info"]):
    ran = sum((u + s) * ms / 100 for u, s, ms in
              zip(metrics["metrics"]["user_utilization"], metrics["metrics"]["sys_utilization"], lengths))
    # The operator may have run before the first of the host's figures, and after the last.
    all_ms = op.get("run_with_descendants_ns", 0) / 1e6
    outside = max(0, all_ms - during[op["id"]].get("run_with_descendants_ns", 0) / 1e6)
    expect(f"{op['name']}: ran, ms", all_ms, ran, max(2, 0.01 * ran) + outside)
    number = metrics["op_id"]
    read = insight["minddata_cpu_utilization"]["op"][str(number)]
    values = [sum(pair) for pair in zip(*metrics["metrics"].values())]
    expect(f"MindInsight: {op['name']}, CPU %", sum(values[i] for i in shown) / len(shown), sum(read[2].values()), 1.01)
    expect(f"MindSpore: {op['name']}, CPU %", sum(values) / len(values), theirs["avg_cpu_pct"][number], 0.02)
    expect(f"summary: {op['name']}, CPU %", whole[op["id"]], ours["avg_cpu_pct"][number], 0.001)

# Queues: exact in the table, and from samples.
table = {row[0]: row for row in insight["minddata_pipeline"]["object"]}
for op in pipeline["operators"]:
    queue = op.get("queue", {})
    if "mean_size" not in queue:
        continue
    expect(f"MindInsight: queue of {op['name']}", queue["mean_size"], table[op["id"]][2], 0.001)
    expect(f"MindInsight: its use", queue["mean_size"] / queue["capacity"], table[op["id"]][4], 0.001)
    expect(f"MindSpore: queue of {op['name']}, sampled", queue["mean_size"],
           theirs["queue_average_size"][op["id"]], 0.1 * queue["capacity"])

# Batches.
fetches = pipeline["fetches"]
queues = insight["minddata_queues"]
expect("MindInsight: batches", fetches["count"], queues["size"], 0)
expect("MindInsight: steps", fetches["count"], insight["minddata_cpu_utilization"]["steps"], 0)
steps = report["steps"]["rows"]
waited = sum(row["data_wait_ns"] for row in steps) / len(steps) / 1e6
expect("MindInsight: waiting for a batch, ms", waited, queues["time"]["time_summary"]["get_cost"], 0.02)
later = steps[1:]
expect("summary: waiting for a batch, ms", sum(row["data_wait_ns"] for row in later) / len(later) / 1e6,
       ours["per_pipeline_time"][0], 0.02)
expect("MindSpore: waiting for a batch, ms", ours["per_pipeline_time"][0], theirs["per_pipeline_time"][0], 0.5)
expect("MindSpore: from batch to batch, ms", ours["per_batch_time"][0], theirs["per_batch_time"][0], 0.5)
found = ours.get("bottleneck_warning", ["none"])[0]
verdict = pipeline.get("bottleneck", {}).get("id")
if found != "none" if verdict is None else f"(id={verdict})" not in found:
    print(f"the report's bottleneck is {verdict}, the summary's {found}")
    wrong += 1
print(f"bottleneck: {found}; MindSpore's own analysis of the same figures: {theirs.get('bottleneck_warning', ['none'])[0]}")
sys.exit(1 if wrong else 0)
