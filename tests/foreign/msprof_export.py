#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""op_statistic and communication_statistic have the rows that msprof makes from the same tasks: one for each kind of core.

    tests/foreign/msprof_export.py ANALYZER FOLDER
"""
import csv
import glob
from decimal import Decimal

import sums

KINDS = [("MatMulV3", "AI_CORE", 40, "62.739"), ("MatMulV3", "MIX_AIC", 2, "18409.5"), ("Cast", "AI_VECTOR_CORE", 7, "11.25"),
         ("Adds", "MIX_AIV", 5, "3.5"), ("Unique", "AI_CPU", 3, "900"), ("hcom_allReduce_", "COMMUNICATION", 6, "42000.125"),
         ("hcom_allGather_", "COMMUNICATION", 2, "77.5")]


def make():
    path, at = sums.path("op_summary_20260101.csv"), Decimal(1700000000000000)
    rows = []
    for kind, core, count, length in KINDS:
        for i in range(count):
            duration = Decimal(length) + i
            communication = core == "COMMUNICATION"
            rows.append([0, 1, len(rows), "N/A" if communication else 3, "%s_%d" % (kind, i), kind, core, str(at), str(duration)])
            at += duration + 5
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),"
                        "Task Duration(us)".split(","))
        writer.writerows(rows)
    return path, rows


def wanted(rows, communication):
    """{(type, core): (count, total, min, max, share of the table's total)}"""
    found = {}
    for row in rows:
        if (row[6] == "COMMUNICATION") == communication:
            found.setdefault((row[5], row[6]), []).append(Decimal(row[8]))
    whole = sum(sum(durations) for durations in found.values())
    return {key: (len(d), sum(d), min(d), max(d), round(100 * sum(d) / whole, 3)) for key, d in found.items()}


def written(folder, name):
    (path,) = glob.glob("%s/PROF_*/mindstudio_profiler_output/%s_*.csv" % (folder, name))
    with open(path, encoding="utf-8", newline="") as file:
        return {(row["OP Type"], row.get("Core Type", "COMMUNICATION")):
                (int(row["Count"]), Decimal(row["Total Time(us)"]), Decimal(row["Min Time(us)"]),
                 Decimal(row["Max Time(us)"]), Decimal(row["Ratio(%)"])) for row in csv.DictReader(file)}


table, tasks = make()
out = sums.path("out")
sums.analyzer("export", "--device", table, "--to", "msprof", "-o", out)
sums.same("op_statistic", written(out, "op_statistic"), wanted(tasks, False))
sums.same("communication_statistic", written(out, "communication_statistic"), wanted(tasks, True))
sums.end()
