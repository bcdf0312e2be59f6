#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that end too early are read up to the damage, and reported as torn.

    tests/foreign/torn.py ANALYZER FOLDER

The expected content of a torn database is read with another reader of SQLite, row by row until the damage.
"""
import gzip
import json
import os
import random
import sqlite3
import zlib

import sums

TASKS = 20000


def tear(whole, torn, size):
    with open(whole, "rb") as file, open(torn, "wb") as to:
        to.write(file.read(size))


def rows_of(path, table, columns):
    """Rows before the damage, from complete pages: the missing rest of a page would be read as zeros."""
    with open(path, "rb") as whole, open(path + ".pages", "wb") as pages:
        data = whole.read()
        pages.write(data[:len(data) // 4096 * 4096])
    path += ".pages"
    database = sqlite3.connect("file:%s?mode=ro&immutable=1" % path, uri=True)
    database.execute("PRAGMA writable_schema=ON")
    least, most, rows = 0, TASKS, []
    while least < most:  # as many as can be read without an error
        middle = (least + most + 1) // 2
        try:
            rows = database.execute("SELECT %s FROM %s LIMIT %d" % (columns, table, middle)).fetchall()
            least = middle
        except sqlite3.DatabaseError:
            most = middle - 1
    rows = database.execute("SELECT %s FROM %s LIMIT %d" % (columns, table, least)).fetchall()
    database.close()
    return rows


def new_database(path):
    if os.path.exists(path):
        os.unlink(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size=4096")
    return database


def check(torn, count, busy_ns, said):
    devices = sums.report(torn)["devices"]
    sums.same(torn + ": tasks and time busy", [[one["tasks"], one["busy_ns"]] for one in devices], [[count, busy_ns]])
    words = sums.analyzer("info", "--device", torn)
    for word in said:
        sums.same("%s: says %s" % (torn, word), word in words, True)
    # No report passes a part for the whole.
    text = sums.analyzer("report", "--device", torn)
    sums.same(torn + ": the report says so", "in part  %s: %s" % (torn, said[0]) in text, True)
    sums.same(torn + ": its JSON says so", "%s: %s" % (torn, said[0]) in " ".join(sums.report(torn)["capture"]["notes"]), True)
    sums.same(torn + ": --strict fails", torn in sums.analyzer("report", "--strict", "--device", torn, status=1), True)


# Nsight Systems.
WHOLE = sums.path("whole.sqlite")
nsys = new_database(WHOLE)
nsys.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
nsys.execute("INSERT INTO StringIds VALUES (1, 'gemm')")
nsys.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)")
nsys.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000)")
nsys.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName)")
nsys.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, 0, 1)",
                 [(10**9 + i * 1000, 10**9 + i * 1000 + 300 + i % 7, i) for i in range(TASKS)])
# A table that begins after the end of the torn file.
nsys.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, correlationId, globalPid, bytes)")
nsys.commit()
nsys.close()
with open(WHOLE, "rb") as file:
    SIZE = len(file.read())
for number, size in enumerate((SIZE // 2, SIZE // 2 + 777)):
    path = sums.path("torn-%d.sqlite" % number)
    tear(WHOLE, path, size)
    left = rows_of(path, "CUPTI_ACTIVITY_KIND_KERNEL", "start, end")
    sums.same("some tasks are left, not all", 0 < len(left) < TASKS, True)
    check(path, len(left), sums.length(left),
          ["torn: the file ends before its database does", "byte %d of %d" % (size, SIZE), "table CUPTI_ACTIVITY_KIND_KERNEL"])

# An Ascend database.
WHOLE = sums.path("whole", "msprof_1.db")
ascend = new_database(WHOLE)
ascend.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
ascend.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", [(1, "MatMul"), (2, "KERNEL_AICORE")])
ascend.execute("CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId)")
ascend.executemany("INSERT INTO TASK VALUES (?, ?, 0, ?, ?, 2, 2)",
                   [(17 * 10**17 + i * 1000, 17 * 10**17 + i * 1000 + 400, i, i) for i in range(TASKS)])
ascend.commit()
ascend.close()
PATH = sums.path("torn", "msprof_1.db")
with open(WHOLE, "rb") as file:
    SIZE = len(file.read())
tear(WHOLE, PATH, SIZE * 2 // 3)
LEFT = rows_of(PATH, "TASK", "startNs, endNs")
sums.same("some tasks of an Ascend database are left, not all", 0 < len(LEFT) < TASKS, True)
check(PATH, len(LEFT), sums.length(LEFT), ["torn: the file ends before its database does", "table TASK"])

# Kineto, compressed: the part that zlib can still unpack counts.
random.seed(1)
EVENTS = [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000 + i * 100, "dur": 40,
           "args": {"device": 0, "stream": 7, "correlation": i + 1, "registers per thread": random.randrange(255)}}
          for i in range(TASKS)]
PACKED = gzip.compress(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": EVENTS}).encode())
PATH = sums.path("torn.json.gz")
with open(PATH, "wb") as file:
    file.write(PACKED[:len(PACKED) // 2])
UNPACKED = zlib.decompressobj(31).decompress(PACKED[:len(PACKED) // 2])
COUNT = UNPACKED.count(b'"registers per thread"')
COUNT -= not UNPACKED[UNPACKED.rindex(b'"registers per thread"'):].count(b"}}")
check(PATH, COUNT, COUNT * 40000, ["damaged: what follows was not read", "the file ends too early"])

# A database without any table left, and a database of another program.
PATH = sums.path("nothing.sqlite")
tear(sums.path("whole.sqlite"), PATH, 600)
WORDS = sums.analyzer("report", "--device", PATH, status=1)
sums.same("a database of nothing: " + WORDS, "torn SQLite database" in WORDS and "byte 600 of" in WORDS, True)
PATH = sums.path("other.sqlite")
other = new_database(PATH)
other.execute("CREATE TABLE cookies (host TEXT)")
other.commit()
other.close()
PATH = sums.path("dlprof_dldb.sqlite")
other = new_database(PATH)
other.execute("CREATE TABLE op_nodes (name TEXT)")
other.execute("CREATE VIEW view_op_nodes AS SELECT * FROM op_nodes")
other.commit()
other.close()
sums.same("DLProf's database", "nsys_profile.sqlite" in sums.analyzer("report", "--device", PATH, status=1), True)
PATH = sums.path("other.sqlite")
sums.same("a database of others", "without the tables of any format" in sums.analyzer("report", "--device", PATH, status=1), True)
# Copied as text, as some tools do: bytes that are not UTF-8 are lost.
text = json.dumps({"traceEvents": [{"ph": "X", "name": "gemm%d" % (i * 7919 % 1000), "ts": i, "dur": i * 31 % 17} for i in range(2000)]})
plane = b"\x08\x01\x12\x0d/device:GPU:0\x1a\xc8\x01" + bytes(range(200))
for name, data in ("text.json.gz", gzip.compress(text.encode())), ("text.xplane.pb", b"\x0a\xdc\x01" + plane), \
        ("line.xplane.pb", b"\x0a\x11" + plane[:17] + b"\x0a\xdc\x01" + plane):
    with open(sums.path(name), "wb") as file:
        file.write(data.decode("utf-8", "replace").encode())
    words = sums.analyzer("report", "--device", sums.path(name), status=1)
    sums.same(name + ": says what to do", "copy it anew, as a binary file" in words, True)
sums.end()
