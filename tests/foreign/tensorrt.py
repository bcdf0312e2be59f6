#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of trtexec by the layouts of several releases: layers with and without the number of runs, times of inferences.

    tests/foreign/tensorrt.py ANALYZER FOLDER
"""
import random

import sums

LAYERS = [("Reformatting CopyNode for Input Tensor 0 to Conv_0 + PWN(Clip_3)", "36.6844"), ("Conv_0 + PWN(Clip_3)", "41.4232"),
          ("Reformatting CopyNode for Input Tensor 0 to Conv_8", "0"), ("/conv1/Conv + /act1/Relu", "1160.78"), ("tiny", "9e-05")]


def nanoseconds(milliseconds):
    return round(float(milliseconds) * 1e6)


def check_layers(name, runs, median):
    rows = ['{ "count" : %d }' % runs] if runs else []
    for layer, total in LAYERS:
        rows.append('{ "name" : "%s", "timeMs" : %s, "averageMs" : %g, %s"percentage" : 1.5 }' % (
            layer, total, float(total) / (runs or 1), '"medianMs" : 0.1, ' if median else ""))
    path = sums.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n  " + "\n, ".join(rows) + "\n]\n")
    report = sums.report(path)
    sums.same(name + ": layers", {row["name"]: (row["count"], row["total_ns"]) for row in report["operator_sums"]},
              {layer: (runs or 1, nanoseconds(total)) for layer, total in LAYERS})
    words = sums.analyzer("info", "--device", path)
    sums.same(name + ": what info says", ("how many runs there were is not told" in words, "medians of layers are not taken" in words),
              (not runs, median))


def check_back_to_back():
    """No time between inferences: the files of trtexec do not show that the device is busy."""
    path = sums.path("saturated.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[" + ",".join('{"startEnqMs": %d, "endEnqMs": %d.01, "startComputeMs": %d, "endComputeMs": %d}'
                                  % (at, at, at, at + 1) for at in range(1000)) + "]")
    verdict = sums.report(path)["verdict"]
    sums.same("verdict of inferences back to back", (verdict["state"], "not the kernels in it" in verdict["sentence"]),
              ("unknown", True))
    words = sums.analyzer("report", "--device", path)
    sums.same("what is said of the device", ("busy is unknown" in words, "100.0 % of the time" in words), (True, False))


def check_times(name, words, transfers):
    random.seed(len(name))
    rows, tasks, calls, at = [], {"in": [], "compute": [], "out": []}, [], 0
    for _ in range(50):
        row = {}
        for key in "enqueue", "in", "compute", "out":
            length = random.randrange(1, 900)
            if key in ("in", "out") and not transfers:
                length = 0
            start = at
            at += length if key != "enqueue" else 0
            if words[key]:
                row[words[key][0]], row[words[key][1]] = "%.3f" % (start / 1000), "%.3f" % ((start + length) / 1000)
            if key == "enqueue":
                calls.append(length)
            elif length:
                tasks[key].append((start * 1000, (start + length) * 1000))
        rows.append("{ %s }" % ", ".join('"%s" : %s' % one for one in row.items()))
    path = sums.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n  " + "\n, ".join(rows) + "\n]\n")
    report = sums.report(path)
    sums.same(name + ": operators", sorted((row["name"], row["count"], row["total_ns"]) for row in report["operators"]),
              sorted((what, len(tasks[key]), sum(b - a for a, b in tasks[key])) for key, what in
                     (("in", "inputs to the device"), ("compute", "inference"), ("out", "outputs to the host")) if tasks[key]))
    device = report["devices"][0]
    # The file has no kernels: whether the device worked during the whole inference is unknown.
    sums.same(name + ": busy", [key for key in ("busy_ns", "compute_ns", "utilization_percent") if key in device], [])
    sums.same(name + ": idle at least", device["idle_ns"], device["window_ns"] - sums.length(sum(tasks.values(), [])))
    sums.same(name + ": verdict", report["verdict"]["state"], "unknown")
    sums.same(name + ": copies", device["copy_ns"], sums.length(tasks["in"] + tasks["out"]))
    sums.same(name + ": enqueued", [(row["function"], row["count"], row["total_ns"]) for row in report["api"]],
              [("enqueue", 50, sum(calls) * 1000)] if words["enqueue"] else [])
    sums.same(name + ": says that kernels are not told", "kernels of an inference are not told" in sums.analyzer("info", "--device", path), True)


NEW = {"enqueue": ("startEnqMs", "endEnqMs"), "in": ("startH2dMs", "endH2dMs"), "compute": ("startComputeMs", "endComputeMs"),
       "out": ("startD2hMs", "endD2hMs")}
OLD = {"enqueue": None, "in": ("startInMs", "endInMs"), "compute": ("startComputeMs", "endComputeMs"), "out": ("startOutMs", "endOutMs")}

check_layers("profile.json", 625, True)
check_layers("profile_8_0.json", 625, False)
check_layers("no_count.json", 0, False)
check_back_to_back()
check_times("times.json", NEW, True)
check_times("no_transfers.json", NEW, False)
check_times("times_7.json", OLD, True)
sums.end()
