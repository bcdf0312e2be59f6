#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chrome traces of profilers that mark devices in different ways, or not at all.

    tests/foreign/chrome.py ANALYZER FOLDER
"""
import json

import sums


def process(pid, name):
    return {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}


def thread(pid, tid, name):
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def slices(pid, tid, name, count, start, length, gap, **more):
    return [dict({"ph": "X", "pid": pid, "tid": tid, "name": "%s_%d" % (name, i), "ts": start + i * (length + gap),
                  "dur": length}, **more) for i in range(count)]


def jax(gpu):
    """trace.json.gz of JAX: threads of the host, and lines of a device, some of which summarise others."""
    events = [process(701, "/host:CPU"), thread(701, 1, "python"), thread(701, 2, "tf_XLAEigen/2"),
              thread(701, 3, "tsl_GPU_Event_Manager")]
    events += slices(701, 1, "$pjit.py:250 cache_miss", 20, 100, 90, 10)
    events += slices(701, 2, "cuda_dot.3", 20, 100, 99, 1) + slices(701, 3, "wait", 3, 100, 50, 1)
    device = []
    if gpu:
        events += [process(1, "/device:GPU:0"), thread(1, 11, "Stream #13(Compute)"), thread(1, 12, "Stream #14(MemcpyD2D)"),
                   thread(1, 21, "XLA Modules"), thread(1, 22, "XLA Ops"), thread(1, 23, "Steps")]
        device = slices(1, 11, "loop_fusion", 8, 200, 30, 20) + slices(1, 12, "MemcpyD2D", 4, 210, 60, 40)
        events += device + slices(1, 21, "jit_step", 1, 200, 400, 0) + slices(1, 22, "fusion", 8, 200, 30, 20)
        events += [{"ph": "X", "pid": 1, "tid": 23, "name": str(i), "ts": 200 + i * 200, "dur": 200} for i in range(2)]
    return {"displayTimeUnit": "ns", "traceEvents": events + [{}]}, device, 43


def python_frames():
    """viztracer: only Python; some names and threads look like a device's, but are not."""
    events = [process(55, "MainProcess"), thread(55, 55, "MainThread"), thread(55, 56, "cuda-EvtHandlr"),
              thread(55, 57, "gpu watchdog"), thread(55, 58, "upstream reader")]
    events += slices(55, 55, "cublas_gemm (model.py:3)", 30, 1, 10, 1, cat="FEE")
    for tid in 56, 57, 58:
        events += slices(55, tid, "memcpy (io.py:1)", 5, 1, 10, 1, cat="FEE")
    return {"traceEvents": events, "viztracer_metadata": {"version": "0.16"}}, [], 45


def browser():
    """A browser: its process for the GPU is a process of the host."""
    events = [process(8, "GPU Process"), thread(8, 1, "CrGpuMain"), process(9, "Renderer")]
    return {"traceEvents": events + slices(8, 1, "RunTask", 4, 5, 3, 1) + slices(9, 1, "RunTask", 4, 5, 3, 1)}, [], 8


def tensorflow1():
    """timeline.py: each kernel is in the file twice, and a job's "Compute" is its scheduling on the host."""
    events = [process(1, "/job:localhost/replica:0/task:0/device:CPU:0 Compute"),
              process(3, "/device:GPU:0/stream:all Compute"), process(5, "/device:GPU:0/stream:13 Compute"),
              process(7, "/device:GPU:0/memcpy Compute")]
    device = slices(3, 0, "MatMul", 6, 10, 20, 5) + slices(7, 0, "MEMCPYHtoD", 2, 300, 9, 1)
    return {"traceEvents": events + slices(1, 0, "Const", 5, 1, 2, 1) + device + slices(5, 0, "MatMul", 6, 10, 20, 5)}, \
        device, 5


