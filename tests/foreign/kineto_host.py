#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kineto's timeline of the host: operators, modules, Python, ranges; the causes of a device's gaps; a trace without a device.

    tests/foreign/kineto_host.py ANALYZER FOLDER
"""
import collections
import json
import random

import sums

BASE = 1700000000000000000
MAIN, BACKWARD, PID = 500, 501, 500
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


class Trace:
    """Events with times in ns since BASE; calls of 4 us launch a device's tasks."""

    def __init__(self):
        self.events = []
        self.free = 0  # end of the stream's last task
        self.number = 0
        self.arrows = []  # (begin, end or None) as (thread, time)

    def add(self, cat, name, start, dur, tid=MAIN, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": PID, "tid": tid, "ts": start, "dur": dur, "args": args})

    def launch(self, name, at, dur, tid, external):
        self.number += 1
        self.add("cuda_runtime", "cudaLaunchKernel", at, 4000, tid, correlation=self.number, **{"External id": external})
        start = max(at + 6000, self.free)
        self.free = start + dur
        self.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": dur,
                            "args": {"device": 0, "stream": 7, "correlation": self.number, "External id": external}})

    def write(self, name):
        rows = []
        for event in self.events:
            row = dict(event)
            row["ts"], row["dur"] = "@%d.%03d@" % divmod(event["ts"], 1000), "@%d.%03d@" % divmod(event["dur"], 1000)
            rows.append(row)
        for number, ends in enumerate(self.arrows):
            for phase, there in zip("sf", ends):
                if there:
                    rows.append({"ph": phase, "id": number, "pid": PID, "tid": there[0], "ts": "@%d.%03d@" % divmod(there[1], 1000),
                                 "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"})
        random.shuffle(rows)
        text = json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": BASE, "traceEvents": rows})
        path = sums.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"@', "").replace('@"', ""))
        return path


def make(device):
    """Three steps: a loader, two modules with operators, a backward pass on a thread of its own, an optimizer."""
    random.seed(3)
    trace, at, external = Trace(), 1000000, 0
    for step in range(3):
        begin = at
        length = random.randrange(2000000, 3000000)
        trace.add("user_annotation", LOADER, at, length)
        trace.add("python_function", "torch/utils/data/dataloader.py(733): __next__", at + 1000, length - 2000)
        at += length + random.randrange(1000, 50000)
        forward, passed = at, []
        for layer in range(2):
            module = at
            for _ in range(3):
                external += 1
                operator = at + random.randrange(2000, 40000)
                passed.append((MAIN, operator))
                inner = operator + random.randrange(500, 5000)
                trace.add("cpu_op", "aten::linear", operator, 60000, **{"External id": 1000 + external, "Input Dims": [[8, 16], [4]]})
                trace.add("cpu_op", "aten::addmm", inner, 50000, **{"External id": external, "Input Dims": [[4], [8, 16]]})
                if device:
                    trace.launch("gemm", inner + 20000, random.randrange(5000, 30000), MAIN, external)
                at = operator + 60000 + random.randrange(100, 3000)
            trace.add("python_function", "nn.Module: Linear_%d" % layer, module, at - module)
        trace.add("python_function", "train.py(10): forward", forward - 500, at - forward + 1000)
        at += 5000
        trace.add("python_function", "train.py(12): backward", at, 400000)
        for i in range(4):
            external += 1
            start = at + 30000 + i * 90000
            trace.add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", start, 70000, BACKWARD,
                      **{"External id": external})
            if device:
                trace.launch("gemm_bw", start + 30000, random.randrange(5000, 20000), BACKWARD, external)
            trace.arrows.append((passed.pop(), (BACKWARD, start)))
        trace.arrows.append((passed.pop(), None))
        at += 400000 + 2000
        external += 1
        trace.add("user_annotation", "Optimizer.step#SGD.step", at, 300000)
        trace.add("cpu_op", "aten::_foreach_add_", at + 200000, 80000, **{"External id": external})
        if device:
            trace.launch("multi_tensor_apply", at + 250000, 8000, MAIN, external)
        at += 301000
        trace.add("user_annotation", "ProfilerStep#%d" % (7 + step), begin, at - begin)
        at += 1000
    return trace


