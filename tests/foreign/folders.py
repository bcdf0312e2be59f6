#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders whose files have names of their owner's: content tells, and each file that is left out is named.

    tests/foreign/folders.py ANALYZER FOLDER
"""
import gzip
import json
import os
import sqlite3

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


# Ranks beside each other, and what has nothing to do with them; one in a folder below.
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

# Nothing at all: the error says how many were looked into.
os.makedirs(sums.path("nothing", "below"), exist_ok=True)
with open(sums.path("nothing", "below", "notes.txt"), "w", encoding="utf-8") as notes:
    notes.write("hello\n")
sums.same("a folder without any", "none of the 1 files" in sums.analyzer("report", "--device", sums.path("nothing"), status=1),
          True)
sums.end()
