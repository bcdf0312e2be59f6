#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files whose format shows late: after much content that every format may have.

    tests/foreign/late_marks.py ANALYZER FOLDER
"""
import gzip
import json

import sums


def megengine_graph(variables):
    """trace(profiling=True).get_profile(): operators come after all variables."""
    var = {str(i): {"name": "var%d" % i, "dtype": "Float32", "shape": [32, 64, 56, 56]} for i in range(variables)}
    device = {}
    for i in range(8):
        device[str(i)] = {"gpu0:0": {"start": 0.001 * i, "kern": 0.001 * i, "end": 0.001 * i + 0.0005}}
    return {"graph_exec": {"var": var, "operator": {str(i): {"name": "conv%d" % i, "type": "ConvolutionForward",
                                                             "input": [], "output": []} for i in range(8)}},
            "profiler": {"device": device, "host": {}, "opr_footprint": {}}}


def kineto_fragment(frames):
    """A trace that a tool cut and merged: Python's frames come before everything else."""
    events = [{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_%d" % i, "pid": 7, "tid": 7,
               "ts": 1000 + i, "dur": 1, "args": {"Python id": i}} for i in range(frames)]
    for i in range(6):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7,
                       "ts": 2000 + i * 100, "dur": 5, "args": {"correlation": i + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2050 + i * 100, "dur": 40,
                       "args": {"device": 0, "stream": 7, "correlation": i + 1}})
    return {"traceEvents": events}


def check(name, document, source, tasks, busy):
    text = json.dumps(document)
    for path in sums.path(name + ".json"), sums.path(name + ".json.gz"):
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "wt", encoding="utf-8") as file:
            file.write(text)
        devices = sums.report(path)["devices"]
        what = "%s of %d bytes: " % (name, len(text))
        sums.same(what + "source, tasks, busy", [(one["source"], one["tasks"], one["busy_ns"]) for one in devices],
                  [(source, tasks, busy)])


for count in 10, 900, 20000:
    check("profiling%d" % count, megengine_graph(count), "megengine", 8, 8 * 500000)
for count in 1, 1000, 20000:
    check("cut%d" % count, kineto_fragment(count), "pytorch", 6, 6 * 40000)
sums.end()
