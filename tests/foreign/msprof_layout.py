#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PROF_* as msprof of CANN 8.5 and later exports it, with parts of a host and of a device: import, report and export.

    tests/foreign/msprof_layout.py ANALYZER FOLDER

The timeline has the host's calls, and a table beside it has their sums: each call counts once. Another table has more
data of the timeline's tasks: counters of the cores, which are kept unchanged. Steps are in the timeline and in a
table, and count once, too. The timeline of an export has the same events.
"""
import csv
import glob
import json
import os
from decimal import Decimal

import sums

# Device 5 of process 627338.
HARDWARE, CANN, EPOCH = 627338 << 10 | 13 << 5 | 5, 642394367, Decimal("1787504124000000.125")
OPERATORS = [("aclnnInplaceOne_OnesLikeAiCore_OnesLike", "OnesLike", "AI_VECTOR_CORE", "4.88"),
             ("aclnnInplaceOne_OnesLikeAiCore_OnesLike", "OnesLike", "AI_VECTOR_CORE", "8.22"),
             ("aclnnGroupedMatmulV5_GroupedMatmul_GroupedMatmul", "GroupedMatmul", "MIX_AIC", "26.06"),
             ("aclnnMatmul_MatMulV3Common_MatMulV3", "MatMulV3", "AI_CORE", "19.4"),
             ("aclnnMatmul_MatMulV3Common_MatMulV3", "MatMulV3", "MIX_AIC", "30.001")]
CALLS = [("acl", "aclnnInplaceOne"), ("acl", "aclrtLaunchKernelWithHostArgs"), ("acl", "aclrtSynchronizeStream"),
         ("node", "launch")]
COUNTERS = ["aicore_time(us)", "aic_total_cycles", "aic_mac_time(us)", "aic_mac_ratio", "aic_mte2_time(us)",
            "aic_mte2_ratio", "aic_icache_miss_rate", "aiv_time(us)", "aiv_total_cycles", "aiv_vec_time(us)",
            "aiv_vec_ratio", "aiv_write_cache_hit", "aiv_r0_read_cache_miss_allocate", "cube_utilization(%)"]
STEPS = []  # number, start of the forward pass, end, end of the backward pass
RULES = [{"Rule Type": "Computation", "result": [
    {"Rule Subtype": "Operator Schedule", "Rule Suggestion": 'Tune "blocks", please', "Tuning Data": ["MatMulV3_1", "conv\\2"]},
    {"Rule Subtype": "Operator Metrics", "Rule Suggestion": "", "Tuning Data": []}]},
         {"Rule Type": "Model Summary", "Rule Subtype": "", "Rule Suggestion": "Overlap more", "Tuning Data": {"AICPU serial share": 0.25}}]
TABLE = ("Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
         "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
         "Output Shapes,Output Data Types,Output Formats,Context ID").split(",")


def name(pid, label, text, sort):
    return [{"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": text}},
            {"name": "process_labels", "pid": pid, "tid": 0, "ph": "M", "args": {"labels": label}},
            {"name": "process_sort_index", "pid": pid, "tid": 0, "ph": "M", "args": {"sort_index": sort}}]


def timeline():
    """Tasks of stream 46, each launched by the calls; the profiler itself runs empty tasks on stream 49."""
    events = name(HARDWARE, "NPU 5", "Ascend Hardware", 13) + name(CANN, "CPU", "CANN", 7)
    calls, at = [], EPOCH
    for number, (operator, _, core, length) in enumerate(OPERATORS):
        for step, (level, api) in enumerate(CALLS):
            duration = Decimal(3 + 2 * step) + Decimal(number) / 4
            layer = "Node@" if level == "node" else "AscendCL@"
            calls.append((level, api, duration))
            events.append({"name": layer + api, "pid": CANN, "tid": 627338, "ts": str(at), "dur": float(duration), "ph": "X",
                           "args": {"Thread Id": 627338, "Mode": "ACL_RTS", "level": level, "id": api, "item_id": "0",
                                    "connection_id": 10 * number + step}})
            at += duration + 1
        connection = 10 * number + 1
        events.append({"name": operator, "pid": HARDWARE, "tid": 46, "ts": str(at), "dur": float(length), "ph": "X",
                       "args": {"Model Id": 4294967295, "Task Type": core, "Physic Stream Id": 46, "Task Id": number,
                                "Batch Id": 0, "Subtask Id": 4294967295, "connection_id": connection}})
        events.append({"name": "HostToDevice%d" % (connection << 32), "pid": HARDWARE, "tid": 46, "ph": "f",
                       "cat": "HostToDevice", "id": str(connection << 32), "ts": str(at), "bp": "e"})
        OPERATORS[number] += (at,)
        at += 100
    events.append({"name": "PROFILING_DISABLE", "pid": HARDWARE, "tid": 49, "ts": str(at), "dur": 0.0, "ph": "X",
                   "args": {"Model Id": 4294967295, "Task Type": "PROFILING_DISABLE", "Physic Stream Id": 49,
                            "Task Id": 5, "Batch Id": 0, "Subtask Id": 4294967295, "connection_id": 95}})
    return events + steps(at), calls


def steps(end):
    """Two iterations of model 1 that cover all tasks: rows of the timeline."""
    rows = name(HARDWARE, "NPU 5", "Ascend Hardware", 13)
    rows.append({"name": "thread_name", "pid": HARDWARE, "tid": 70001, "ph": "M", "args": {"name": "Step Trace(Model ID:1)"}})
    middle = OPERATORS[2][4] - 1
    for number, (start, stop) in enumerate([(OPERATORS[0][4], middle), (OPERATORS[2][4], end)], 1):
        last = STEPS[-1][2] if STEPS else start
        STEPS.append((number, start, stop, start + 10))
        rows.append({"name": "Iteration %d" % number, "pid": HARDWARE, "tid": 70001, "ts": str(last), "dur": float(stop - last),
                     "ph": "X", "cat": "Iteration Time",
                     "args": {"Iteration ID": number, "FP Start": str(start), "BP End": str(start + 10),
                              "Iteration End": str(stop), "Iteration Time(us)": float(stop - last)}})
    return rows


def add_up(calls):
    """{(level, name): its values in api_statistic}"""
    found = {}
    for level, api, duration in calls:
        found.setdefault((level, api), []).append(duration)
    rows = []
    for (level, api), all_of in sorted(found.items()):
        mean = sum(all_of) / len(all_of)
        variance = sum((one - mean) ** 2 for one in all_of) / len(all_of)
        rows.append(["host", level, api, sum(all_of), len(all_of), round(mean, 3), min(all_of), max(all_of), round(variance, 3)])
    return rows


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header] + rows)


def make(folder):
    output = os.path.join(folder, "PROF_000001_20260823165523228_00627338KRCOPCPN", "mindstudio_profiler_output")
    for part in ("host/data", "device_5/data"):
        os.makedirs(os.path.join(os.path.dirname(output), part))
    os.makedirs(output)
    events, calls = timeline()
    with open(output + "/msprof_20260823165531.json", "w", encoding="utf-8") as file:
        json.dump(events, file)
    write(output + "/api_statistic_20260823165532.csv",
          "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance".split(","), add_up(calls))
    write(output + "/step_trace_20260823165532.csv",
          "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
          "Iteration Refresh(us),Data Aug Bound(us),Model ID".split(","),
          [[5, one, "%s\t" % start, "%s\t" % back, "%s\t" % stop, 1, 1, 1, 1, 1] for one, start, stop, back in STEPS])
    rows = []
    for number, (operator, kind, core, length, at) in enumerate(OPERATORS):
        counted = ["0.1", 33554433 + number, "7.125", "0.%d" % (number + 3), "1.5", "0.25", "0.011", "3.48", 50115 + number,
                   "2.25", "0.999", "32.0", "%d.0" % number, "88.25"]
        rows.append([5, 4294967295, number, 46, operator, kind, "dynamic", core, "%s\t" % at, length, 0, 8, 0,
                     "YES" if kind == "MatMulV3" else "NO", '"512,16"', "DT_BF16", "ND", '"512,16"', "DT_BF16", "ND", "N/A"] + counted)
    write(output + "/op_summary_20260823165532.csv", TABLE + COUNTERS, rows)
    write(output + "/fusion_op_20260823165532.csv",
          "Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),Memory Output(KB),Memory Weight(KB),"
          "Memory Workspace(KB),Memory Total(KB)".split(","),
          [[5, "ge_default_1", 1, "te_fused_relu_0", "conv1;bias;relu", 100.5, 50, "12.25", 0, 162.75],
           [5, "ge_default_1", 1, "te_fused_add_1", "add;mul", 8, 8, 0, 0, 16]])
    with open(output + "/prof_rule_5_20260823165532.json", "w", encoding="utf-8") as file:
        json.dump(RULES, file)
    return output, calls


def told(folder):
    """The vendor's advice, without the topic that may surround it."""
    (path,) = glob.glob("%s/**/prof_rule_5_*.json" % folder, recursive=True)
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    flat = [dict(one, **{"Rule Type": row["Rule Type"]}) for row in rows for one in row.get("result", [row])]
    return [(row["Rule Type"], row["Rule Subtype"], row["Rule Suggestion"],
             ["%s %s" % pair for pair in row["Tuning Data"].items()] if isinstance(row["Tuning Data"], dict) else row["Tuning Data"])
            for row in flat if row.get("Rule Suggestion")]


