#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nvprof: its database, and the output of `nvprof --csv`, of CUDA 8 and of 9 to 12.

    tests/foreign/nvprof.py ANALYZER FOLDER
"""
import sqlite3
import struct

import sums

PID, TID = 4711, 0x7f0012345678
EPOCH = 1500000000000000000

SCHEMA = """
CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, flags INT, globalMemoryBandwidth INT, id INT, name INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INT, start INT, end INT, processId INT,
    threadId INT, correlationId INT, returnValue INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cbid INT, start INT, end INT, processId INT,
    threadId INT, correlationId INT, returnValue INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, registersPerThread INT, start INT, end INT,
    completed INT, deviceId INT, contextId INT, streamId INT, gridX INT, blockX INT, correlationId INT, gridId INT, name INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, copyKind INT, srcKind INT, dstKind INT, flags INT,
    bytes INT, start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, runtimeCorrelationId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value INT, bytes INT, start INT, end INT,
    deviceId INT, contextId INT, streamId INT, correlationId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER PRIMARY KEY AUTOINCREMENT, flags INT, timestamp INT, id INT, objectKind INT,
    objectId BLOB, name INT, domain INT);
"""
LAUNCH, MEMCPY_ASYNC, MEMSET_ASYNC, UNNAMED = 211, 41, 51, 9999
CALLS = {LAUNCH: "cudaLaunchKernel", MEMCPY_ASYNC: "cudaMemcpyAsync", MEMSET_ASYNC: "cudaMemsetAsync",
         UNNAMED: "CUDA runtime call 9999"}
COPIES = {1: "[CUDA memcpy HtoD]", 2: "[CUDA memcpy DtoH]", 10: "[CUDA memcpy PtoP]"}


def make(db):
    db.executescript(SCHEMA)
    names = ["void gemm<float>(float*)", "ncclAllReduceRingLLKernel", "Tesla V100", "step %d", "forward"]
    names += ["step %d" % n for n in range(4)]
    db.executemany("INSERT INTO StringTable VALUES (?, ?)", enumerate(names, 1))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES (1, 0, 900000000, 1, 3)")
    thread = struct.pack("<IQ", PID, TID)
    at, number, marks = EPOCH, 0, 0

    def mark(start, end, name):
        nonlocal marks
        marks += 1
        # The begin and the end of a range are separate rows.
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (NULL, 2, ?, ?, 2, ?, ?, 0)", (start, marks, thread, name))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (NULL, 4, ?, ?, 0, ?, 0, 0)", (end, marks, bytes(12)))

    def call(cbid, start, length, driver=None):
        nonlocal number
        number += 1
        row = (start, start + length, PID, TID & 0xffffffff, number)
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (NULL, ?, ?, ?, ?, ?, ?, 0)", (cbid, *row))
        if driver:
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (NULL, ?, ?, ?, ?, ?, ?, 0)",
                       (driver, start + 100, start + length - 100, *row[2:]))
        return number

    for step in range(4):
        begin = at
        for n in range(6):
            copy = call(MEMCPY_ASYNC, at, 4000)
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (NULL, ?, 1, 3, 0, ?, ?, ?, 1, 1, 14, ?, 0)",
                       (list(COPIES)[n % 3], 4096 + n, at + 9000, at + 12000 + n, copy))
            fill = call(MEMSET_ASYNC, at + 5000, 2000)
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (NULL, 0, 64, ?, ?, 1, 1, 14, ?)", (at + 12500, at + 12600, fill))
            launch = call(LAUNCH, at + 8000, 5000, 307)
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (NULL, 32, ?, ?, 0, 1, 1, 13, 4, 128, ?, 1, ?)",
                       (at + 14000, at + 44000 + 1000 * step, launch, 2 if n == 5 else 1))
            mark(at, at + 14500, 5)
            at += 60000
        call(UNNAMED, at, 700)
        mark(begin, at + 1000, 6 + step)
        at += 2000
    # A mark of an instant, and a range that had not ended.
    for flags in (1, 2):
        marks += 1
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (NULL, ?, ?, ?, 2, ?, ?, 0)", (flags, at, marks, thread, 5))
    db.commit()


def check_database():
    path = sums.path("job.nvvp")
    db = sqlite3.connect(path)
    make(db)
    report = sums.report(path)
    tasks = db.execute("""SELECT start, end FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL UNION ALL SELECT start, end FROM
        CUPTI_ACTIVITY_KIND_MEMCPY UNION ALL SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMSET""").fetchall()
    device = report["devices"][0]
    sums.same("device", (len(report["devices"]), device["name"], device["id"]), (1, "Tesla V100", 1))
    sums.same("tasks and busy", (device["tasks"], device["busy_ns"]), (len(tasks), sums.length(tasks)))
    kernels = db.execute("""SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
        JOIN StringTable s ON s._id_ = name GROUP BY 1""").fetchall()
    copies = [(COPIES[kind], n, ns) for kind, n, ns in db.execute(
        "SELECT copyKind, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1")]
    fills = db.execute("SELECT '[CUDA memset]', count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMSET").fetchall()
    sums.same("operators", sorted((row["name"], row["count"], row["total_ns"]) for row in report["operators"]),
              sorted(kernels + copies + fills))
    calls = [(CALLS[cbid], n, ns) for cbid, n, ns in db.execute(
        "SELECT cbid, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY 1")]
    driver = db.execute("SELECT 'cuLaunchKernel', count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_DRIVER").fetchall()
    sums.same("calls", sorted((row["function"], row["count"], row["total_ns"]) for row in report["api"]), sorted(calls + driver))
    sums.same("communication", device["communication_ns"], sum(ns for name, _, ns in kernels if name.startswith("nccl")))
    sums.same("copied bytes", report["join"].get("unmatched_tasks", 0), 0)
    scopes = db.execute("""SELECT count(*), sum(e.timestamp - b.timestamp) FROM CUPTI_ACTIVITY_KIND_MARKER b JOIN
        CUPTI_ACTIVITY_KIND_MARKER e ON e.id = b.id AND e.name = 0 WHERE b.name = 5""").fetchall()
    sums.same("ranges", [(row["count"], row["total_ns"]) for row in report["host_scopes"] if row["name"] == "forward"], scopes)
    sums.same("steps", [row["index"] for row in report["steps"]["rows"]], [0, 1, 2, 3])
    open_ranges = [line for line in sums.analyzer("info", "--device", path).splitlines() if "ranges without a usable end" in line]
    sums.same("ranges that had not ended", (len(open_ranges), any("times" in line for line in open_ranges)), (1, False))


HEAD = "==4711== NVPROF is profiling process 4711, command: ./job\n==4711== Profiling application: ./job\n==4711== Profiling result:\n"
KERNELS = [("void gemm(int, float)", 12, 250, 200, 300.5), ("[CUDA memcpy HtoD]", 3, 1.5, 1, 2), ("cuda_kernel(int)", 2, 8, 7, 9)]
APIS = [("cudaMalloc", 4, 300.25, 1.5, 1197), ("cuDeviceGet", 2, 0.5, 0.25, 0.75)]


def check_sums(name, typed):
    """Totals are in ms, the other columns in us."""
    columns = (['"Type"'] if typed else []) + ['"Time(%)"', '"Time"', '"Calls"', '"Avg"', '"Min"', '"Max"', '"Name"']
    lines = HEAD

    def table(kind, rows):
        text = ""
        for what, count, mean, least, most in rows:
            text += ('"%s",' % kind if typed else "") + '10.5,%.6f,%d,%s,%s,%s,"%s"\n' % (count * mean / 1e3, count, mean, least, most, what)
        return text

    header = ",".join(columns) + "\n" + ("," if typed else "") + "%,ms,,us,us,us,\n"
    lines += header + table("GPU activities", KERNELS)
    lines += (table("API calls", APIS) if typed else "\n==4711== API calls:\n" + header + table("", APIS))
    path = sums.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines)
    report = sums.report(path)
    sums.same(name + ": operators", sorted((row["name"], row["count"], row["total_ns"], row["min_ns"], row["max_ns"])
                                           for row in report["operator_sums"]),
              sorted((what, count, round(count * mean * 1e3), least * 1e3, most * 1e3) for what, count, mean, least, most in KERNELS))
    sums.same(name + ": calls", sorted((row["name"], row["count"], row["total_ns"]) for row in report["api_statistics"]),
              sorted((what, count, round(count * mean * 1e3)) for what, count, mean, _, _ in APIS))


def check_trace():
    path, tasks, copied = sums.path("trace.csv"), [], 0
    lines = HEAD + ('"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread","Static SMem",'
                    '"Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context","Stream","Name"\n'
                    "ms,us,,,,,,,,KB,B,KB,GB/s,,,,,,\n")
    for n in range(40):
        start, length = 206888 + 37 * n, 1056 + n  # us, and ns
        if n % 4:
            row = ",64,1,1,256,1,1,32,1.5,0,,,,," + '"Tesla K40c (%d)","1","%d","gemm(int, float*) [%d]"' % (n % 2, 7 + n % 3, 100 + n)
        else:
            row = ",,,,,,,,,,4.5,3.1,\"Pageable\",\"Device\"," + '"Tesla K40c (0)","1","7","[CUDA memcpy HtoD]"'
            copied += 4608
        lines += "%.3f,%.3f" % (start / 1e3, length / 1e3) + row + "\n"
        # With --print-api-trace, calls are in the same table and have no device.
        lines += "%.3f,%.3f" % (start / 1e3 - 0.020, 12) + 17 * "," + '"cudaLaunchKernel [%d]"\n' % (100 + n)
        tasks.append((n % 2 if n % 4 else 0, start * 1000, start * 1000 + length))
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines)
    report = sums.report(path)
    sums.same("trace: busy", sorted((row["id"], row["tasks"], row["busy_ns"]) for row in report["devices"]),
              [(d, sum(t[0] == d for t in tasks), sums.length([t[1:] for t in tasks if t[0] == d])) for d in (0, 1)])
    sums.same("trace: names", sorted({row["name"] for row in report["operators"]}), ["[CUDA memcpy HtoD]", "gemm(int, float*)"])
    bytes_told = sums.analyzer("query", "--device", path, "SELECT sum(bytes) FROM tasks").split()
    sums.same("trace: bytes", bytes_told[-1], str(copied))
    # A negative number is not a stream.
    path = sums.path("negative.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines.replace('"1","7"', '"1","-7"'))
    found = [one for one in sums.report(path)["devices"] if one["id"] == 0][0]["streams"]
    sums.same("negative stream: numbers", sorted({row.get("id", -1) for row in found}), [-1, 8, 9])
    sums.same("negative stream: its tasks", [row["tasks"] for row in found if "id" not in row][0] >= 10, True)


check_database()
check_sums("sums_9.csv", True)
check_sums("sums_8.csv", False)
check_trace()
sums.end()
