#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A database of one rank as torch_npu writes it: collectives have no deviceId, and run tasks of their own.

    tests/foreign/ascend_db.py ANALYZER FOLDER
"""
import sqlite3

import sums

EPOCH = 1700000000000000000
SCHEMA = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,
  globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER,
  taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER,
  mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER,
  inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER,
  attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,
  groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER,
  algType INTEGER, count INTEGER, opType INTEGER%s);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER,
  groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER,
  transportType INTEGER, size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
"""
NAMES = ["N/A", "MatMul_1", "KERNEL_AICORE", "hcom_allReduce__1", "NOTIFY_WAIT", "MEMCPY_ASYNC",
         "EVENT_RECORD", "MatMulV3", "AI_CORE", "SDMA", "Notify_Wait", "Memcpy"]


def make(name, devices, ranks, with_device=False):
    """Three steps of each device: 2 ms of computing, then a collective of 8 ms, all of it in an AI_CORE task of its own."""
    path = sums.path(name)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA % (", deviceId INTEGER" if with_device else ""))
    db.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(NAMES))
    word = NAMES.index
    for device in devices:
        db.execute("INSERT INTO NPU_INFO VALUES (?, 'Ascend910B3')", (device,))
    if ranks:
        db.executemany("INSERT INTO RANK_DEVICE_MAP VALUES (?, ?)", zip(ranks, devices))
    task = 0

    def ran(device, start, end, kind, stream):
        nonlocal task
        task += 1
        db.execute("INSERT INTO TASK VALUES (?, ?, ?, 4294967295, ?, 1, ?, 4294967295, ?, ?, 4294967295)",
                   (start, end, device, task, word(kind), stream, task))
        return task

    for device in devices:
        for step in range(3):
            at = EPOCH + step * 12000000 + device * 1111
            compute = ran(device, at, at + 2000000, "KERNEL_AICORE", 2)
            db.execute("INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES (?, ?, ?, ?)",
                       (word("MatMul_1"), compute, word("AI_CORE"), word("MatMulV3")))
            # A second kernel hides half of the collective; the collective's own task is in no other table.
            begin = at + 2500000
            ran(device, begin, begin + 8000000, "KERNEL_AICORE", 5)
            compute = ran(device, begin + 1000000, begin + 2000000, "KERNEL_AICORE", 2)
            db.execute("INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES (?, ?, ?, ?)",
                       (word("MatMul_1"), compute, word("AI_CORE"), word("MatMulV3")))
            operation = device * 100 + step
            row = [word("hcom_allReduce__1"), begin, begin + 8000000, 4294967295, 0, operation, 0, 0, 0, 0, 1, 0]
            db.execute("INSERT INTO COMMUNICATION_OP VALUES (%s)" % ", ".join("?" * (len(row) + with_device)),
                       row + [None] * with_device)
            for kind, part, length in ("NOTIFY_WAIT", "Notify_Wait", 3000000), ("SDMA", "Memcpy", 5000000):
                number = ran(device, begin, begin + length, kind, 6)
                db.execute("INSERT INTO COMMUNICATION_TASK_INFO (globalTaskId, taskType, planeId, size, opId,"
                           " srcRank, dstRank) VALUES (?, ?, 0, 4096, ?, 0, 1)", (number, word(part), operation))
    for step in range(3):
        db.execute("INSERT INTO STEP_TIME VALUES (?, ?, ?)",
                   (step, EPOCH + step * 12000000, EPOCH + (step + 1) * 12000000))
    db.commit()
    return path, db


def wanted(db, device):
    """Computing and communication of a device by msprof-analyze's definition, from the tables."""
    compute = db.execute("SELECT startNs, endNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)"
                         " WHERE deviceId = ?", (device,)).fetchall()
    # The tasks that are parts of a collective have its device.
    operations = db.execute("SELECT startNs, endNs FROM COMMUNICATION_OP WHERE opId IN (SELECT opId FROM"
                            " COMMUNICATION_TASK_INFO JOIN TASK USING (globalTaskId) WHERE deviceId = ?)",
                            (device,)).fetchall()
    return compute, operations


def check(name, devices, ranks, **options):
    path, db = make(name, devices, ranks, **options)
    report = sums.report(path)
    sums.same(name + ": devices", sorted(device["id"] for device in report["devices"]), sorted(devices))
    for device in devices:
        compute, operations = wanted(db, device)
        overlap = [row for row in report["overlap"] if row["device"] == device]
        if len(overlap) != 1:
            sums.same("%s: rows of overlap of device %d" % (name, device), len(overlap), 1)
            continue
        both = sums.common(compute, operations)
        what = "%s, device %d: " % (name, device)
        sums.same(what + "computation", overlap[0]["computation_ns"], sums.length(compute))
        sums.same(what + "communication", overlap[0]["communication_ns"], sums.length(operations))
        sums.same(what + "not hidden", overlap[0]["pure_communication_ns"], sums.length(operations) - both)
    if ranks:
        sums.same(name + ": ranks", sorted(device["rank"] for device in report["devices"]), sorted(ranks))
    return report, db


report, tables = check("ascend_pytorch_profiler_1.db", [1], [1])
rows = report["steps"]["devices"][0]["rows"]
sums.same("steps", len(rows), 3)
for row, (begin, finish) in zip(rows, tables.execute("SELECT startNs, endNs FROM STEP_TIME ORDER BY id")):
    inside = tables.execute("SELECT sum(endNs - startNs) FROM COMMUNICATION_OP WHERE startNs >= ? AND endNs <= ?",
                            (begin, finish)).fetchone()[0]
    sums.same("collectives of a step", sum(one["duration_ns"] for one in row["all_reduce"]), inside)
check("no_map.db", [3], [])
check("with_column.db", [5], [12], with_device=True)
check("two_devices.db", [2, 6], [0, 1])
sums.end()