def read(folder, table):
    (path,) = glob.glob("%s/**/%s_*.csv" % (folder, table), recursive=True)
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text):
    return Decimal(text.strip()) if text.strip().replace(".", "", 1).isdigit() else text


def events_of(folder, file):
    (path,) = glob.glob("%s/**/%s_2*.json" % (folder, file), recursive=True)
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def layer(events, wanted):
    """Slices of the processes with a name; instants and durations as in the file."""
    pids = {event["pid"] for event in events if event["name"] == "process_name" and event["args"]["name"] == wanted}
    return [event for event in events if event["pid"] in pids and event["ph"] == "X"]


def tasks_of(events):
    return sorted((event["name"], event["tid"], Decimal(event["ts"]), Decimal(str(event["dur"])), event["args"]["Task Type"],
                   event["args"]["Task Id"], event["pid"] & 31) for event in layer(events, "Ascend Hardware") if "cat" not in event)


def calls_of(events):
    return sorted((event["name"], event["tid"], Decimal(event["ts"]), Decimal(str(event["dur"])), event["args"]["level"],
                   event["args"]["id"]) for event in layer(events, "CANN"))


def launches_of(events):
    """The call that launched each task: by connections, and by arrows, which agree."""
    calls = {event["args"]["connection_id"]: event for event in layer(events, "CANN")}
    tasks = [event for event in layer(events, "Ascend Hardware") if event["args"].get("connection_id") in calls]
    return sorted((event["name"], event["ts"], calls[event["args"]["connection_id"]]["name"],
                   calls[event["args"]["connection_id"]]["ts"]) for event in tasks)


