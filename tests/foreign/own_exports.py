#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of profbpf in the folder of their source: an export counts only if the source is not there.

    tests/foreign/own_exports.py ANALYZER FOLDER
"""
import json
import os
import shutil

import sums

EXPORTS = {"chrome": "timeline.trace.json", "perfetto": "timeline.pftrace", "csv": "tables", "msprof": "layout", "mindinsight": "profiler"}


def kineto(path):
    events = [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000 + i * 100, "dur": 40,
               "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i in range(9)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A"}], "traceEvents": events}, file)


def chrome(path):
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "gpu0"}}]
    events += [{"ph": "X", "name": "gemm", "pid": 1, "tid": 1, "ts": 1000 + i * 100, "dur": 40} for i in range(9)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)


def msprof(path):
    os.makedirs(path)
    events = [{"name": "process_name", "pid": 416, "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}}]
    events += [{"name": "MatMul", "pid": 416, "tid": 2, "ts": "%d.000" % (1700000000000000 + 100 * i), "dur": 40, "ph": "X",
                "args": {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": i}} for i in range(9)]
    with open(os.path.join(path, "msprof_20240102030405.json"), "w", encoding="utf-8") as file:
        json.dump(events, file)


def devices(path):
    return [[one["tasks"], one["busy_ns"], one["source"]] for one in sums.report(path)["devices"]]


# Where the export counts, the files beside it are read once.
os.makedirs(sums.path("own_twice", "inner", "x"), exist_ok=True)
chrome(sums.path("own_twice_source.trace.json"))
sums.analyzer("export", "--device", sums.path("own_twice_source.trace.json"), "--to", "chrome", "-o", sums.path("own_twice", "inner", "timeline.trace.json"))
for name in "notes.txt", "inner/notes.txt":
    with open(sums.path("own_twice", name), "w", encoding="utf-8") as notes:
        notes.write("nothing")
sums.same("twice: tasks", devices(sums.path("own_twice"))[0][0], 9)
lines = [line for line in sums.analyzer("info", "--device", sums.path("own_twice")).splitlines() if "notes.txt" in line]
sums.same("twice: findings", sorted(line.split(": ")[0].split("own_twice/")[1] for line in lines), ["inner/notes.txt", "notes.txt"])
sums.same("twice: each counts once", [line for line in lines if " times" in line], [])

for name, source, make in ("kineto", "rank0.pt.trace.json", kineto), ("chrome", "rank0.trace.json", chrome), \
        ("msprof", "PROF_000001_20240102030405000_ABC/mindstudio_profiler_output", msprof):
    alone = sums.path("own_" + name, "alone", source)
    make(alone)
    alone = sums.path("own_" + name, "alone")
    wanted = devices(alone)
    sums.same(name + ": its own tasks", [row[:2] for row in wanted], [[9, 9 * 40000]])
    # Exports beside the source, in folders of their own, and without the source.
    for to, file in EXPORTS.items():
        folder = sums.path("own_" + name, to)
        shutil.copytree(alone, folder)
        sums.analyzer("export", "--device", alone, "--to", to, "-o", os.path.join(folder, file))
        sums.same("%s beside its export to %s" % (name, to), devices(folder), wanted)
        words = sums.analyzer("info", "--device", folder)
        sums.same("%s: the export to %s is named" % (name, to), "an export of profbpf: not counted (%s/%s" % (folder, file.split("/")[0]) in words, True)
        shutil.rmtree(os.path.join(folder, source.split("/")[0])) if "/" in source else os.remove(os.path.join(folder, source))
        if to != "csv":
            sums.same("%s: its export to %s without it" % (name, to), [row[:2] for row in devices(folder)], [[9, 9 * 40000]])
            sums.same("%s: it counts then" % to, "not counted" in sums.analyzer("info", "--device", folder), False)
        # The same with a source that cannot be read.
        torn = os.path.join(folder, source, "msprof_20240102030405.json") if "/" in source else os.path.join(folder, source)
        os.makedirs(os.path.dirname(torn), exist_ok=True)
        with open(torn, "w", encoding="utf-8") as file:
            file.write('{"traceEvents": [' if "/" not in source else "[")
        words = sums.analyzer("info", "--device", folder)
        sums.same("%s: its export to %s beside a torn file" % (name, to), [row[:2] for row in devices(folder)], [[9, 9 * 40000]] * (to != "csv"))
        sums.same("%s beside a torn file: the file is named" % to, [word in words for word in ("a file was not taken in", "not counted")], [True, False])
sums.end()