def autograd():
    """torch.autograd.profiler before Kineto: process ids are words, the threads of one are devices, and operators are nested."""
    device = slices("CUDA functions", 1, "volta_sgemm", 7, 20, 11, 2)
    outer, pieces = [], []
    for i in range(5):
        begin = 1000 + i * 200
        outer += slices("CUDA functions", 0, "aten::conv2d", 1, begin, 100, 0) + slices("CUDA functions", 0, "aten::convolution", 1, begin, 100, 0)
        device += slices("CUDA functions", 0, "aten::cudnn_convolution", 1, begin + 10, 40, 0) + slices("CUDA functions", 0, "aten::add_", 1, begin + 60, 40, 0)
        pieces += [dict(outer[-1], ts=begin + at, dur=length) for at, length in ((0, 10), (50, 10))]
    return slices("CPU functions", 4, "aten::mm", 7, 10, 9, 1) + outer + device, device + pieces, 7


def mxnet():
    device = slices(2, 0, "Convolution", 5, 10, 10, 2, cat="operator")
    return {"traceEvents": [process(1, "cpu/0"), process(2, "gpu/0")] +
            slices(1, 0, "_zeros", 3, 1, 2, 1, cat="operator") + device}, device, 3


def check(name, trace, device, calls):
    path = sums.path(name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    report = sums.report(path)
    tasks = [((event["ts"]) * 1000, (event["ts"] + event["dur"]) * 1000) for event in device]
    sums.same(name + ": device tasks", sum(one["tasks"] for one in report["devices"]), len(tasks))
    def device_of(event):
        return event["tid"] if event["pid"] == "CUDA functions" else event["pid"]

    pids = {device_of(event): [] for event in device}
    for event in device:
        pids[device_of(event)].append((event["ts"] * 1000, (event["ts"] + event["dur"]) * 1000))
    sums.same(name + ": busy", sorted(one["busy_ns"] for one in report["devices"]),
              sorted(sums.length(one) for one in pids.values()))
    rows = report["api"] + report.get("host_scopes", [])
    sums.same(name + ": the host's calls", sum(row["count"] for row in rows), calls)
    words = sums.analyzer("info", "--device", path)
    sums.same(name + ": says that there is no device", "all is the host's" in words, not device)
    return report


check("jax_cpu", *jax(False))
steps = check("jax_gpu", *jax(True))["steps"]["devices"][0]["rows"]
sums.same("jax_gpu: work in steps", [row["device_busy_ns"] for row in steps], [160000, 160000])
check("python", *python_frames())
check("browser", *browser())
check("tensorflow1", *tensorflow1())
operators = check("autograd", *autograd())
sums.same("autograd: devices", sorted(one["id"] for one in operators["devices"]), [0, 1])
sums.same("autograd: own time", [row["total_ns"] for row in operators["operators"] if "aten::convolution" in row["name"]], [5 * 20000])
check("mxnet", *mxnet())
# Ids may be words: then they are names, not numbers.
with open(sums.path("words.json"), "w", encoding="utf-8") as out:
    json.dump({"traceEvents": slices("loader", "main", "load", 5, 100, 60, 40) + slices("loader", "reader", "read", 5, 100, 20, 80)
               + slices("trainer", "main", "step", 5, 160, 30, 70) + slices(77, 78, "other", 5, 100, 10, 90)}, out)
words = json.loads(sums.analyzer("query", "--format", "json", "--device", sums.path("words.json"),
                                 "SELECT p.name AS process, p.pid AS pid, t.name AS thread, t.tid AS tid FROM threads t JOIN processes p ON t.process = p.process"
                                 " ORDER BY p.name, t.name"))
sums.same("words: processes and threads", [[row.get(key) for key in ("process", "pid", "thread", "tid")] for row in words],
          [[None, 77, None, 78], ["loader", None, "main", None], ["loader", None, "reader", None], ["trainer", None, "main", None]])
said = sums.analyzer("report", "--full", "--device", sums.path("words.json"))
sums.same("words: no number is made up", [line for line in said.splitlines() if "4294967" in line], [])
sums.same("words: whose calls", "host in process loader: 10 calls" in said and "host in process 77:" in said, True)
sums.end()
