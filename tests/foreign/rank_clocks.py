#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks on hosts whose clocks differ: the late rank is the same as with one clock.

    tests/foreign/rank_clocks.py ANALYZER FOLDER
"""
import json
import random

import sums

EPOCH = 1700000000000000000
RANKS, STEPS, STRAGGLER = 4, 60, 2
NOISE = 3000  # ns: the difference between ends of one collective, on a host whose clock is right


def truth():
    """[rank][step]: (start, end) of its all-reduce by one clock; rank 2 is 3 ms late in each step."""
    random.seed(5)
    times = [[] for _ in range(RANKS)]
    for step in range(STEPS):
        at = EPOCH + step * 20000000
        starts = [at + random.randrange(200000) + (3000000 if rank == STRAGGLER else 0) for rank in range(RANKS)]
        end = max(starts) + 1500000
        for rank in range(RANKS):
            times[rank].append((starts[rank], end + random.randrange(NOISE)))
    return times


def write(folder, times, offsets, drifts):
    """Writes a Kineto file for each rank, with the times of its own clock."""
    paths = []
    for rank in range(RANKS):
        events = []
        for start, end in times[rank]:
            def clock(ns):
                return ns + offsets[rank] + round(drifts[rank] * (ns - EPOCH))
            for name, begin, finish in (("gemm", start - 1000000, start - 1000),
                                        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, end)):
                events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                               "ts": "@%d.%03d@" % divmod(clock(begin), 1000),
                               "dur": "@%d.%03d@" % divmod(clock(finish) - clock(begin), 1000),
                               "args": {"device": 0, "stream": 7, "correlation": len(events) + 1}})
        paths.append(sums.path(folder, "rank%d.pt.trace.json" % rank))
        text = json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": events})
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text.replace('"@', "").replace('@"', ""))
    return paths


def near(what, found, wanted, within):
    if found is None or abs(found - wanted) > within:
        sums.same(what, found, "%d, give or take %d" % (wanted, within))


def check(name, offsets, drifts):
    times = truth()
    ranks = {row["rank"]: row for row in sums.report(*write(name, times, offsets, drifts))["communication"]["ranks"]}
    late = [0] * RANKS
    for step in range(STEPS):
        starts = [times[rank][step][0] for rank in range(RANKS)]
        late[starts.index(max(starts))] += max(starts) - min(starts)
    for rank in range(RANKS):
        what = "%s, rank %d: " % (name, rank)
        near(what + "late", ranks[rank]["late_ns"], late[rank], STEPS * 2 * NOISE)
        # The clock of one rank is taken as the right one: only differences are compared.
        if abs(offsets[rank] - offsets[0]) > 1000000:
            half = STEPS * 20000000 * drifts[rank] / 2
            near(what + "offset", ranks[rank].get("clock_offset_ns"), -(offsets[rank] - offsets[0] + half), 3 * NOISE)
            near(what + "error", ranks[rank].get("clock_error_ns"), NOISE / 2, NOISE)
        else:
            sums.same(what + "a clock that is right", "clock_offset_ns" in ranks[rank], False)


check("same", [0] * RANKS, [0] * RANKS)
check("apart_50_ms", [0, 50000000, -50000000, 20000000], [0] * RANKS)
check("apart_5_ms", [0, 5000000, -5000000, 3000000], [0] * RANKS)
check("drift", [0, 40000000, -30000000, 0], [0, 20e-6, -15e-6, 0])
sums.end()
