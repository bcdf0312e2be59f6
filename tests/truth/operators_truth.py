#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a table of tasks in msprof's format, and checks every way to list its operators.

usage: operators_truth.py make TABLE
       operators_truth.py check TABLE ANALYZER

"check" runs the analyzer with one set of options after the other, and compares the results with its own
computation from the table. Ends with status 1 if a figure differs.
"""
import csv
import fnmatch
import json
import random
import subprocess
import sys

HEADER = ["Device_id", "Task ID", "Stream ID", "Op Name", "OP Type", "Task Type", "Task Start Time(us)", "Task Duration(us)",
          "Input Shapes", "Input Data Types", "Output Shapes", "Output Data Types", "aicore_time(us)", "aic_mac_ratio",
          "aic_cube_fops"]
KINDS = [("MatMulV2", "AI_CORE", True), ("Add", "AI_VECTOR_CORE", False), ("Cast", "AI_CPU", False), ("Conv2D", "MIX_AIC", True)]
command, table = sys.argv[1:3]


def make():
    choose, at = random.Random(7), 1700000000000000000
    with open(table, "w", encoding="ascii", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for i in range(600):
            kind, core, cube = choose.choice(KINDS)
            ns = choose.randrange(1, 90000)
            rows = choose.choice([8, 16])
            counters = [f"{ns / 2000:.3f}", f"{choose.random():.3f}", str(2 * rows * 64)] if cube else ["N/A"] * 3
            writer.writerow([0, i, 1 + i % 3, f"Default/block{choose.randrange(3)}/{kind}-op{choose.randrange(4)}", kind, core,
                             f"{at // 1000}.{at % 1000:03}\t", f"{ns // 1000}.{ns % 1000:03}", f'"{rows},16;16,4"',
                             choose.choice(["FLOAT16;FLOAT16", "FLOAT;FLOAT"]), f'"{rows},4"', "FLOAT", *counters])
            at += ns + choose.randrange(500)
        writer.writerow([0, 600, "N/A", "hcom_allReduce__1_1", "hcom_allReduce_", "COMMUNICATION", f"{at // 1000}.{at % 1000:03}\t",
                         "77.5"] + ["N/A"] * 7)


def nanoseconds(text):
    whole, _, rest = text.strip().partition(".")
    return int(whole) * 1000 + int(rest.ljust(3, "0"))


def core_of(task):
    return {"AI_CPU": "AICPU", "COMMUNICATION": "communication"}.get(task["Task Type"], "AICORE")


def load():
    with open(table, encoding="ascii", newline="") as file:
        tasks = list(csv.DictReader(file))
    for task in tasks:
        task["ns"] = nanoseconds(task["Task Duration(us)"])
    return tasks


FIGURES = {"sum": sum, "max": max, "min": min, "mean": lambda ns: sum(ns) // len(ns)}
KEYS = {
    "name": lambda t: (t["Op Name"], t["OP Type"], core_of(t)),
    "type": lambda t: (None, t["OP Type"], core_of(t)),
    "core": lambda t: (None, None, core_of(t)),
    "shape": lambda t: (t["Op Name"], t["OP Type"], core_of(t), t["Input Shapes"]),
    "scope": lambda t: ("/".join(t["Op Name"].split("/")[:2]) if "/" in t["Op Name"] else "",),
}


def group(tasks, by):
    groups = {}
    for task in tasks:
        groups.setdefault(KEYS[by](task), []).append(task)
    return groups


def expected(tasks, keep=lambda t: True, by="name", figure="sum", low=0, high=None):
    """The expected figure, count, total and share of each operator, by key."""
    everything = sum(FIGURES[figure]([t["ns"] for t in members]) for members in group(tasks, by).values())
    rows = {}
    for key, members in group(filter(keep, tasks), by).items():
        ns = [t["ns"] for t in members]
        value = FIGURES[figure](ns)
        if value >= low and (high is None or value <= high):
            rows[key] = {"value": value, "count": len(ns), "total_ns": sum(ns), "min_ns": min(ns), "max_ns": max(ns),
                         "percent": 100 * value / everything, "members": members}
    return rows


def key_of(row, by):
    if by == "scope":
        return (row["scope"],)
    key = (row.get("name") if by in ("name", "shape") else None, row.get("op_type") if by != "core" else None, row["core"])
    return key + (row.get("input_shapes", "N/A"),) if by == "shape" else key


wrong = 0


def expect(what, ours, theirs):
    global wrong
    bad = abs(ours - theirs) > 1e-3 * max(1, abs(ours)) if isinstance(ours, float) else ours != theirs
    wrong += bad
    if bad:
        print(f"{what}: expected {ours}, got {theirs}")


def check_work(what, row, members):
    counted = [t for t in members if t["aic_cube_fops"] != "N/A"]
    expect(f"{what}: flops", float(sum(int(t["aic_cube_fops"]) for t in counted)), float(row.get("flops", 0)))
    expect(f"{what}: flops told", bool(counted), "flops" in row)
    if counted:
        busy = sum(t["ns"] for t in counted)
        expect(f"{what}: rate", sum(int(t["aic_cube_fops"]) for t in counted) * 1e9 / busy, row["flops_per_second"])
        metrics = {m["name"]: m for m in row["metrics"]}
        expect(f"{what}: mac ratio", sum(float(t["aic_mac_ratio"]) * t["ns"] for t in counted) / busy, metrics["aic_mac_ratio"]["mean"])
        expect(f"{what}: core time", sum(float(t["aicore_time(us)"]) for t in counted) / len(counted), metrics["aicore_time(us)"]["mean"])
        expect(f"{what}: tasks with counters", len(counted), metrics["aic_mac_ratio"]["tasks"])
    shapes = {t["Input Shapes"] for t in members if t["Input Shapes"] != "N/A"}
    expect(f"{what}: shapes", len(shapes), row.get("shape_variants", 0))


def check(analyzer, tasks, options, order="value", ascending=False, **wanted):
    by = wanted.get("by", "name")
    ours = expected(tasks, **wanted)
    found = json.loads(subprocess.run([analyzer, "report", "--device", table, "--section", "operators", "--format", "json", *options],
                                      check=True, stdout=subprocess.PIPE).stdout)["operators"]
    what = " ".join(options) or "by name"
    expect(f"{what}: operators", sorted(map(str, ours)), sorted(str(key_of(row, by)) for row in found))
    for row in found:
        truth = ours.get(key_of(row, by))
        if not truth:
            continue
        for field in ("count", "total_ns", "min_ns", "max_ns", "percent"):
            expect(f"{what}: {key_of(row, by)}, {field}", truth[field], row[field])
        check_work(f"{what}: {key_of(row, by)}", row, truth["members"])
    if order == "value":
        values = [ours[key_of(row, by)]["value"] for row in found if key_of(row, by) in ours]
    else:
        values = [row.get(order, -1) for row in found]
    expect(f"{what}: order", sorted(values, reverse=not ascending), values)
    running = 0
    for row in found:
        running += row["percent"]
        expect(f"{what}: cumulative", running, row["cumulative_percent"])
    print(f"{what}: {len(found)} operators")


def check_all(analyzer):
    tasks = load()
    for by in KEYS:
        for figure in FIGURES:
            check(analyzer, tasks, ["--aggregate-by", by, "--aggregate", figure], by=by, figure=figure)
    check(analyzer, tasks, [])
    check(analyzer, tasks, ["--name", "block1 MAT-mul"],
          keep=lambda t: "block1" in t["Op Name"] and "MatMul" in t["Op Name"])
    check(analyzer, tasks, ["--type", "conv*,Cast"], keep=lambda t: fnmatch.fnmatch(t["OP Type"], "Conv*") or t["OP Type"] == "Cast")
    check(analyzer, tasks, ["--type", "AICPU,communication", "--aggregate-by", "core"], by="core",
          keep=lambda t: core_of(t) in ("AICPU", "communication"))
    check(analyzer, tasks, ["--input-dtype", "float16"], keep=lambda t: "FLOAT16" in t["Input Data Types"])
    check(analyzer, tasks, ["--min-time", "400us", "--max-time", "700us"], low=400000, high=700000)
    check(analyzer, tasks, ["--aggregate", "mean", "--min-time", "45us"], figure="mean", low=45000)
    for order in ("count", "total_ns", "min_ns", "max_ns", "flops", "name"):
        for sign in ("", "+"):
            check(analyzer, tasks, ["--order-by", sign + order.replace("_ns", "")], order=order, ascending=sign == "+")
    check(analyzer, tasks, ["--order-by", "rate"], order="flops_per_second")
    text = subprocess.run([analyzer, "report", "--device", table, "--section", "operators", "--top", "3"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    expect("--top 3: rows that are left out", f"... and {len(expected(tasks)) - 3} more operators (--top 0 shows all)",
           next((line for line in text.splitlines() if line.startswith("...")), ""))


if command == "make":
    make()
else:
    check_all(sys.argv[3])
sys.exit(1 if wrong else 0)
