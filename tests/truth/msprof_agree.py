#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the values that msprof-analyze's own classes read from an exported folder with the report of the trace.

usage: msprof_agree.py FOLDER REPORT

Ends with status 1 if a figure differs.
"""
import json
import sys
from collections import defaultdict

from msprof_analyze.advisor.dataset.profiling.profiling_dataset import ProfilingDataset

folder, report_path = sys.argv[1:]
with open(report_path, encoding="utf-8") as file:
    report = json.load(file)
wrong = 0


def expect(what, ours, theirs):
    global wrong
    if ours != theirs:
        print(f"{what}: the report says {ours}, msprof-analyze reads {theirs}")
        wrong = 1


operators = ProfilingDataset(folder, {}).op_summary.op_list
count, total = defaultdict(int), defaultdict(int)
for operator in operators:
    count[operator.op_name] += 1
    total[operator.op_name] += round(float(operator.task_duration) * 1000)
for row in report["operators"]:
    expect(f"{row['name']}: count", row["count"], count[row["name"]])
    expect(f"{row['name']}: total_ns", row["total_ns"], total[row["name"]])
    kinds = {operator.op_type for operator in operators if operator.op_name == row["name"]}
    expect(f"{row['name']}: type", {row.get("op_type", "N/A")}, kinds)
expect("operators", sum(row["count"] for row in report["operators"]), len(operators))
starts = [float(operator.task_start_time) for operator in operators]
expect("order", starts, sorted(starts))
sys.exit(wrong)
