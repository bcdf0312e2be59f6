#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results.json, results.db and *stats.csv of ROCm's rocprof: the same run in all of them.

    tests/foreign/rocprof.py ANALYZER FOLDER
"""
import json
import sqlite3

import sums

PID, START = 4711, 500000123456789
LABELS = {0: "Markers and Ranges", 1: "COPY", 2: "CPU HIP API", 3: "CPU HSA API", 6: "GPU0", 7: "GPU1"}


def run():
    """Rows of the tables; sections and Index as rocprof numbers them."""
    hip, ops, copies = [], [], []
    for i in range(40):
        at = START + i * 1000003
        name = "hipLaunchKernel" if i % 4 else "hipMemcpyAsync"
        hip.append({"BeginNs": at, "EndNs": at + 7001, "pid": 2, "tid": 4712, "Name": name,
                    "args": "( stream(1))", "Index": i, "Data": ""})
        row = {"BeginNs": at + 9100, "EndNs": at + 9100 + 700777 + i, "dev-id": 1, "queue-id": 0, "pid": 7, "tid": 1,
               "Name": "gemm(float*, \"x\")" if i % 4 else "CopyDeviceToHost", "Index": i, "proc-id": PID, "Data": ""}
        if i % 4:
            ops.append(row)
        else:
            row.update(pid=1, Name="CopyDeviceToHost")
            copies.append(row)
    # A barrier does no work.
    ops.append({"BeginNs": START + 1, "EndNs": START + 90000000, "dev-id": 1, "queue-id": 0, "pid": 7, "tid": 1,
                "Name": '"<barrier packet>"', "Index": 99, "proc-id": PID, "Data": ""})
    # HSA's own record of a copy, which tells no device.
    hsa_copy = {"BeginNs": START + 60000000, "EndNs": START + 60500000, "Name": "async-copy:1:%d" % PID, "pid": 1,
                "tid": 0, "Index": 1, "proc-id": PID}
    # The profiler of counters has the kernels once more.
    kernels = [{"Index": i, "KernelName": row["Name"], "gpu-id": 1, "queue-id": 0, "pid": PID, "tid": 4712,
                "DispatchNs": row["BeginNs"] - 500, "BeginNs": row["BeginNs"], "EndNs": row["EndNs"]}
               for i, row in enumerate(ops[:-1])]
    return hip, ops, copies + [hsa_copy], kernels


def write_json(path, tables):
    hip, ops, copies, kernels = tables
    events = [{}] + [{"args": {"name": "%d %s" % (i, name)}, "ph": "M", "pid": pid, "name": "process_name"}
                     for i, (pid, name) in enumerate(LABELS.items())]

    def add(rows, section):
        for row in rows:
            pid = section if section is not None else row.get("dev-id", row.get("gpu-id")) + 6
            events.append({"ph": "X", "name": row.get("Name", row.get("KernelName")), "pid": pid, "tid": row["tid"],
                           "ts": row["BeginNs"] // 1000, "dur": (row["EndNs"] - row["BeginNs"]) // 1000,
                           "args": dict({key: str(value) for key, value in row.items()},
                                        DurationNs=str(row["EndNs"] - row["BeginNs"]))})

    add(hip, 2)
    add(copies, 1)
    add(ops, None)
    add(kernels, None)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)


def write_db(path, tables):
    db = sqlite3.connect(path)
    for name, rows in zip(("HIP", "OPS", "COPY", "A"), tables):
        columns = sorted({key for row in rows for key in row})
        db.execute("CREATE TABLE %s (%s)" % (name, ", ".join('"%s"' % column for column in columns)))
        db.executemany("INSERT INTO %s VALUES (%s)" % (name, ", ".join("?" * len(columns))),
                       [[row.get(column) for column in columns] for row in rows])
    db.commit()
    return db


def check(path, db):
    """By SQL over the database, which has what the trace has."""
    what = path.rsplit("/", 1)[1]
    report = sums.report(path)
    work = db.execute("SELECT BeginNs, EndNs FROM OPS WHERE Name NOT LIKE '%barrier%' UNION ALL"
                      " SELECT BeginNs, EndNs FROM COPY").fetchall()
    sums.same(what + ": devices", [one["id"] for one in report["devices"]], [1])
    sums.same(what + ": busy", [one["busy_ns"] for one in report["devices"]], [sums.length(work)])
    sums.same(what + ": tasks", [one["tasks"] - one["tasks_sync"] for one in report["devices"]], [len(work)])
    copies = db.execute("SELECT BeginNs, EndNs FROM COPY").fetchall()
    sums.same(what + ": copies", [one["copy_ns"] for one in report["devices"]], [sums.length(copies)])
    sums.same(what + ": calls", sum(row["count"] for row in report["api"]),
              db.execute("SELECT count(*) FROM HIP").fetchone()[0])
    sums.same(what + ": calls' time", sum(row["total_ns"] for row in report["api"]),
              db.execute("SELECT sum(EndNs - BeginNs) FROM HIP").fetchone()[0])
    sums.same(what + ": joined", report["join"]["matched"],
              db.execute("SELECT count(*) FROM HIP JOIN (SELECT \"Index\" AS i FROM OPS UNION ALL SELECT \"Index\""
                         " FROM COPY WHERE \"dev-id\" IS NOT NULL) ON i = HIP.\"Index\"").fetchone()[0])
    sums.same(what + ": process", {row["pid"] for row in report["api"]}, {PID})


def check_stats(name, rows, calls):
    path = sums.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n')
        for row, (count, total) in rows.items():
            file.write('"%s",%d,%d,%d,%f\n' % (row, count, total, total // count, 50))
    report = sums.report(path)
    if calls:
        found = {row["name"]: (row["count"], row["total_ns"]) for row in report["api_statistics"]}
    else:
        found = {row["name"]: (row["count"], row["total_ns"]) for row in report["operator_sums"]}
    sums.same(name, found, rows)


made = run()
database = write_db(sums.path("results.db"), made)
write_json(sums.path("results.json"), made)
check(sums.path("results.db"), database)
check(sums.path("results.json"), database)
# Later versions write the process itself, and no number of the call.
newer = [[dict({key: value for key, value in row.items() if key not in ("proc-id", "Index")}, pid=PID) for row in rows] for rows in made[:3]]
write_json(sums.path("newer.json"), newer + [[]])
report = sums.report(sums.path("newer.json"))
sums.same("newer: process", {row["pid"] for row in report["api"]}, {PID})
sums.same("newer: busy", [one["busy_ns"] for one in report["devices"]], [one["busy_ns"] for one in sums.report(sums.path("results.json"))["devices"]])
check_stats("results.stats.csv", {"gemm(float*, int)": (30, 21023760), "fill.kd": (2, 4000)}, False)
check_stats("results.copy_stats.csv", {"CopyDeviceToHost": (10, 7007950)}, False)
check_stats("results.hip_stats.csv", {"hipLaunchKernel": (30, 210030), "hipMemcpyAsync": (10, 70010)}, True)
sums.end()
