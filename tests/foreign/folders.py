#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders whose files have arbitrary names: the content decides, and each file that is left out is named.

    tests/foreign/folders.py ANALYZER FOLDER
"""
import gzip
import json
import os
import sqlite3
import tarfile
import zipfile

import sums


def kineto(path, rank, kernels):
    events = [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000 + i * 100, "dur": 40 + rank,
               "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i in range(kernels)]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": events}, file)


def check(folder, wanted, left):
    report = sums.report(sums.path(folder))
    sums.same(folder + ": tasks and time busy", sorted([one["tasks"], one["busy_ns"]] for one in report["devices"]), wanted)
    words = sums.analyzer("info", "--device", sums.path(folder))
    for name, why in left:
        lines = [line for line in words.splitlines() if why in line]
        sums.same("%s: %s is said to be left out" % (folder, name), any(name in line for line in lines), True)
    sums.same(folder + ": files said to be left out", sum("left out" in line or "no device file" in line
                                                          for line in words.splitlines()), len(left))


# Files of ranks beside each other, among unrelated files; one rank is in a folder below.
for number in 0, 1, 10:
    kineto(sums.path("ranks", "rank-%d.json.gz" % number), number, 5 + number)
kineto(sums.path("ranks", "second", "trace.json.gz"), 11, 3)
with open(sums.path("ranks", "config.json"), "w", encoding="utf-8") as other:
    json.dump({"learning_rate": 1e-3}, other)
check("ranks", sorted([count, count * (40 + rank) * 1000] for rank, count in ((0, 5), (1, 6), (10, 15), (11, 3))), [("config.json", "no device file")])

# One run of rocprof in two forms, and its sums.
database = sqlite3.connect(sums.path("rocprof", "results.db"))
database.execute('CREATE TABLE OPS (BeginNs, EndNs, "dev-id", "queue-id", Name, pid, tid, "Index", "proc-id")')
database.executemany("INSERT INTO OPS VALUES (?, ?, 0, 0, 'gemm', 6, 0, ?, 9)",
                     [(10**9 + i * 1000, 10**9 + i * 1000 + 600, i) for i in range(8)])
database.commit()
with open(sums.path("rocprof", "results.json"), "w", encoding="utf-8") as trace:
    json.dump({"traceEvents": [{"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "0 CPU HIP API"}}] +
               [{"ph": "X", "name": "gemm", "pid": 6, "tid": 0, "ts": 10**6 + i, "dur": 0,
                 "args": {"BeginNs": str(10**9 + i * 1000), "EndNs": str(10**9 + i * 1000 + 600), "dev-id": "0"}}
                for i in range(8)]}, trace)
with open(sums.path("rocprof", "results.stats.csv"), "w", encoding="utf-8") as table:
    table.write('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"gemm",8,4800,600,100\n')
check("rocprof", [[8, 4800]], [("results.json", "may have the same"), ("results.stats.csv", "may have the same")])

def hardware(path, count, pid=13 << 5, dur=40, first=0):
    """A timeline of msprof or torch_npu: tasks of 40 us, one each 100."""
    events = [{"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}}]
    events += [{"name": "MatMul%d" % i, "pid": pid, "tid": 2, "ts": "%d.000" % (1700000000000000 + 100 * (first + i)), "dur": dur, "ph": "X",
                "args": {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": i}} for i in range(count)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(events, file)


def tables(path, count):
    with open(path, "w", encoding="utf-8") as file:
        file.write("Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n")
        for i in range(count):
            file.write("0,%d,2,MatMul%d,MatMul,AI_CORE,%d.000,40\n" % (i, i, 1700000000000000 + 100 * i))


def check_tasks(folder, wanted):
    report = sums.report(sums.path(folder))
    sums.same(folder + ": tasks of each device", sorted(one["tasks"] for one in report["devices"]), wanted)
    sums.same(folder + ": time busy", sorted(one["busy_ns"] for one in report["devices"]), [40000 * count for count in wanted])


# A folder with an arbitrary name has msprof's folder and torch_npu's files made from it; another rank has only the former.
hardware(sums.path("renamed", "first", "ASCEND_PROFILER_OUTPUT", "trace_view.json"), 6)
hardware(sums.path("renamed", "first", "PROF_1", "mindstudio_profiler_output", "msprof_20240101000000.json"), 6)
hardware(sums.path("renamed", "second", "PROF_1", "mindstudio_profiler_output", "msprof_20240101000000.json"), 7)
hardware(sums.path("job_ascend_pt", "ASCEND_PROFILER_OUTPUT", "trace_view.json"), 6)
hardware(sums.path("job_ascend_pt", "PROF_1", "mindstudio_profiler_output", "msprof_20240101000000.json"), 6)
check_tasks("renamed", [6, 7])
check_tasks("job_ascend_pt", [6])

# Exported by an msprof of 2023 and again by a newer one.
hardware(sums.path("again", "PROF_1", "device_0", "timeline", "msprof_0_1_1.json"), 5)
tables(sums.path("again", "PROF_1", "device_0", "summary", "op_summary_0_1_1.csv"), 5)
hardware(sums.path("again", "PROF_1", "mindstudio_profiler_output", "msprof_20240101000000.json"), 5)
check_tasks("again", [5])

# An empty database: the timeline beside it counts.
hardware(sums.path("empty_ascend_pt", "ASCEND_PROFILER_OUTPUT", "trace_view.json"), 6)
with open(sums.path("empty_ascend_pt", "ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_0.db"), "wb"):
    pass
check_tasks("empty_ascend_pt", [6])

# A timeline of the host only: tasks are in the table beside it, calls count once.
tables(sums.path("PROF_host", "mindstudio_profiler_output", "op_summary_20240101000000.csv"), 5)
for name in "msprof_20240101000000.json", "task_time_20240101000000.json":
    with open(sums.path("PROF_host", "mindstudio_profiler_output", name), "w", encoding="utf-8") as file:
        json.dump([{"name": "process_name", "pid": 7 << 5, "tid": 0, "ph": "M", "args": {"name": "CANN"}}] +
                  [{"name": "AscendCL@aclrtMemcpy", "pid": 7 << 5, "tid": 3, "ts": "%d.000" % (1700000000000000 + 100 * i), "dur": 9, "ph": "X",
                    "args": {"level": "acl", "connection_id": i + 1}} for i in range(3)], file)
check_tasks("PROF_host", [5])
sums.same("PROF_host: calls", sum(row["count"] for row in sums.report(sums.path("PROF_host"))["api"]), 3)

# MindSpore's tables beside msprof's folder, which has tasks of its own, or has none.
for name, timeline in ("own", True), ("raw", False):
    with open(sums.path(name, "profiler", "step_trace_raw_0_detail_time.csv"), "w", encoding="utf-8") as steps:
        steps.write("step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail\n"
                    "1,15490789606875,15490791977780,2370905,15490789606875,15490791973683,0,2366808,4097\n")
    if timeline:
        with open(sums.path(name, "profiler", "output_timeline_data_0.txt"), "w", encoding="utf-8") as times:
            times.write("op_name,stream_id,start_time(ms),duration(ms)\n")
            times.writelines("Default/MatMul-op%d,1,%d.0,0.04\n" % (i, 154907896 + i) for i in range(4))
    hardware(sums.path(name, "profiler", "PROF_1", "mindstudio_profiler_output", "msprof_20240101000000.json"), 5)
check_tasks("own", [4])
sums.same("raw: tasks", sum(one["tasks"] for one in sums.report(sums.path("raw"))["devices"]), 5)

# No device file at all: the error has the number of files that were searched.
os.makedirs(sums.path("nothing", "below"), exist_ok=True)
with open(sums.path("nothing", "below", "notes.txt"), "w", encoding="utf-8") as notes:
    notes.write("hello\n")
sums.same("a folder without any", "none of the 1 files" in sums.analyzer("report", "--device", sums.path("nothing"), status=1),
          True)
# A file that contains device files (an archive) is no device file: the message has the remedy.
with tarfile.open(sums.path("packed.tar.gz"), "w:gz") as archive:
    archive.add(sums.path("ranks", "rank-0.json.gz"), "rank-0.json.gz")
with zipfile.ZipFile(sums.path("packed.zip"), "w") as archive:
    archive.write(sums.path("ranks", "rank-0.json.gz"), "rank-0.json.gz")
with open(sums.path("report1.nsys-rep"), "wb") as other:
    other.write(bytes(range(256)) * 9)
for name, words in ("packed.tar.gz", "unpack it"), ("packed.zip", "unpack it"), ("report1.nsys-rep", "nsys export --type sqlite"):
    sums.same(name, words in sums.analyzer("info", "--device", sums.path(name), status=1), True)
sums.end()
