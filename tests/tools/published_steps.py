#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""published_steps.py LAKE WHOLE METRICS: compares steps that profbpf-fleet publish sent for a rank in many rounds with
the steps of one whole snapshot.

Each step must be there once, with consecutive numbers, in several messages, and with the times of the whole snapshot;
of that at most the first and the last two steps may be missing. The metrics must count each step once, too.
"""

import pathlib
import re
import sys

import duckdb

BESIDE_NS = 1000  # tolerance for the same instant, converted by different clock snapshots


def steps(lake):
    return duckdb.execute(f"SELECT step, start_ns, step_ns FROM '{lake}/steps/*.parquet' WHERE rank = 3 ORDER BY start_ns").fetchall()


published, whole = steps(sys.argv[1]), steps(sys.argv[2])
messages = duckdb.execute(f"SELECT count(DISTINCT filename) FROM read_parquet('{sys.argv[1]}/steps/*.parquet', filename = true)").fetchall()[0][0]
problems = []
if [row[0] for row in published] != list(range(published[0][0], published[0][0] + len(published))):
    problems.append(f"numbers do not follow each other: {[row[0] for row in published]}")
if messages < 2:
    problems.append("all came in one message: nothing was put together")
if not len(whole) - 3 <= len(published) <= len(whole):
    problems.append(f"{len(published)} of {len(whole)} steps")
first = min(range(len(whole)), key=lambda i: abs(whole[i][1] - published[0][1]))
for ours, theirs in zip(published, whole[first:]):
    if abs(ours[1] - theirs[1]) > BESIDE_NS or abs(ours[2] - theirs[2]) > BESIDE_NS:
        problems.append(f"{ours} should be {theirs}")
text = pathlib.Path(sys.argv[3]).read_text(encoding="utf-8")
told = {name: float(value) for name, value in re.findall(r'^profbpf_rank_(\w+)\{rank="3",host="[^"]*"\} (\S+)$', text, re.M)}
idle = sum(float(value) for value in re.findall(r'^profbpf_rank_idle_seconds_total\{rank="3",.*\} (\S+)$', text, re.M))
total, busy = duckdb.execute(f"SELECT sum(step_ns) / 1e9, sum(step_ns - idle_ns) / 1e9 FROM '{sys.argv[1]}/steps/*.parquet' WHERE rank = 3").fetchall()[0]
roots = duckdb.execute(f"SELECT sum(ns) / 1e9 FROM '{sys.argv[1]}/idle/*.parquet' WHERE rank = 3").fetchall()[0][0]
for name, ours, theirs in (("step_seconds_count", told["step_seconds_count"], len(published)), ("step_seconds_sum", told["step_seconds_sum"], total),
                           ("device_busy_seconds_total", told["device_busy_seconds_total"], busy), ("idle_seconds_total", idle, roots),
                           ("last_step", told["last_step"], published[-1][0])):
    if abs(ours - theirs) > 1e-6 * theirs:
        problems.append(f"metric {name}: {ours} should be {theirs}")
print(f"{len(published)} of {len(whole)} steps in {messages} messages")
sys.exit("\n".join(problems[:5]) if problems else 0)
