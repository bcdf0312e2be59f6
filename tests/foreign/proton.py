#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trees of Triton's proton: kernels on two devices, in scopes and by themselves.

    tests/foreign/proton.py ANALYZER FOLDER
"""
import json
import random

import sums

random.seed(8)
wanted = []


def kernel(within, more):
    name, count, time, device = "matmul_%d" % random.randrange(4), random.randrange(1, 99), random.randrange(1, 10 ** 9), random.randrange(2)
    metrics = {"count": count, "time (ns)": time, "device_id": str(device), "device_type": "CUDA"}
    if more:
        metrics.update(flops16=1e9, bytes=4096)
    wanted.append((name, "/".join(within) or None, count, time, device))
    return {"children": [], "frame": {"name": name, "type": "function"}, "metrics": metrics}


def scope(name, within, depth, more):
    inside = within + [name] if name != "ROOT" else within
    children = [kernel(inside, more) for _ in range(random.randrange(1, 4))]
    if depth:
        children += [scope("scope_%d" % i, inside, depth - 1, more) for i in range(2)]
    metrics = {"flops16": 12.5} if depth == 1 else {}
    if timed and name in ("ROOT", "scope_0"):
        metrics.update({"count": 0, "time (ns)": 0})
    return {"children": children, "frame": {"name": name, "type": "function"}, "metrics": metrics}


# In the trees of some versions (those of proton's own tests) the root and scopes have a time, too, of 0.
for more, timed in (False, False), (True, False), (False, True):
    wanted.clear()
    tree = [scope("ROOT", [], 3, more), {"CUDA": {"0": {"arch": "90", "num_sms": 132}, "1": {"arch": "90"}}}]
    path = sums.path("kernels_%d%d.hatchet" % (more, timed))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tree, file)
    report = sums.report(path)
    found = [(row["name"], row.get("op_type"), row["count"], row["total_ns"], row["device"]) for row in report["operator_sums"]]
    sums.same("sums", sorted(found, key=str), sorted(wanted, key=str))
    words = sums.analyzer("info", "--device", path)
    sums.same("what is left out", "only count and time are taken" in words, more)
    sums.same("devices", "2 devices" in words, True)
    # The short report shows sums where there are no tasks.
    words = sums.analyzer("report", "--device", path)
    most = max(wanted, key=lambda row: row[3])
    sums.same("the short report", any(line.split()[:1] == [most[0]] and "%.3f" % (most[3] / 1e6) in line for line in words.splitlines()), True)
sums.end()