def arrows_of(events):
    ends = {phase: {event["id"]: event for event in events if event["ph"] == phase and event.get("cat") == "HostToDevice"}
            for phase in "sf"}
    calls = {(event["tid"], event["ts"]): event["name"] for event in layer(events, "CANN")}
    tasks = {(event["tid"], event["ts"]): event["name"] for event in layer(events, "Ascend Hardware")}
    return sorted((tasks[end["tid"], end["ts"]], end["ts"], calls[ends["s"][number]["tid"], ends["s"][number]["ts"]],
                   ends["s"][number]["ts"]) for number, end in ends["f"].items())


def steps_of(events):
    return sorted((event["args"]["Iteration ID"], Decimal(event["ts"]), Decimal(str(event["dur"])),
                   Decimal(event["args"]["FP Start"]), Decimal(event["args"]["BP End"]), Decimal(event["args"]["Iteration End"]))
                  for event in layer(events, "Ascend Hardware") if event.get("cat") == "Iteration Time")


vendor, made = make(sums.path("in", "x")[:-2])
report = sums.report(os.path.dirname(vendor))
sums.same("devices", [(device["id"], device["tasks"]) for device in report["devices"]], [(5, 6)])
out = sums.path("out")
sums.analyzer("export", "--device", os.path.dirname(vendor), "--to", "msprof", "-o", out)
sums.same("folders", len(glob.glob(out + "/PROF_*")), 1)

LEVELS = {"acl": "AscendCL", "node": "Node"}
sums.same("api_statistic", sorted((row["Level"], row["API Name"], Decimal(row["Time(us)"]), row["Count"], Decimal(row["Min(us)"]),
                                   Decimal(row["Max(us)"]), Decimal(row["Variance"])) for row in read(out, "api_statistic")),
          sorted((LEVELS[row[1]], row[2], row[3], str(row[4]), row[6], row[7], row[8]) for row in add_up(made)))
FUSED = [[{column: number(text) for column, text in row.items()} for row in read(folder, "fusion_op")] for folder in (out, vendor)]
sums.same("fusion_op", FUSED[0], FUSED[1])
sums.same("prof_rule", told(out), told(os.path.dirname(vendor)))
ours, theirs = read(out, "op_summary"), read(vendor, "op_summary")
sums.same("rows of op_summary", len(ours), len(theirs))
for mine, other in zip(ours, theirs):
    for column in ["Op Name", "OP Type", "OP State", "Task Type", "Task ID", "Stream ID", "HF32 Eligible", "Input Shapes",
                   "Output Data Types", "Block Num"] + COUNTERS:
        sums.same("%s of task %s" % (column, other["Task ID"]), number(mine.get(column, "absent")), number(other[column]))

timeline, theirs = events_of(out, "msprof"), events_of(vendor, "msprof")
sums.same("tasks of the timeline", tasks_of(timeline), tasks_of(theirs))
sums.same("calls of the timeline", calls_of(timeline), calls_of(theirs))
sums.same("launches", launches_of(timeline), launches_of(theirs))
sums.same("arrows", arrows_of(timeline), [one for one in launches_of(timeline) if one[0] != "PROFILING_DISABLE"])
sums.same("steps of the timeline", steps_of(timeline), steps_of(theirs))
sums.same("steps alone", steps_of(events_of(out, "step_trace")), steps_of(theirs))
for event in timeline:
    if event["ph"] == "X" and Decimal(str(event["dur"])) < 0:
        sums.same("a length", event["dur"], 0)

# A step counts once, for its device, whichever file has it.
WANTED = [(number, int(1000 * (stop - last))) for (number, _, stop, _), last in zip(STEPS, [STEPS[0][1], STEPS[0][2]])]
for where in (os.path.dirname(vendor), out, glob.glob(out + "/**/msprof_2*.json", recursive=True)[0],
              glob.glob(out + "/**/step_trace_2*.json", recursive=True)[0]):
    again = sums.report(where)
    sums.same("devices of " + where, [device["id"] for device in again["devices"]], [5])
    sums.same("steps of " + where, [(row["index"], row["duration_ns"]) for row in again["steps"]["rows"]], WANTED)
sums.end()
