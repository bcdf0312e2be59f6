#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that did the same, and advice that differs only in numbers, share one line of text; other formats have all rows,
CSV with their ranks.

    tests/foreign/alike.py ANALYZER FOLDER
"""
import csv
import json
import os
import re

import sums

BASE = 1700000000000000000
# By rank: microseconds of computing and of a collective in each of 20 rounds, each followed by a gap of 10.
FAST, BUSY, ODD = (100, 290), (380, 10), (20, 100)
RANKS = [FAST] * 3 + [BUSY] * 2 + [FAST] * 2 + [ODD, BUSY]


def make(rank, compute, collective):
    events, at = [], 1000
    for i in range(20):
        for name, length, stream in ("gemm", compute, 7), ("ncclDevKernel_AllReduce", collective, 20):
            # A little longer with each rank: alike, but not equal.
            length += rank % 3
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": at, "dur": length,
                           "args": {"device": 0, "stream": stream, "correlation": 2 * i + (stream == 20)}})
            at += length
        at += 10
    with open(sums.path("ranks", "rank%d.json" % rank), "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": len(RANKS)}, "baseTimeNanoseconds": BASE,
                   "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": events}, file)
    window = at - 10 - 1000
    return (window - 190) / window * 100, window / 1e6


def spread(values, form):
    texts = [form % value for value in (min(values), max(values))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


made = [make(rank, *lengths) for rank, lengths in enumerate(RANKS)]
text = sums.analyzer("report", "--device", sums.path("ranks"))
wanted = []
for lengths, words in (FAST, "0-2, 5-6"), (BUSY, "3-4, 8"):
    mine = [made[rank] for rank, one in enumerate(RANKS) if one == lengths]
    wanted.append("%d alike, ranks %s: busy %s %% of %s s; 40 tasks; GPU" % (
        len(mine), words, spread([one[0] for one in mine], "%.1f"), spread([one[1] for one in mine], "%.3f")))
sums.same("alike", re.findall(r"^devices +(.*)$", text, re.M), wanted)
section = sums.analyzer("report", "--section", "devices", "--device", sums.path("ranks"))
sums.same("devices in their section", re.findall(r"^Device \d+: .* rank (\d+)", section, re.M), ["0", "3", "7"])
sums.same("alike in their section", re.findall(r"^  alike: ranks (.*), (\d+) in all", section, re.M),
          [("0-2, 5-6", "5"), ("3-4, 8", "3")])
gaps = sums.analyzer("report", "--section", "idle", "--full", "--device", sums.path("ranks"))
sums.same("ranks of the longest gaps", bool(re.search(r"0 \(rank \d\) ", gaps)), True)
sums.same("one by itself", re.findall(r"^rank (\d+) +(busy [\d.]+ %)", text, re.M), [("7", "busy %.1f %%" % made[7][0])])

report = sums.report(sums.path("ranks"))
sums.same("ranks of gaps in JSON", {gap["rank"] for gap in report["idle"]["gaps"]}, set(range(len(RANKS))))
sums.same("devices in JSON", [row["rank"] for row in report["devices"]], list(range(len(RANKS))))
alone = [row for row in report["advice"] if row["id"] == "device_communication"]
late = [rank for rank, (compute, collective) in enumerate(RANKS) if collective > compute]
sums.same("advice in JSON", sorted(re.search(r"\(rank (\d)\)", row["evidence"]).group(1) for row in alone),
          [str(rank) for rank in late])
for part, name in (text, "overview"), (sums.analyzer("report", "--section", "advice", "--device", sums.path("ranks")), "section"):
    folded = " ".join(part.split())
    sums.same(name + ": advice", (folded.count("only communicates for"), re.findall(r", and (\d+) more like this", folded)),
              (1, [str(len(late) - 1)]))

# Device 0 of two hosts, without a rank: the file's name tells them apart.
HOSTS = []
for host in "one", "two":
    HOSTS.append(sums.path(host, "trace.json"))
    with open(HOSTS[-1], "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000, "dur": 9, "args": {"device": 0, "stream": 7}}]}, file)
both = [word for path in HOSTS for word in ("--device", path)]
sums.same("files of devices", [row.get("file") for row in sums.report(*HOSTS)["devices"]], HOSTS)
for part, words in ("overview", ()), ("section", ("--section", "devices")):
    sums.same("hosts in the " + part, re.findall(r"of (one|two)/trace.json$", sums.analyzer("report", *words, *both), re.M), ["one", "two"])

# CSV: each row that names a device has its rank.
sums.analyzer("export", "--to", "csv", "-o", sums.path("csv"), "--device", sums.path("ranks"))
tables = {name[:-4]: list(csv.DictReader(open(sums.path("csv", name), encoding="utf-8"))) for name in os.listdir(sums.path("csv"))}
ranks = {str(place): row["rank"] for place, row in enumerate(tables["devices"])}
sums.same("ranks of devices in CSV", sorted(map(int, ranks.values())), list(range(len(RANKS))))
for name, rows in tables.items():
    for row in rows:
        for column, rank in ("device", "rank"), ("straggler", "straggler_rank"), ("slowest", "slowest_rank"):
            if name != "devices" and column in row:
                sums.same("%s: %s of %s" % (name, rank, row[column]), row.get(rank), ranks.get(row[column], ""))
times = {rank: sum(int(row["end_ns"]) - int(row["start_ns"]) for row in tables["tasks"] if row["rank"] == str(rank))
         for rank in range(len(RANKS))}
sums.same("time of tasks by rank", times, {rank: sum(20 * 1000 * (length + rank % 3) for length in lengths)
                                           for rank, lengths in enumerate(RANKS)})
sums.end()
