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
    # A barrier is no work.
    ops.append({"BeginNs": START + 1, "EndNs": START + 90000000, "dev-id": 1, "queue-id": 0, "pid": 7, "tid": 1,
                "Name": '"<barrier packet>"', "Index": 99, "proc-id": PID, "Data": ""})
    # HSA's own record of a copy, which has no device.
    hsa_copy = {"BeginNs": START + 60000000, "EndNs": START + 60500000, "Name": "async-copy:1:%d" % PID, "pid": 1,
                "tid": 0, "Index": 1, "proc-id": PID}
    # The profiler of counters has the same kernels again.
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
    """Compares with SQL over the database, which has the same data as the trace."""
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
# Later versions write the process id itself, and no number of the call.
newer = [[dict({key: value for key, value in row.items() if key not in ("proc-id", "Index")}, pid=PID) for row in rows] for rows in made[:3]]
write_json(sums.path("newer.json"), newer + [[]])
report = sums.report(sums.path("newer.json"))
sums.same("newer: process", {row["pid"] for row in report["api"]}, {PID})
sums.same("newer: busy", [one["busy_ns"] for one in report["devices"]], [one["busy_ns"] for one in sums.report(sums.path("results.json"))["devices"]])


def write_arrows(path):
    """Arrows as flow_json() of sqlitedb.py writes them: from the middle of a call, or the task's start if that is earlier. Returns
    each task's call."""
    events, truth = [{}], {}
    arrows = {1: [], 7: []}  # by section: (from, to, thread, stream), in the order of calls

    def call(name, at, length, tid):
        events.append({"ph": "X", "name": name, "pid": "2", "tid": str(tid), "ts": str(at // 1000), "dur": str(length // 1000),
                       "args": {"BeginNs": str(at), "EndNs": str(at + length), "pid": str(PID), "tid": str(tid), "Name": name,
                                "args": "( stream(1))", "DurationNs": str(length)}})
        return at // 1000 + length // 1000 // 2

    def task(name, section, at, length, stream, arrow, launch):
        events.append({"ph": "X", "name": name, "pid": str(section), "tid": str(stream), "ts": str(at // 1000), "dur": str(length // 1000),
                       "args": {"BeginNs": str(at), "EndNs": str(at + length), "dev-id": "1", "queue-id": "0", "Name": name, "pid": str(PID),
                                "tid": str(PID), "stream-id": str(stream), "DurationNs": str(length)}})
        middle, tid = arrow
        arrows[section].append((min(middle, at // 1000), at // 1000, tid, stream))
        truth[at] = launch

    for i in range(30):
        at, tid = START + i * 1000003, 4712 + i % 2
        call("hipEventRecord", at - 50000, 900, tid)
        middle = call("hipLaunchKernel", at, 7001, tid)
        # The task begins after the call; in its second half; in its first half.
        task("gemm", 7, at + (9100, 5000, 1001)[i % 3], 300777 + i, i % 2, (middle, tid), at)
        copy = at + 400000
        middle = call("hipMemcpy", copy, 250000, tid)
        # Because clocks differ, even before the call; a further call without a task is no problem where the middle identifies the call.
        task("CopyHostToDevice", 1, copy + (30000, -21000, 170000)[i % 3], 90000, 0, (middle, tid), copy)
        if i % 5 == 0:
            call("hipMemcpy", at + 800000, 2000, tid)
    base = 0
    for section, rows in arrows.items():
        for number, (start, end, tid, stream) in enumerate(rows):
            events.append({"ts": start, "ph": "s", "cat": "DataFlow", "id": base + number, "pid": 2, "tid": tid, "name": "dep"})
            events.append({"ts": end, "ph": "t", "cat": "DataFlow", "id": base + number, "pid": section, "tid": stream, "name": "dep"})
        base += 90
    events[1:1] = [{"args": {"name": LABELS[pid]}, "ph": "M", "pid": pid, "name": "process_name"} for pid in (1, 2, 7)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    return truth


wanted = write_arrows(sums.path("arrows.json"))
joined = json.loads(sums.analyzer("query", "--format", "json", "--device", sums.path("arrows.json"),
                                  "SELECT t.start_ns AS task, c.start_ns AS call FROM tasks t LEFT JOIN calls c ON t.call = c.call"))
wrong = [row for row in joined if row.get("call") not in (None, wanted[row["task"]])]
sums.same("arrows: none leads to another call", wrong, [])
# A call without a task lies before every fifth copy that begins too early: the calls of these copies are unknown.
sums.same("arrows: tasks without a call", len([row for row in joined if row.get("call") is None]), 2)
sums.same("arrows: tasks", len(joined), 60)
check_stats("results.stats.csv", {"gemm(float*, int)": (30, 21023760), "fill.kd": (2, 4000)}, False)
check_stats("results.copy_stats.csv", {"CopyDeviceToHost": (10, 7007950)}, False)
check_stats("results.hip_stats.csv", {"hipLaunchKernel": (30, 210030), "hipMemcpyAsync": (10, 70010)}, True)
sums.end()
