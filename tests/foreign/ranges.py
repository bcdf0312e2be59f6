#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges and operators of ROCTX tables and of torch_npu's timeline, and sums that `nsys stats` prints.

    tests/foreign/ranges.py ANALYZER FOLDER
"""
import collections
import csv
import json

import sums

PID = 4242
CANN, HARDWARE = PID << 10 | 7 << 5, PID << 10 | 13 << 5  # as msprof numbers its processes


def write_table(name, header, rows):
    path = sums.path(name)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def totals(rows):
    found = collections.defaultdict(lambda: [0, 0])
    for name, start, end in rows:
        found[name][0] += 1
        found[name][1] += end - start
    return dict(found)


def scopes(report):
    return {row["name"]: [row["count"], row["total_ns"]] for row in report.get("host_scopes", [])}


def roctx():
    """rocprofv3: kernels and the markers beside them."""
    times = ["Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
    at, kernels, markers, ranges = 58378843928406, [], [], []
    for step in range(4):
        for name, length in (("data/next", 70000), ("forward", 150000)):
            ranges.append((name, at, at + length))
            at += length + 1000
        kernels.append(["KERNEL_DISPATCH", "Agent 4", 1, 1, PID, PID, step, 1, "gemm", step + 1, at - 40000, at - 9000])
    for name, start, end in ranges:
        markers.append(["MARKER_CORE_API", name, PID, PID, 1, start, end])
    markers.append(["MARKER_CONTROL_API", "roctxProfilerPause", PID, PID, 2, at, at + 10])
    kernel = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Process_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
              "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
    path = write_table("roctx/%d_kernel_trace.csv" % PID, kernel, kernels)
    alone = write_table("roctx/%d_marker_api_trace.csv" % PID, ["Domain", "Function"] + times, markers)
    sums.same("ROCTX beside kernels", scopes(sums.report(path)), totals(ranges))
    sums.same("ROCTX alone", scopes(sums.report(alone)), totals(ranges))


def torch_npu():
    """trace_view.json: the host's half is the framework's, without a process_name of CANN's."""
    events = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
              for pid, name in ((PID, "Python"), (CANN, "CANN"), (HARDWARE, "Ascend Hardware"))]
    at, connection, ranges, waits = 1736408883000000000, 0, [], 0

    def add(name, category, start, length, tid=PID, pid=PID, **args):
        events.append({"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": "%d.%03d" % divmod(start, 1000),
                       "dur": length / 1000, "args": args})
        if category in ("cpu_op", "python_function", "enqueue", "dequeue") and not name.startswith("ProfilerStep#"):
            ranges.append((name, start, start + length))

    last = None
    for step in range(3):
        begin = at
        add("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "cpu_op", at, 300000)
        loader = (at, at + 300000)
        at += 301000
        add("aten::mm", "cpu_op", at, 100000)
        add("Enqueue@aclnnMatmul", "enqueue", at + 80000, 5000)
        add("train.py(3): step", "python_function", at - 500, 120000)
        connection += 1
        add("Dequeue@aclnnMatmul", "dequeue", at + 90000, 20000, PID + 1)
        add("Node@launch", "", at + 95000, 4000, PID + 1, CANN, connection_id=connection)
        start = at + 140000
        events.append({"ph": "X", "name": "MatMul", "pid": HARDWARE, "tid": 2, "ts": "%d.%03d" % divmod(start, 1000), "dur": 50.0,
                       "args": {"connection_id": connection, "Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": connection}})
        if last:
            waits += loader[1] - max(loader[0], last)
        last = start + 50000
        at += 120000
        add("ProfilerStep#%d" % step, "cpu_op", begin, at - begin)
        at += 1000
    path = sums.path("trace_view.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(events, file)
    report = sums.report(path)
    sums.same("torch_npu", scopes(report), totals(ranges))
    sums.same("torch_npu: steps", [row["index"] for row in report["steps"]["rows"]], [0, 1, 2])
    # At that time the task queue's thread is in no range, and the main thread is in the loader.
    sums.same("torch_npu: the loader", sum(r["ns"] for r in report["idle"]["roots"] if r["cause"] == "pipeline"), waits)


def stats():
    times = ["Time (%)", "Total Time (ns)"]
    figures = ["Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"]
    kernels = write_table("cuda_gpu_kern_sum.csv", times + ["Instances"] + figures + ["Name"],
                          [[70.0, "7,000,000", 10, 700000, 1, 600000, "800,000", 50000.5, "gemm<float, 4>"],
                           [30.0, 3000000, 5, 600000, 1, 500000, 700000, 1000, "relu"]])
    calls = write_table("cuda_api_sum.csv", times + ["Num Calls"] + figures + ["Name"],
                        [[100.0, 12345, 5, 2469, 2400, 2000, 3000, 250, "cudaLaunchKernel"]])
    ranges = write_table("nvtx_sum.csv", times + ["Instances"] + figures + ["Style", "Range"],
                         [[100.0, 777, 7, 111, 111, 100, 120, 5, "PushPop", ":forward"]])
    report = sums.report(kernels, calls, ranges)
    sums.same("sums of kernels and ranges",
              {row["name"]: [row[key] for key in ("op_type", "count", "total_ns", "min_ns", "max_ns", "host_ns") if key in row]
               for row in report["operator_sums"]},
              {"gemm<float, 4>": ["kernel", 10, 7000000, 600000, 800000], "relu": ["kernel", 5, 3000000, 500000, 700000],
               ":forward": ["range", 7, 777]})
    sums.same("sums of calls", [[row[key] for key in ("level", "name", "count", "total_ns", "min_ns", "max_ns", "variance_us2")]
                                for row in report["api_statistics"]],
              [["CUDA", "cudaLaunchKernel", 5, 12345, 2000, 3000, 0.062]])


roctx()
torch_npu()
stats()
sums.end()
