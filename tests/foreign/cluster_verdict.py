#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which rank delays the others, and why: Kineto traces of eight ranks, one of which is different.

    tests/foreign/cluster_verdict.py ANALYZER FOLDER
"""
import json

import sums

BASE = 1700000000000000000
RANKS, STEPS, ODD = 8, 20, 5
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
KERNELS = {"gemm": 1500000, "attention": 900000, "layer_norm": 300000, "gelu": 200000}


def make(why):
    """The events of each rank: load, launch the kernels, all-reduce; the all-reduce ends for all ranks after the last has entered."""
    events = [[] for _ in range(RANKS)]
    number, at = 0, [1000000] * RANKS

    def add(rank, cat, name, start, length, **args):
        row = {"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 1000 + rank,
               "tid": 7 if cat == "kernel" else 1000 + rank, "ts": start / 1000, "dur": length / 1000, "args": args}
        events[rank].append(row)

    for _ in range(STEPS):
        ready = []
        for rank in range(RANKS):
            odd = rank == ODD
            load = 200000 + (4000000 if odd and why == "data" else 0)
            add(rank, "user_annotation", LOADER, at[rank], load)
            now = at[rank] + load + 1000
            for name, length in KERNELS.items():
                if odd and why == "clock":
                    length = length * 13 // 10
                if odd and why == "kernel" and name == "gemm":
                    length = 5250000
                for _ in range(3 if odd and why == "work" and name == "attention" else 1):
                    number += 1
                    add(rank, "cuda_runtime", "cudaLaunchKernel", now - 500, 400, correlation=number)
                    add(rank, "kernel", name, now, length, device=0, stream=7, correlation=number)
                    now += length
            ready.append(now)
        last = max(ready) + 100000
        number += 1
        for rank in range(RANKS):
            add(rank, "cuda_runtime", "cudaLaunchKernel", ready[rank] - 400, 300, correlation=number)
            add(rank, "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", ready[rank], last - ready[rank], device=0, stream=7,
                correlation=number)
            at[rank] = last + 2000
    return events


def check(why):
    paths = []
    all_events = make(why)
    for rank, events in enumerate(all_events):
        paths.append(sums.path(why, "rank%d.json" % rank))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "distributedInfo": {"rank": rank}, "baseTimeNanoseconds": BASE, "traceEvents": events}, file)
    report = sums.report(*paths)
    verdict = report["verdict"]
    straggler = verdict.get("straggler", {})
    sums.same(why + ": state", verdict["state"], "communication")
    sums.same(why + ": who and why", [straggler.get("rank"), straggler.get("why")], [ODD, why])
    # The ranks that wait for the slow one are not slow.
    sums.same(why + ": slowest", report["cluster"]["slowest_rank"], ODD)
    blamed = {row["rank"] for row in report["cluster"]["findings"] if row["rule"] in ("work", "computation", "collective")}
    sums.same(why + ": who else is blamed", blamed - {ODD}, set())
    late = 0
    collectives = [[e for e in events if e["name"].startswith("nccl")] for events in all_events]
    for i in range(STEPS):
        starts = [round(rows[i]["ts"] * 1000) for rows in collectives]
        late += max(starts) - min(starts)
    sums.same(why + ": late", straggler.get("late_ns"), late)
    if why == "kernel":
        sums.same("kernel", [straggler.get(key) for key in ("name", "own", "others")], ["gemm", 5250000, 1500000])
    elif why == "work":
        sums.same("work", [straggler.get(key) for key in ("name", "own", "others")], ["attention", 3 * STEPS, STEPS])
    elif why == "clock":
        sums.same("clock", straggler.get("own"), 1.3)
    else:
        sums.same("data", straggler.get("name"), LOADER)
    if "rank %d" % ODD not in verdict["sentence"]:
        sums.same(why + ": sentence", verdict["sentence"], "rank %d" % ODD)


for reason in ("kernel", "work", "clock", "data"):
    check(reason)
sums.end()
