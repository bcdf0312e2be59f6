#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the results of MindInsight's analysers for a device's exported files with the report.

usage: mindinsight_device.py REPORT FOLDER

Run with the Python that has MindInsight. Ends with status 1 if a figure differs or is missing.
"""
import json
import os
import sys
import tempfile

os.environ.setdefault("MINDINSIGHT_WORKSPACE", tempfile.mkdtemp())
from mindinsight.profiler.analyser.analyser_factory import AnalyserFactory  # noqa: E402
from mindinsight.profiler.common.util import analyse_device_list_from_profiler_dir  # noqa: E402
from mindinsight.profiler.proposer.proposer_factory import ProposerFactory  # noqa: E402

report_path, folder = sys.argv[1:]
folder = os.path.abspath(folder)
with open(report_path, encoding="utf-8") as file:
    report = json.load(file)
wrong = 0


def expect(what, ours, theirs, allowed=0.0):
    global wrong
    bad = abs(ours - theirs) > allowed if isinstance(ours, (int, float)) else ours != theirs
    wrong += bad
    print(f"{what:<60}{ours!s:>22}{theirs!s:>22}{'  WRONG' if bad else ''}")


def analyser(name):
    return AnalyserFactory.instance().get_analyser(name, folder, "0")


def rows(name, **condition):
    return analyser(name).query({"filter_condition": condition})["object"]


def check_cluster():
    """Several ranks: MindInsight's page of mean steps, in milliseconds."""
    devices = report["steps"]["devices"]
    expect("ranks", (["0", "1"], "ascend"), analyse_device_list_from_profiler_dir(folder)[:2])
    found = analyser("cluster_step_trace").query({"filter_condition": {"step_id": 0}})
    expect("ranks with steps", len(devices), found["size"])
    for rank in found["info"]:
        mean = devices[rank["rank_id"]]["mean"]
        for field, value in zip(("iteration_interval_ns", "fp_bp_ns", "tail_ns", "duration_ns"), rank["step_trace_info"]):
            expect(f"rank {rank['rank_id']}: mean {field}, as ms", mean[field] / 1e6, value, 0.0002)


def check_pipeline():
    """Two stages with one rank each and equal steps: MindInsight's values for comparing ranks and links, and memory."""
    devices, ranks = report["steps"]["devices"], report["cluster"]["ranks"]
    found = analyser("cluster_step_trace").query({"filter_condition": {"step_id": 0}})
    expect("mode", "pipeline-parallel", found["parallel-mode"])
    expect("stages", len(report["cluster"]["stages"]), found["stage_num"])
    expect("ranks with steps", len(devices), found["size"])
    alone = work = waited = 0
    for info in found["info"]:
        number = info["rank_id"]
        step = devices[number]["mean"]["duration_ns"]
        steps = len(devices[number]["rows"])
        receive, collective = (ranks[number][field] / steps for field in ("receive_ns", "collective_ns"))
        waited += receive / 1e6
        alone += (receive + collective) / 1e6
        work += (step - receive - collective) / 1e6
        for name, ours, theirs in zip(
                ("gap", "step without communication", "communication alone", "stage", "receiving", "collectives"),
                (devices[number]["mean"]["iteration_interval_ns"], step - receive - collective, receive + collective,
                 step - receive, receive, collective), info["step_bottleneck_info"]):
            expect(f"rank {number}: {name}, ms", ours / 1e6, theirs, 0.0002)
    for stage in report["cluster"]["stages"]:
        shown = analyser("cluster_step_trace").query({"filter_condition": {"stage_id": stage["stage"] + 1}})["info"]
        expect(f"ranks in stage {stage['stage']}", stage["ranks"], len(shown))
    parallel = analyser("parallel")
    expect("waiting for other stages, of all", waited / (work + alone), parallel.get_between_stage_communication_rate(), 0.0001)
    proposal = ProposerFactory.instance().get_proposer("parallel", folder, "0").analyze()
    expect("it is proposed to wait less", True, "pipeline_parallel_between_stage" in proposal["parallel_strategy"])

    links = {row[0]: row[1:] for row in analyser("cluster_hccl").get_cluster_link_info()["cluster_link_info"]}
    for link in report["communication"]["links"]:
        transport, cost, size, bandwidth = links[f"{link['source']}-{link['destination']}"]
        steps = len(devices[0]["rows"])
        expect(f"link of rank {link['source']}", link["transport"], transport)
        expect("  milliseconds a step", link["transit_ns"] / steps / 1e6, cost, 0.000001)
        expect("  KB a step", link["bytes"] / steps / 1e3, size, 0.001)
        expect("  KB/s", link["bytes"] / link["transit_ns"] * 1e6, bandwidth, 1)
    expect("ranks with links", ["device0", "device1"], sorted(analyser("cluster_hccl").get_communication_data()))

    records = {row["device"]: row for row in report["memory"]["records"]}
    for rank in analyser("cluster_memory").get_peak_memory():
        expect(f"rank {rank['rank_id']}: peak, GiB", records[rank["rank_id"]]["peak_bytes"] / 2**30, rank["peak_mem"], 1e-9)
    shown = analyser("memory_usage").get_memory_data_for_marey("ascend")
    for number, device in enumerate(devices):
        lines = shown[f"device{number}"]["details"]["0"]["lines"]
        kernels = [row["count"] for row in report["operators"] if row["device"] == device["device"] and row["type"] == "kernel"]
        expect(f"rank {number}: operators with memory", sum(kernels), len(lines))
        expect(f"rank {number}: in use before the first", 1 + number / 4, lines[0], 1e-9)