def end(event):
    return event["ts"] + event["dur"]


def rank(event):
    """The order of preference of the scopes that a thread is in."""
    name = event["name"]
    if name.startswith("enumerate(DataLoader)"):
        return 7
    if name.startswith("Optimizer."):
        return 6
    if name.startswith("nn.Module: "):
        return 5
    if event["cat"] == "user_annotation":
        return 4
    if event["cat"] == "python_function":
        return 1 if name.startswith("torch/") else 3
    return 2


def scopes(trace):
    return [e for e in trace.events if e["cat"] in ("cpu_op", "python_function", "user_annotation")]


def scope_at(trace, tid, now):
    inside = [e for e in scopes(trace) if e["tid"] == tid and e["ts"] <= now < end(e) and not e["name"].startswith("ProfilerStep#")]
    if not inside:
        return None
    best = max(rank(e) for e in inside)
    of_best = [e for e in inside if rank(e) == best]
    chosen = min(of_best, key=lambda e: e["ts"]) if best == 2 else max(of_best, key=lambda e: e["ts"])
    return chosen["name"]


def blame(trace):
    """Nanoseconds of the device's gaps by (cause, where), computed from the events."""
    calls = {e["args"]["correlation"]: e for e in trace.events if e["cat"] == "cuda_runtime"}
    kernels = sorted((e for e in trace.events if e["cat"] == "kernel"), key=lambda e: e["ts"])
    found = collections.Counter()
    edges = sorted({t for e in trace.events for t in (e["ts"], end(e))})
    reach = end(kernels[0])
    for kernel in kernels[1:]:
        launch = calls[kernel["args"]["correlation"]]
        cuts = [reach] + [t for t in edges if reach < t < kernel["ts"]] + [kernel["ts"]]
        for start, stop in zip(cuts, cuts[1:]):
            if start >= end(launch):
                found["device_wait", "cudaLaunchKernel"] += stop - start
            elif any(c["tid"] == launch["tid"] and c["ts"] <= start < end(c) for c in calls.values()):
                found["runtime", "cudaLaunchKernel"] += stop - start
            else:
                name = scope_at(trace, launch["tid"], start) or scope_at(trace, MAIN, start)
                found["pipeline" if name == LOADER else "user_code" if name else "unknown", name] += stop - start
        reach = max(reach, end(kernel))
    return found


def check_scopes(trace, report, what):
    found = {row["name"]: row for row in report["host_scopes"]}
    wanted = collections.defaultdict(lambda: [0, 0, 0])
    others = scopes(trace) + [e for e in trace.events if e["cat"] == "cuda_runtime"]
    for event in scopes(trace):
        if event["name"].startswith("ProfilerStep#"):
            continue
        within = [(e["ts"], end(e)) for e in others if e is not event and e["tid"] == event["tid"] and e["ts"] >= event["ts"]
                  and end(e) <= end(event)]
        row = wanted[event["name"]]
        row[0] += 1
        row[1] += event["dur"]
        row[2] += event["dur"] - sums.length(within)
    sums.same(what + ": scopes", set(found), set(wanted))
    for name, row in wanted.items():
        have = found.get(name, {})
        sums.same("%s: %s" % (what, name), [have.get(k) for k in ("count", "total_ns", "self_ns")], row)


