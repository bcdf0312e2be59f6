#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles of ONNX Runtime: a real one of a CPU, and generated ones of a GPU, since no real one was available.

    tests/foreign/onnxruntime.py ANALYZER FOLDER
"""
import collections
import gzip
import json
import os
import random

import sums

REAL = os.path.join(os.path.dirname(__file__), "../data/devices/onnxruntime/onnxruntime_profile.json.gz")
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


def write(name, events):
    """The format of profiler.cc: a space before colons, lists and objects as JSON, all other values as strings."""
    lines = []
    for event in events:
        arguments = ",".join('"%s" : %s' % (key, json.dumps(value, separators=(",", ":")) if isinstance(value, (list, dict))
                                            else '"%s"' % value) for key, value in event["args"].items())
        lines.append('{"cat" : "%s","pid" :%d,"tid" :%d,"dur" :%d,"ts" :%d,"ph" : "X","name" :"%s","args" : {%s}}' % (
            event["cat"], event["pid"], event["tid"], event["dur"], event["ts"], event["name"], arguments))
    path = sums.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")
    return path


def end(event):
    return event["ts"] + event["dur"]


def text(shapes):
    return ";".join(",".join(map(str, shape)) for one in shapes for shape in one.values())


def nodes(events):
    return [e for e in events if e["cat"] == "Node" and "provider" in e["args"]]


def within(outer, events):
    return [e for e in events if e is not outer and e["tid"] == outer["tid"] and outer["ts"] <= e["ts"] and end(e) <= end(outer)]


def operators(events, launched):
    """Sums by node, provider and shapes; @launched: each node's own device time by its index, None where it is unknown."""
    rows = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    executed = nodes(events)
    for node in executed:
        inner = within(node, executed)
        own = launched(node)
        both = [own] + [launched(one) for one in inner]
        values = (1, node["dur"] * 1000, (node["dur"] - sums.length([(e["ts"], end(e)) for e in inner])) * 1000,
                  None if None in both else sum(both) * 1000, None if own is None else own * 1000)
        row = rows[node["name"].replace("_kernel_time", ""), node["args"]["op_name"], node["args"]["provider"],
                   text(node["args"]["input_type_shape"]) or None]
        for i, value in enumerate(values):
            row[i] = None if value is None or row[i] is None else row[i] + value
    return dict(rows)


def check_operators(name, report, wanted):
    keys = ["count", "host_ns", "host_self_ns", "total_ns", "self_ns"]
    found = {(row["name"], row["op_type"], row["core"], row.get("input_shapes")): [row.get(key) for key in keys]
             for row in report["operator_sums"]}
    sums.same(name + ": operators", found, wanted)


def check_runs(name, report, events):
    runs = [e for e in events if e["name"] == "model_run"]
    sums.same(name + ": steps", [row["duration_ns"] for row in report["steps"]["rows"]],
              [e["dur"] * 1000 for e in sorted(runs, key=lambda e: e["ts"])])


def check_real():
    with gzip.open(REAL) as file:
        events = json.load(file)
    report = sums.report(REAL)
    sums.same("real: devices", report["devices"], [])
    sums.same("real: events", sum(row["count"] for row in report["host_scopes"]) + 5, len(events))
    check_operators("real", report, operators(events, lambda node: None))
    check_runs("real", report, events)
    used = [int(e["args"]["mem_bytes_in_use"]) for e in nodes(events)]
    held = [int(e["args"]["mem_arena_held"]) for e in nodes(events)]
    memory = report["memory"]["records"][0]
    sums.same("real: memory", [memory[key] for key in ("records", "peak_bytes", "peak_reserved_bytes")], [len(used), max(used), max(held)])


def make(orphans):
    """Runs of nodes of two providers, one node within another, and kernels after the nodes that launched them."""
    random.seed(20)
    events, at = [], 3
    events.append({"cat": "Session", "name": "session_initialization", "ts": at, "dur": 900, "pid": 44, "tid": 44, "args": {}})
    at, free = 1000, 0
    for _ in range(7):
        begin = at
        run = {"cat": "Session", "name": "model_run", "ts": begin, "dur": 0, "pid": 44, "tid": 44, "args": {}}
        events.append(run)
        for i in range(6):
            provider = CPU if i == 1 else CUDA
            node = {"cat": "Node", "name": ("n%d_kernel_time" % i), "ts": at, "dur": random.randrange(20, 60), "pid": 44, "tid": 44,
                    "args": {"op_name": "If" if i == 4 else "MatMul", "provider": provider, "node_index": str(i),
                             "input_type_shape": [{"float16": [random.choice([1, 2]), 64]}, {"int64": []}], "output_size": "8"}}
            events.append(node)
            if i == 4:
                inner = {"cat": "Node", "name": "in_kernel_time", "ts": at + 2, "dur": 9, "pid": 44, "tid": 44,
                         "args": {"op_name": "Add", "provider": CUDA, "input_type_shape": []}}
                events.append(inner)
                free = kernels(events, inner, at, free, False)
            elif provider == CUDA:
                free = kernels(events, node, at, free, orphans and i == 3)
            at = end(node) + random.randrange(1, 9)
        run["dur"] = at - begin
        at += 30
    return events


