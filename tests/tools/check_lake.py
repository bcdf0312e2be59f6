#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_lake.py LAKE REPORT: compares the tables of a lake with the JSON report of the recording that it was made
from."""

import json
import sys

import duckdb

lake, report_path = sys.argv[1:]
with open(report_path, encoding="utf-8") as file:
    report = json.load(file)


def ask(table, what, rest=""):
    return duckdb.sql(f"select {what} from '{lake}/{table}/*.parquet' {rest}").fetchall()


def same(what, ours, theirs, within=0):
    if abs(ours - theirs) > within:
        sys.exit(f"{what}: {ours} in the lake, {theirs} in the report")


ranks = [row[0] for row in ask("hosts", "rank", "order by rank")]
devices = [row for row in report["devices"] if row["tasks"]]
same("ranks", len(ranks), len(devices))
assert ranks == sorted(set(ranks)), ranks
same("idle time, ns", ask("idle", "coalesce(sum(ns), 0)")[0][0], report["idle"]["total_ns"])
by_cause = {}
for root in report["idle"]["roots"]:
    by_cause[root["cause"]] = by_cause.get(root["cause"], 0) + root["ns"]
assert dict(ask("idle", "cause, sum(ns)", "group by cause")) == by_cause, by_cause

kernels = [row for row in report["operators"] if row["type"] == "kernel"]
same("kernels", ask("operators", "sum(count)")[0][0], sum(row["count"] for row in kernels))
same("time of kernels, ns", ask("operators", "sum(total_ns)")[0][0], sum(row["total_ns"] for row in kernels))
collectives = sum(row["count"] for row in report["operators"] if row["type"] == "communication")
same("collectives", ask("collectives", "count(*)")[0][0], collectives)
same("sequences from 0", ask("collectives", "count(*)", "where sequence = 0")[0][0],
     ask("collectives", "count(distinct (rank, step, communicator))")[0][0])

for trace in report.get("steps", {}).get("devices", []):
    rank = ranks[[row["id"] for row in devices].index(trace["device"])]
    of_rank = f"where rank = {rank}"
    same(f"rank {rank}: steps", ask("steps", "count(*)", of_rank)[0][0], len(trace["rows"]))
    same(f"rank {rank}: length of steps, ns", ask("steps", "sum(step_ns)", of_rank)[0][0],
         sum(row["duration_ns"] for row in trace["rows"]))
    same(f"rank {rank}: busy in steps, ns", ask("steps", "sum(step_ns - idle_ns)", of_rank)[0][0],
         sum(row["device_busy_ns"] for row in trace["rows"]))
    gaps = ask("steps", "count(*)", f"{of_rank} and (exposed_communication_ns > communication_ns or compute_ns > step_ns)")
    same(f"rank {rank}: impossible steps", gaps[0][0], 0)
print(f"{len(ranks)} ranks, {len(kernels)} operators, {collectives} collectives")