def check_operators(trace, report, what, device):
    """Times of operators with and without nested operators, on the host and on the device."""
    kernels = collections.Counter()
    for event in trace.events:
        if event["cat"] == "kernel":
            kernels[event["args"]["External id"]] += event["dur"]
    wanted = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    operators = [e for e in trace.events if e["cat"] == "cpu_op"]
    for event in operators:
        within = [e for e in operators if e is not event and e["tid"] == event["tid"] and e["ts"] >= event["ts"] and end(e) <= end(event)]
        own = kernels[event["args"]["External id"]]
        values = (1, event["dur"], event["dur"] - sums.length([(e["ts"], end(e)) for e in within]),
                  own + sum(kernels[e["args"]["External id"]] for e in within), own)
        row = wanted[event["name"]]
        for i, value in enumerate(values):
            row[i] += value
    keys = ["count", "host_ns", "host_self_ns", "total_ns", "self_ns"]
    found = {row["name"]: [row.get(key) for key in keys] for row in report["operator_sums"]}
    for row in wanted.values():
        if not device:
            row[3] = row[4] = None
    sums.same(what + ": operators", found, dict(wanted))


def check(device):
    what = "with a device" if device else "without a device"
    trace = make(device)
    report = sums.report(trace.write("gpu.json" if device else "cpu.json"))
    steps = [e for e in trace.events if e["name"].startswith("ProfilerStep#")]
    check_scopes(trace, report, what)
    check_operators(trace, report, what, device)
    rows = report["steps"]["rows"]
    sums.same(what + ": steps", [row["index"] for row in rows], [7, 8, 9])
    if not device:
        sums.same(what + ": their times", [row["duration_ns"] for row in rows], [e["dur"] for e in steps])
        return
    found = collections.Counter()
    for row in report["idle"]["roots"]:
        found[row["cause"], row.get("where")] += row["ns"]
    sums.same("gaps", dict(found), dict(blame(trace)))
    unknown = sum(ns for cause, ns in found.items() if cause[0] == "unknown")
    sums.same("less than a hundredth is unknown", 100 * unknown < sum(found.values()), True)
    sums.same("verdict", (report["verdict"]["state"], LOADER in report["verdict"]["sentence"]), ("data", True))


def check_few_tasks(name, host_us, state):
    """A rank that captures graphs: two fills of 5 us, in a file that may have no other task."""
    launches = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 100 + 3 * i, "dur": 2,
                 "args": {"correlation": i}} for i in (0, 1)]
    kernels = [{"ph": "X", "cat": "kernel", "name": "fill", "pid": 0, "tid": 7, "ts": 110 + 5 * i, "dur": 5,
                "args": {"device": 0, "stream": 7, "correlation": i}} for i in (0, 1)]
    host = {"ph": "X", "cat": "python_function", "name": "runner.py(5): capture", "pid": 1, "tid": 1, "ts": 1, "dur": host_us, "args": {}}
    with open(sums.path(name), "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [host] + launches + kernels}, file)
    verdict = sums.report(sums.path(name))["verdict"]
    sums.same(name, (verdict["state"], "tasks in" in verdict["sentence"]), (state, state == "unknown"))


def check_arrows():
    """Arrows from the forward to the backward pass: both ends are right, and an arrow without one of its ends is left out."""
    trace = make(False)
    sums.analyzer("export", "--device", trace.write("arrows.json"), "--to", "chrome", "-o", sums.path("arrows.chrome.json"))
    with open(sums.path("arrows.chrome.json"), encoding="utf-8") as file:
        events = json.load(file)
    events = events["traceEvents"] if isinstance(events, dict) else events
    names = {(e["tid"], e["ts"]): e["name"] for e in events if e["ph"] == "X" and e["name"].startswith(("aten::linear", "autograd"))}
    ends = collections.defaultdict(dict)
    for event in events:
        if event.get("cat") == "fwdbwd":
            ends[event["id"]][event["ph"]] = event
    whole = [(names[one["s"]["tid"], one["s"]["ts"]], names[one["f"]["tid"], one["f"]["ts"]],
              round(1000 * (one["f"]["ts"] - one["s"]["ts"]))) for one in ends.values()]
    sums.same("arrows to the backward pass", sorted(whole),
              sorted(("aten::linear", "autograd::engine::evaluate_function: AddmmBackward0", there[1] - here[1])
                     for here, there in trace.arrows if there))


check(True)
check(False)
check_arrows()
check_few_tasks("capture.json", 34000, "unknown")
check_few_tasks("enough.json", 900, "healthy")
sums.end()
