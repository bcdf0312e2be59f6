#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace of PyTorch 1.8: categories in capitals, steps among the operators.

    tests/foreign/kineto_2021.py ANALYZER FOLDER
"""
import json

import sums

EPOCH = 1616000000000000


def make():
    events = [{"ph": "M", "name": "process_name", "pid": 99, "args": {"name": "python"}}]
    for step in range(6):
        at = EPOCH + step * 10000
        events.append({"ph": "X", "cat": "Operator", "name": "ProfilerStep#%d" % step, "pid": 99, "tid": 99, "ts": at,
                       "dur": 9000, "args": {"External id": step * 100, "Trace name": "PyTorch Profiler"}})
        for i in range(5):
            number = step * 100 + i + 1
            events.append({"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 99, "tid": 99,
                           "ts": at + 100 + i * 1000, "dur": 300, "args": {"External id": number}})
            events.append({"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 99, "tid": 99,
                           "ts": at + 200 + i * 1000, "dur": 10, "args": {"correlation": number, "external id": number}})
            events.append({"ph": "X", "cat": "Kernel", "name": "volta_sgemm", "pid": 0, "tid": "stream 7",
                           "ts": at + 300 + i * 1000, "dur": 750 + i,
                           "args": {"device": 0, "stream": 7, "correlation": number, "external id": number}})
    return {"schemaVersion": 1, "traceEvents": events}


trace = make()
path = sums.path("worker0.pt.trace.json")
with open(path, "w", encoding="utf-8") as file:
    json.dump(trace, file)
report = sums.report(path)
marks = [event for event in trace["traceEvents"] if event["name"].startswith("ProfilerStep#")]
kernels = [((e["ts"] - EPOCH) * 1000, (e["ts"] - EPOCH + e["dur"]) * 1000) for e in trace["traceEvents"]
           if e.get("cat") == "Kernel"]
rows = report["steps"]["devices"][0]["rows"] if "steps" in report else []
sums.same("steps", len(rows), len(marks))
for row, mark in zip(rows, marks):
    begin = (mark["ts"] - EPOCH) * 1000
    inside = [kernel for kernel in kernels if begin <= kernel[0] < begin + mark["dur"] * 1000]
    sums.same(mark["name"] + ": busy", row["device_busy_ns"], sums.length(inside))
sums.same("operators", {row["op_type"] for row in report["operators"]}, {"aten::mm"})
sums.end()
