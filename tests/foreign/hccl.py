#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives of HCCL in databases: bytes and bandwidth, from the counts that HCCL was called with.

    tests/foreign/hccl.py ANALYZER FOLDER
"""
import collections
import json
import random
import sqlite3

import sums

EPOCH = 1700000000000000000
SCHEMA = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE META_DATA (name TEXT, value TEXT);
CREATE TABLE ENUM_HCCL_DATA_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
  globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,
  opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count INTEGER, opType INTEGER,
  deviceId INTEGER);
"""
TYPES = {3: ("FP16", 2), 4: ("FP32", 4), 11: ("BFP16", 2), 255: ("RESERVED", None)}
RANKS = 4
WORLD, PAIR = "90.90.97.92%enp189s0f0_60000_0_1700029263494117", "pair_%d_1700029263494200"
KINDS = ["hcom_allReduce_", "hcom_allGather_", "hcom_reduceScatter_", "hcom_broadcast_", "hcom_send_", "hcom_alltoall_", "hcom_alltoallv_"]


def moved(kind, count, size, n):
    """Bytes of a rank's larger message, and bytes on the bus; None where the file does not have them."""
    if size is None or "alltoall" in kind:
        return None, None
    if kind in ("hcom_allGather_", "hcom_reduceScatter_"):
        return (count * size * n, count * size * (n - 1)) if n else (None, None)
    if kind == "hcom_allReduce_":
        return count * size, 2 * count * size * (n - 1) / n if n else None
    return count * size, count * size


def make(name, rank, with_groups):
    random.seed(rank)
    db = sqlite3.connect(sums.path(name, "rank%d" % rank, "ascend_pytorch_profiler_%d.db" % rank))
    db.executescript(SCHEMA)
    pair = PAIR % (rank // 2)
    strings = ["KERNEL_AICORE", WORLD, pair]
    groups = {WORLD: list(range(RANKS)), pair: [rank // 2 * 2, rank // 2 * 2 + 1]}
    db.execute("INSERT INTO RANK_DEVICE_MAP VALUES (?, 0)", (rank,))
    db.executemany("INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (?, ?)", [(number, one[0]) for number, one in TYPES.items()])
    if with_groups:
        told = {key: {"group_name": "dp", "group_rank": 0, "global_ranks": ranks} for key, ranks in groups.items()}
        db.execute("INSERT INTO META_DATA VALUES ('parallel_group_info', ?)", (json.dumps(told),))
    wanted, at = collections.defaultdict(lambda: [0, 0, 0, 0, 0]), EPOCH
    for i in range(70):
        kind, group, type_number = KINDS[i % 7], (WORLD, pair)[i % 3 == 0], (3, 4, 11, 4)[i % 4]
        if i == 69:
            type_number = 255
        count, length = random.randrange(1, 99) * 1000, random.randrange(20000, 900000)
        strings.append("%s_%d_%d_1" % (kind, 100 + i // 7, i))
        db.execute("INSERT INTO COMMUNICATION_OP VALUES (?, ?, ?, 4294967295, ?, ?, 0, 0, ?, 0, ?, 0, 0)",
                   (len(strings) - 1, at, at + length, strings.index(group), i, type_number, count))
        db.execute("INSERT INTO TASK VALUES (?, ?, 0, 4294967295, ?, 1, 0, 4294967295, 2, ?, 4294967295)", (at, at + 1000, i, i))
        size, bus = moved(kind, count, TYPES[type_number][1], len(groups[group]) if with_groups else None)
        row = wanted[kind, json.dumps(groups[group], separators=(",", ":")) if with_groups else None]
        row[0] += 1
        if size is not None:
            row[1] += size
            row[2] += length
        if bus is not None:
            row[3] += bus
            row[4] += length
        at += length + 2000
    db.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(strings))
    db.commit()
    db.close()
    return dict(wanted)


def check(name, with_groups):
    wanted = {rank: make(name, rank, with_groups) for rank in range(RANKS)}
    report = sums.report(sums.path(name))
    rows = report["communication"]["operations"]
    sums.same(name + ": rows", len(rows), sum(len(one) for one in wanted.values()))
    for row in rows:
        what = "%s: rank %s: %s of %s" % (name, row.get("rank"), row["name"], row.get("members"))
        count, size, ns, bus, bus_ns = wanted[row["rank"]].get((row["name"].rstrip("_") + "_", row.get("members")), [None] * 5)
        sums.same(what, [row["count"], row.get("bytes"), row.get("algorithm_gb_per_second"), row.get("bus_gb_per_second")],
                  [count, size or None, round(size / ns, 3) if ns else None, round(bus / bus_ns, 3) if bus_ns else None])
        sums.same(what + ": how many", row.get("group_size"), len(json.loads(row["members"])) if with_groups else None)


check("groups", True)
check("without", False)
sums.end()
