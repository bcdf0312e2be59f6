#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rank of a device by the data in real folders, and the number of that device in MindInsight's files.

    tests/foreign/mindinsight_ranks.py ANALYZER FOLDER

Databases of torch_npu and MindSpore have RANK_DEVICE_MAP and, in META_DATA, the groups of ranks; MindSpore's folders
have profiler_info_N.json with its stages; MindFormers has nothing but rank_N/profiler/. In containers each rank's
device is number 0.
"""
import json
import os
import sqlite3

import sums

EPOCH = 1700000000000000000
SCHEMA = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE META_DATA (name TEXT, value TEXT);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
  globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER,
  taskType INTEGER, opType INTEGER, hf32Eligible INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,
  opId INTEGER PRIMARY KEY, opType INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
"""
NAMES = ["MatMul_1", "KERNEL_AICORE", "AI_CORE", "MatMulV3", "hcom_receive__1", "YES"]


def database(*name, rank=None, groups=None):
    """Four steps of 12 ms on device 0: 2 ms of computing and 3 of receiving."""
    db = sqlite3.connect(sums.path(*name))
    db.executescript(SCHEMA)
    db.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(NAMES))
    db.execute("INSERT INTO NPU_INFO VALUES (0, 'Ascend910B3')")
    if rank is not None:
        db.execute("INSERT INTO RANK_DEVICE_MAP VALUES (?, 0)", (rank,))
    if groups:
        db.execute("INSERT INTO META_DATA VALUES ('parallel_group_info', ?)", (json.dumps(groups),))
    for step in range(4):
        at = EPOCH + step * 12000000
        db.execute("INSERT INTO TASK VALUES (?, ?, 0, 4294967295, ?, 1, 1, 4294967295, 2, ?, 4294967295)",
                   (at, at + 2000000, step, step))
        db.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (0, ?, 20, 0, 2, 3, 5)", (step,))
        db.execute("INSERT INTO COMMUNICATION_OP VALUES (4, ?, ?, 4294967295, 0, ?, 4)", (at + 3000000, at + 6000000, step))
        db.execute("INSERT INTO STEP_TIME VALUES (?, ?, ?)", (step, at, at + 12000000))
    db.commit()
    db.close()


def check(job, ranks, stages, stem):
    """@ranks: {rank: stage}; @stem: of the name of the file with which MindInsight compares ranks."""
    whole = sums.path(job)
    report = sums.report(whole)
    sums.same(job + ": ranks", sorted(device.get("rank", "none") for device in report["devices"]), sorted(ranks))
    found = report.get("cluster", {}).get("ranks", [])
    sums.same(job + ": stages", {row["rank"]: row.get("pipeline_stage") for row in found}, ranks if len(ranks) > 1 else {})
    out = os.path.join(sums.path("out"), job, "profiler")  # missing folders are created
    sums.analyzer("export", "--device", whole, "--to", "mindinsight", "-o", out)
    written = os.listdir(out)
    sums.same(job + ": timelines", sorted(name for name in written if name.startswith("ascend_timeline_display_")),
              ["ascend_timeline_display_%d.json" % rank for rank in sorted(ranks)])
    sums.same(job + ": tables of ranks", sorted(name for name in written if "_cluster_analyse_" in name),
              ["ascend_cluster_analyse_%s_%d.csv" % (stem, rank) for rank in sorted(ranks)])
    for rank in ranks:
        with open("%s/profiler_info_%d.json" % (out, rank), encoding="utf-8") as file:
            info = json.load(file)
        sums.same(job + ": what is said of it", (info["rank_id"], info["stage_num"], info["rank_size"]),
                  (rank, stages, max(ranks) + 1))


PIPELINE = {"group_name_0": {"group_name": "dp", "global_ranks": [0, 1]},
            "group_name_1": {"group_name": "pp", "global_ranks": [0, 2]},
            "group_name_2": {"group_name": "pp", "global_ranks": [1, 3]}}
for number in range(4):
    database("torch", "rank%d_ascend_pt" % number, "ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_%d.db" % number,
             rank=number, groups=PIPELINE)
    database("formers", "rank_%d" % number, "profiler", "host_%d_ascend_ms" % number, "ASCEND_PROFILER_OUTPUT",
             "ascend_mindspore_profiler_%d.db" % number)
    database("mindspore", "host_%d_ascend_ms" % number, "ASCEND_PROFILER_OUTPUT", "ascend_mindspore_profiler_%d.db" % number)
    with open(sums.path("mindspore", "host_%d_ascend_ms" % number, "profiler_info_%d.json" % number), "w",
              encoding="utf-8") as text:
        json.dump({"context_mode": "graph", "rank_id": str(number), "parallel_mode": "semi_auto_parallel", "stage_num": 2,
                   "rank_size": 4}, text)
database("one", "rank_2", "profiler", "host_ascend_ms", "ASCEND_PROFILER_OUTPUT", "ascend_mindspore_profiler_2.db")

STAGES = {0: 0, 1: 0, 2: 1, 3: 1}
check("torch", STAGES, 2, "pipeline-parallel_2_4")
check("mindspore", STAGES, 2, "pipeline-parallel_2_4")
check("formers", dict.fromkeys(range(4)), 1, "data-parallel_1_4")
check("one", {2: None}, 1, "data-parallel_1_3")
details = sums.analyzer("query", "--device", sums.path("one"), "--format", "csv",
                        "SELECT DISTINCT blocks, hf32 FROM task_details WHERE hf32 <> ''").split()
sums.same("cores and HF32 of a database", details[1:], ["20,YES"])
sums.end()