print(f"{'':<60}{'report':>22}{'MindInsight':>22}")
if "stages" in report.get("cluster", {}):
    check_pipeline()
    sys.exit(1 if wrong else 0)
if len(report["devices"]) > 1:
    check_cluster()
    sys.exit(1 if wrong else 0)
expect("devices", (["0"], "ascend"), analyse_device_list_from_profiler_dir(folder)[:2])

# Operators by type and by name: microseconds.
on_cores = [row for row in report["operator_types"] if row["core"] == "AICORE"]
types = {row[0]: row for row in rows("aicore_type")}
expect("types on AI cores", sorted(row["op_type"] for row in on_cores), sorted(types))
total = sum(row["total_ns"] for row in on_cores)
for row in on_cores:
    found = types[row["op_type"]]
    expect(f"{row['op_type']}: time, us", row["total_ns"] / 1e3, found[1], 0.001)
    expect(f"{row['op_type']}: count", row["count"], found[2])
    expect(f"{row['op_type']}: share, %", 100 * row["total_ns"] / total, found[3], 0.001)
named = [row for row in report["operators"] if row["core"] == "AICORE"]
details = {row[0]: row for row in rows("aicore_detail")}
expect("operators on AI cores", len(named), len(details))
for row in named:
    found = details[row["name"].rsplit("/", 1)[-1]]
    expect(f"{row['name']}: mean, us", row["total_ns"] / row["count"] / 1e3, found[3], 0.001)
    if "flops" in row:
        expect(f"{row['name']}: MFLOPs", row["flops"] / row["flops_tasks" if "flops_tasks" in row else "count"] / 1e6,
               found[5], 0.001)
        expect(f"{row['name']}: GFLOPS", row["flops_per_second"] / 1e9, found[6], 0.001)
    shapes = [found[9][key]["shape"] for key in sorted(found[9]) if key.startswith("input")]
    expect(f"{row['name']}: shapes", row.get("input_shapes", "").strip('"'),
           ";".join(",".join(map(str, shape)) for shape in shapes))
on_cpus = [row for row in report["operator_types"] if row["core"] == "AICPU"]
expect("time on AI CPUs, us", sum(row["total_ns"] for row in on_cpus) / 1e3, sum(row[1] for row in rows("aicpu_type")), 0.01)
expect("operators on AI CPUs", sum(row["count"] for row in on_cpus), sum(row[4] for row in rows("aicpu_detail")))
summary = analyser("flops").get_flops_summary()
cores = [row for row in report["operator_cores"] if row["core"] == "AICORE"][0]
expect("all FLOPs, millions", cores["flops"] / 1e6, summary["FLOPs"], 0.001)

# Steps: milliseconds, in ticks of 10 ns.
trace = report["steps"]["devices"][0]
steps = analyser("step_trace")
for name, field in (("iteration_interval", "iteration_interval_ns"), ("fp_and_bp", "fp_bp_ns"), ("tail", "tail_ns"),
                    ("total", "duration_ns")):
    found = steps.query({"filter_condition": {"mode": "proc", "proc_name": name}})["info"][name]
    expect(f"steps with {name}", len(trace["rows"]), len(found))
    for row, value in zip(trace["rows"], found):
        expect(f"step {row['index']}: {name}, ms", row.get(field, 0) / 1e6, value, 0.0002)
mean = trace["mean"]
expect("mean step, ms", mean["duration_ns"] / 1e6, steps.summary["total_time"], 0.0002)
expect("mean gap, ms", mean["iteration_interval_ns"] / 1e6, steps.summary["iteration_interval"], 0.0002)
expect("mean tail, ms", mean["tail_ns"] / 1e6, steps.summary["tail"], 0.0002)
graph = steps.query({"filter_condition": {"mode": "step", "step_id": 0}})["training_trace_graph"]
reduces = [point for line in graph[2:] for point in line if point and point["name"]]
expect("collectives of the mean step, ms", sum(row["total_ns"] for row in mean["all_reduce"]) / 1e6,
       sum(point["duration"] for point in reduces), 0.001)
expect("the first operator of a step", trace["fp_point"], steps.point_info(0)["fp_start"])

# The timeline: milliseconds, and microseconds of its events.
timeline = analyser("timeline")
events = [event for event in timeline.get_display_timeline("ascend", 1) if event["ph"] == "X"]
overlap = report["overlap"][0]
for name, field in (("Merged Computation Op", "computation_ns"), ("Merged Communication Op", "communication_ns"),
                    ("Pure Communication Op", "pure_communication_ns"), ("Free Time", "free_ns")):
    expect(f"{name}, us", overlap[field] / 1e3, sum(event["dur"] for event in events if event["name"] == name), 0.01)
for pid, core in ((0, "AICORE"), (9000, "AICPU"), (10000, "communication")):
    expect(f"tasks of {core}", sum(row["count"] for row in report["operator_cores"] if row["core"] == core),
           sum(event["pid"] == pid and event["tid"] < 100000 for event in events))
expect("levels of scopes when one is asked for", [0],
       sorted({event["scope_level"] for event in events if event["tid"] == 100001}))
shown = timeline.get_timeline_summary("ascend")
expect("tasks on the timeline", sum(row["count"] for row in report["operator_cores"] if row["core"] != "copy"),
       shown["op_exe_times"])
expect("levels of scopes", 3, shown["max_scope_name_num"])
sys.exit(1 if wrong else 0)