def kernels(events, node, at, free, orphan):
    for i in range(random.randrange(1, 4)):
        start = max(at + 4 + i, free)
        free = start + random.randrange(3, 40)
        arguments = {"stream": "7" if i else "13", "grid_x": "4", "grid_y": "2", "grid_z": "1", "block_x": "128", "block_y": "1",
                     "block_z": "1"}
        if not orphan:
            arguments.update(op_name=node["args"]["op_name"], parent_name=node["name"])
        name = "ampere_sgemm<float>" if i else "MemcpyHostToDevice"
        events.append({"cat": "Kernel", "name": name, "ts": start, "dur": free - start, "pid": -1, "tid": -1, "args": arguments})
    return free


def check_arrows(name, path, events):
    """Arrows from each node to its kernels in the Chrome export."""
    whole = sums.path(name + ".chrome.json")
    sums.analyzer("export", "--to", "chrome", "-o", whole, "--device", path)
    with open(whole, encoding="utf-8") as file:
        trace = json.load(file)
    trace = trace if isinstance(trace, list) else trace["traceEvents"]
    ends = {e["id"]: e for e in trace if e["ph"] == "f"}
    found = []
    for begin in (e for e in trace if e["ph"] == "s"):
        inside = [e for e in trace if e["ph"] == "X" and (e["pid"], e["tid"]) == (begin["pid"], begin["tid"])
                  and float(e["ts"]) <= float(begin["ts"]) <= float(e["ts"]) + float(e["dur"])]
        node = min(inside, key=lambda e: float(e["dur"]))
        found.append((node["name"], round(float(ends[begin["id"]]["ts"]) - float(node["ts"]))))
    wanted, node = [], None
    for event in events:
        node = event if event["cat"] == "Node" else node
        if event["cat"] == "Kernel" and "parent_name" in event["args"]:
            wanted.append((node["name"].replace("_kernel_time", ""), event["ts"] - node["ts"]))
    sums.same(name + ": arrows", sorted(found), sorted(wanted))


def check_gpu(name, orphans):
    events = make(orphans)
    path = write(name + ".json", events)
    report = sums.report(path)
    tasks = [e for e in events if e["cat"] == "Kernel"]
    device = report["devices"][0]
    sums.same(name + ": tasks", [device["tasks"], device["busy_ns"], len(report["devices"])],
              [len(tasks), sums.length([(e["ts"] * 1000, end(e) * 1000) for e in tasks]), 1])
    copies = [e["dur"] * 1000 for e in tasks if e["name"].startswith("Memcpy")]
    sums.same(name + ": copies", sum(row["total_ns"] for row in report["operators"] if row["name"] == "MemcpyHostToDevice"), sum(copies))

    def launched(node):
        place = events.index(node) + 1
        mine = []
        while place < len(events) and events[place]["cat"] == "Kernel":
            mine.append(events[place])
            place += 1
        if mine and "parent_name" in mine[0]["args"]:
            return sum(e["dur"] for e in mine)
        return None if orphans else 0

    check_operators(name, report, operators(events, launched))
    sums.same(name + ": steps", [row["index"] for row in report["steps"]["rows"]], list(range(7)))
    causes = {row.get("where") for row in report["idle"]["roots"] if row["cause"] == "user_code"}
    sums.same(name + ": gaps are of nodes", ("n1" in causes, causes <= {"n%d" % i for i in range(6)} | {"in"}), (True, True))
    check_arrows(name, path, events)
    words = sums.analyzer("info", "--device", path)
    sums.same(name + ": says what is unknown", "not told what launched them" in words, orphans)
    sums.same(name + ": says what it leaves out", "of operators sizes of outputs" in words, True)


def check_without_work():
    """The GPU's provider without its tracer: the times of launches are not times of a GPU."""
    events = [e for e in make(False) if e["cat"] != "Kernel"]
    path = write("launches.json", events)
    report = sums.report(path)
    sums.same("without work: devices", report["devices"], [])
    check_operators("without work", report, operators(events, lambda node: None))
    sums.same("without work: is said", "their times are those of launching" in sums.analyzer("info", "--device", path), True)


check_real()
check_gpu("told", False)
check_gpu("orphans", True)
check_without_work()
sums.end()
