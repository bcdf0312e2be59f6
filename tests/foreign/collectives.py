#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives of Kineto traces: size, type, group and bandwidth; how kernels were launched; the rank of each row.

    tests/foreign/collectives.py ANALYZER FOLDER
"""
import collections
import json
import random

import sums

BASE = 1700000000000000000
RANKS = 12
TYPES = {"Float": 4, "BFloat16": 2}
FACTORS = {"allreduce": lambda n: 2 * (n - 1) / n, "_allgather_base": lambda n: (n - 1) / n,
           "_reduce_scatter_base": lambda n: (n - 1) / n, "broadcast": lambda n: 1}
KERNELS = {"allreduce": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "_allgather_base": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "_reduce_scatter_base": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "broadcast": "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}


def make(rank):
    random.seed(rank)
    whole, pair = list(range(RANKS)), [rank // 2 * 2, rank // 2 * 2 + 1]
    events, at = [], 1000
    for i in range(40):
        kind = list(KERNELS)[i % 4]
        ranks = pair if kind == "allreduce" and i % 8 == 0 else whole
        n = len(ranks)
        own = random.randrange(1, 50) * 1024
        given, got = {"_allgather_base": (own, own * n), "_reduce_scatter_base": (own * n, own)}.get(kind, (own, own))
        length = random.randrange(50, 900)
        events.append({"ph": "X", "cat": "kernel", "name": KERNELS[kind], "pid": 0, "tid": 20, "ts": at, "dur": length, "args": {
            "device": 0, "stream": 20, "correlation": 2 * i + 1, "Collective name": kind, "In msg nelems": given,
            "Out msg nelems": got, "Group size": n, "dtype": "BFloat16" if kind == "_reduce_scatter_base" else "Float",
            "Process Group Name": "0" if ranks == whole else "1", "Process Group Ranks": str(ranks)}})
        at += length + 10
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at, "dur": 100, "args": {
            "device": 0, "stream": 7, "correlation": 2 * i + 2, "registers per thread": 90 + i % 3, "shared memory": 49152,
            "blocks per SM": 1.5, "warps per SM": 12.0, "grid": [4, 2, 1 + i % 2], "block": [128, 1, 1],
            "est. achieved occupancy %": 19 + i % 5}})
        at += 110
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": RANKS}, "baseTimeNanoseconds": BASE,
            "traceEvents": events}


traces = [make(rank) for rank in range(RANKS)]
for number, trace in enumerate(traces):
    with open(sums.path("ranks", "rank%d.json" % number), "w", encoding="utf-8") as file:
        json.dump(trace, file)
report = sums.report(sums.path("ranks"))
sums.same("ranks of devices", [row.get("rank") for row in report["devices"]], list(range(RANKS)))
rows = {(row["rank"], row["name"], row["members"]): row for row in report["communication"]["operations"]}
wanted = collections.defaultdict(lambda: [0, 0, 0, 0.0])
for rank, trace in enumerate(traces):
    for event in trace["traceEvents"]:
        args = event["args"]
        if "Collective name" not in args:
            continue
        size = max(args["In msg nelems"], args["Out msg nelems"]) * TYPES[args["dtype"]]
        row = wanted[rank, event["name"], args["Process Group Ranks"]]
        row[0] += 1
        row[1] += size
        row[2] += event["dur"] * 1000
        row[3] += size * FACTORS[args["Collective name"]](args["Group size"])
sums.same("operations", set(rows), set(wanted))
for key, (count, size, ns, bus) in wanted.items():
    row = rows.get(key, {})
    sums.same(str(key), [row.get(name) for name in ("count", "bytes", "total_ns", "algorithm_gb_per_second", "bus_gb_per_second")],
              [count, size, ns, round(size / ns, 3), round(bus / ns, 3)])
    sums.same(str(key) + ": group", row.get("group_size"), len(json.loads(key[2])))
gemm = [event["args"] for event in traces[3]["traceEvents"] if event["name"] == "gemm"]
means = {"blocks": sum(a["grid"][0] * a["grid"][1] * a["grid"][2] for a in gemm) / len(gemm), "threads per block": 128,
         "registers per thread": sum(a["registers per thread"] for a in gemm) / len(gemm),
         "est. achieved occupancy %": sum(a["est. achieved occupancy %"] for a in gemm) / len(gemm)}
operators = [row for row in report["operators"] if row["name"] == "gemm" and row.get("rank") == 3]
sums.same("gemm of rank 3", len(operators), 1)
metrics = {row["name"]: row["mean"] for row in operators[0].get("metrics", [])} if operators else {}
for name, mean in means.items():
    sums.same(name, metrics.get(name), round(mean, 3))
sums.end()
