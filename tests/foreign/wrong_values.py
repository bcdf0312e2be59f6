#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Impossible values in columns: the row is left out and reported, or the value is unknown. Never a wrong figure.

    tests/foreign/wrong_values.py ANALYZER FOLDER
"""
import json
import os
import sqlite3

import sums

EPOCH = 1700000000000000000
BAD = "12abc", "", None, 1e300, float("inf"), b"\xff", -(2 ** 63), 2 ** 63 - 1, -5, 7


def odd(value, key=""):
    """The impossible figures of a report."""
    if isinstance(value, dict):
        return [found for name, inner in value.items() for found in odd(inner, name)]
    if isinstance(value, list):
        return [found for inner in value for found in odd(inner, key)]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    wrong = value > 2 ** 63 or (key.endswith("_ns") and value < 0) or (key.endswith("percent") and not 0 <= value <= 100)
    return [(key, value)] if wrong else []


def database(name, schema, rows):
    path = sums.path(name)
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    db.executescript(schema)
    for table, row in rows:
        db.execute("INSERT INTO %s VALUES (%s)" % (table, ", ".join("?" * len(row))), row)
    return path, db


def check_column(name, schema, rows, table, column, left):
    """Puts a wrong value into a column of one row after the other: only that row is left out."""
    for number, value in enumerate(BAD):
        path, db = database("%s_%s_%d" % (name, column, number), schema, rows)
        db.execute('UPDATE %s SET "%s" = ? WHERE rowid = 2' % (table, column), (value,))
        db.commit()
        db.close()
        report = sums.report(path)
        what = "%s, %s.%s = %r: " % (name, table, column, value)
        sums.same(what + "odd figures", odd(report), [])
        tasks = report["devices"][0]["tasks"] if report["devices"] else 0
        sums.same(what + "tasks", tasks in left, True)
        if tasks == min(left):
            sums.same(what + "told", "of any time" in sums.analyzer("info", "--device", path), True)


TASK = ("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE TASK (startNs, endNs, deviceId INTEGER,"
        " connectionId INTEGER, globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER,"
        " taskId INTEGER, modelId INTEGER); CREATE TABLE STEP_TIME (id, startNs, endNs);")
ROWS = [("STRING_IDS", (1, "KERNEL_AICORE"))]
ROWS += [("TASK", (EPOCH + i * 1000, EPOCH + i * 1000 + 600, 0, 4294967295, i, 1, 1, 4294967295, 2, i, 4294967295)) for i in range(5)]
ROWS += [("STEP_TIME", (i, EPOCH + i * 1000, EPOCH + i * 1000 + 900)) for i in range(5)]
check_column("ascend.db", TASK, ROWS, "TASK", "startNs", [4])
check_column("ascend.db", TASK, ROWS, "TASK", "endNs", [4])
for bad in -5, "12abc", None:
    file, base = database("steps.db", TASK, ROWS)
    base.execute("UPDATE STEP_TIME SET id = ? WHERE rowid = 2", (bad,))
    base.commit()
    base.close()
    sums.same("steps.db, id = %r: odd figures" % bad, odd(sums.report(file)), [])
    sums.same("steps.db, id = %r: told" % bad, "steps without a number" in sums.analyzer("info", "--device", file), True)

NSYS = ("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
        " globalPid INTEGER, demangledName INTEGER, shortName INTEGER);")
KERNELS = [("StringIds", (1, "gemm")), ("TARGET_INFO_SESSION_START_TIME", (EPOCH,))]
KERNELS += [("CUPTI_ACTIVITY_KIND_KERNEL", (i * 1000 + 100, i * 1000 + 700, 0, 1, 7, i, 77 << 24, 1, 1)) for i in range(5)]
# 7 ns after the session's start is a valid time; so is a third of a second before it.
check_column("job.sqlite", NSYS, KERNELS, "CUPTI_ACTIVITY_KIND_KERNEL", "start", [4, 5])
check_column("job.sqlite", NSYS, KERNELS, "CUPTI_ACTIVITY_KIND_KERNEL", "end", [4, 5])
# Neither a negative number nor a text is a stream.
for name, schema, rows, table, number in (("ascend.db", TASK, ROWS, "TASK", 2), ("job.sqlite", NSYS, KERNELS, "CUPTI_ACTIVITY_KIND_KERNEL", 7)):
    for bad in -5, None, "x", -(2 ** 63):
        file, base = database("stream_" + name, schema, rows)
        base.execute("UPDATE %s SET streamId = ? WHERE rowid = 2" % table, (bad,))
        base.commit()
        base.close()
        found = sums.report(file)
        sums.same("%s, streamId = %r: streams" % (name, bad), sorted((row.get("id", -1), row["tasks"]) for row in found["devices"][0]["streams"]),
                  [(-1, 1), (number, 4)])
        sums.same("%s, streamId = %r: odd figures" % (name, bad), odd(found), [])


def steps_table(name, second):
    rows = [[i, "%d.000" % (EPOCH // 1000 + i * 300), "%d.000" % (EPOCH // 1000 + i * 300 + 100), "%d.000" % (EPOCH // 1000 + i * 300 + 250)]
            for i in range(1, 5)]
    rows[1] = [rows[1][column] if value is True else value for column, value in enumerate(second)]
    path = sums.path("PROF_1", name, "step_trace_20240101000000.csv")
    with open(path, "w", encoding="utf-8") as out:
        out.write("Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us)\n")
        out.writelines("0,%s,,\n" % ",".join(str(cell) for cell in row) for row in rows)
    return sums.report(path), sums.analyzer("info", "--device", path)


for what, second, count, told in (("a backward pass before the step", [True, True, "7", True], 4, "backward passes that do not end"),
                                  ("one that ends after it", [True, True, "%d.5" % (EPOCH // 1000 * 2), True], 4, "backward passes"),
                                  ("a forward pass of another clock", [True, "7", True, True], 3, "steps without usable times"),
                                  ("no number", [str(2 ** 64 - 1), True, True, True], 3, "steps without a number")):
    found, words = steps_table(what.replace(" ", "_"), second)
    rows = found["steps"]["devices"][0]["rows"]
    sums.same(what + ": odd figures", odd(found), [])
    sums.same(what + ": steps", len(rows), count)
    sums.same(what + ": told", told in words, True)
    sums.same(what + ": forward and backward passes", [row.get("fp_bp_ns") for row in rows],
              [100000] + [None] * (count == 4) + [100000] * 2)

# Streams whose ids are words get numbers after the largest numeric id; a task without a stream has none.
events = [{"ph": "X", "cat": "gpu_kernel", "name": "gemm", "pid": "gpu0", "tid": tid, "ts": i * 100, "dur": 50} for i, tid in
          enumerate(("main", 7, "copies", "main", None))]
with open(sums.path("streams.json"), "w", encoding="utf-8") as out:
    json.dump({"traceEvents": events}, out)
found = sums.report(sums.path("streams.json"))
sums.same("streams: device", [one["id"] for one in found["devices"]], [0])
sums.same("streams: numbers and tasks", sorted((row.get("id", -1), row["tasks"]) for row in found["devices"][0]["streams"]),
          [(-1, 1), (7, 1), (8, 2), (9, 1)])
sums.same("streams: odd figures", odd(found), [])

# No forward pass begins before its step.
for fp in 7, 10 ** 17:
    with open(sums.path("raw", "step_trace_raw_5_detail_time.csv"), "w", encoding="utf-8") as out:
        out.write("step_num,start_point,end_point,total,fp_point,bp_point\n")
        for i in range(1, 5):
            at = 170 * 10 ** 15 + i * 10000
            out.write("%d,%d,%d,10000,%d,%d\n" % (i, at, at + 10000, fp if i == 2 else at + 100, at + 9000))
    found, words = sums.report(sums.path("raw", "step_trace_raw_5_detail_time.csv")), sums.analyzer("info", "--device", sums.path("raw"))
    sums.same("fp_point = %d: steps" % fp, [row["index"] for row in found["steps"]["devices"][0]["rows"]], [1, 3, 4])
    sums.same("fp_point = %d: told" % fp, "steps without usable times" in words, True)

# Numbers of ranks and stages are integers.
for bad in 1e300, -1, 2.5, 2 ** 32:
    with open(sums.path("raw", "profiler_info_5.json"), "w", encoding="utf-8") as out:
        json.dump({"rank_id": "5", "rank_size": bad, "stage_num": bad, "context_mode": "graph", "pipelines": 3}, out)
    found, words = sums.report(sums.path("raw")), sums.analyzer("info", "--device", sums.path("raw"))
    sums.same("rank_size = %r: facts" % bad, sorted(row["name"] for row in found["device_facts"]), ["context_mode", "pipelines", "rank_id"])
    sums.same("rank_size = %r: told" % bad, "numbers of ranks or stages that cannot be" in words, True)

# Negative ids, written as unsigned numbers, are words; none takes an unrelated string of the file as its name.
events = [{"ph": "X", "name": "load", "pid": 1, "tid": 2 ** 64 - i, "ts": i * 100, "dur": 50} for i in range(2, 30)]
with open(sums.path("negative.json"), "w", encoding="utf-8") as out:
    json.dump({"traceEvents": events}, out)
found = sums.report(sums.path("negative.json"))
sums.same("negative ids: threads", sorted(row.get("name") for row in found["processes"][0]["threads"]),
          sorted(str(2 ** 64 - i) for i in range(2, 30)))
sums.same("negative ids: odd figures", odd(found), [])

# A file with sums only has no times.
with open(sums.path("results.stats.csv"), "w", encoding="utf-8") as out:
    out.write('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"gemm",3,3000,1000,100.0\n')
sums.same("sums: no window", sums.report(sums.path("results.stats.csv"))["trace"]["window"], {})
sums.end()
