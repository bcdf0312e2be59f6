#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the live tasks of the MSPTI shim for a job on the simulated Ascend with the truth of the simulator.

usage: ascend_sim_live.py TRUTH DATABASE
TRUTH: truth.json of the simulator; DATABASE: what `analyzer export --to sqlite` wrote of the session.
Each task of the session has to be there once, with its name, stream and times, and be joined to the call in which it
was sent. Prints what was compared; ends with status 1 and a line for each task that is wrong.
"""
import json
import sqlite3
import sys

KERNEL, AICPU, COPY, COLLECTIVE = range(4)
CLOCKS_NS = 50000  # each instant is converted between two clocks, on both sides; tasks are further apart
SLEW_NS = 2000  # drift between the clocks over the longest task
TASKS = """
SELECT tasks.correlation, tasks.name, tasks.stream, tasks.start_ns, tasks.end_ns, tasks.bytes, calls.start_ns,
	calls.end_ns, threads.tid
FROM tasks LEFT JOIN calls ON tasks.call = calls.call LEFT JOIN threads ON calls.thread = threads.thread"""


def known(truth, start_ns):
    """number of the launch -> name, stream, start, end, bytes, sent, thread"""
    tasks = {}
    for task in truth["tasks"]:
        if task["kind"] > COLLECTIVE or task["sent_ns"] < start_ns:
            continue
        name = task["call"] if task["kind"] == COLLECTIVE else task["name"]
        row = [name, task["stream"], task["start_ns"], task["end_ns"], task["kind"], task["sent_ns"], task["tid"]]
        whole = tasks.setdefault(task["connection"], row)
        whole[3] = max(whole[3], task["end_ns"])
    return tasks


def differences(row, task):
    name, stream, start_ns, end_ns, size, call_ns, returned_ns, tid = row
    if task[4] == COPY and not size:
        yield "no size"
    if task[4] != COPY and name != task[0]:
        yield f"name {name}"
    if stream != task[1]:
        yield f"stream {stream}"
    if abs(start_ns - task[2]) > CLOCKS_NS:
        yield f"start {start_ns - task[2]} ns off"
    if abs(end_ns - start_ns - (task[3] - task[2])) > SLEW_NS:
        yield f"duration {end_ns - start_ns} ns"
    if call_ns is None or tid != task[6] or not call_ns <= task[5] <= returned_ns:
        yield f"call of {call_ns} to {returned_ns} ns by {tid}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        truth = json.load(file)
    database = sqlite3.connect(sys.argv[2])
    start_ns = database.execute("SELECT start_ns FROM trace").fetchone()[0]
    tasks = known(truth, start_ns)
    count, wrong = len(tasks), []
    for number, *row in database.execute(TASKS):
        task = tasks.pop(number, None)
        found = ["unknown or twice"] if task is None else list(differences(row, task))
        if found:
            wrong.append(f"launch {number}, {task}: {', '.join(found)}")
    wrong += [f"launch {number}, {task}: not told" for number, task in tasks.items()]
    print(f"# tasks told live: {count - len(tasks)} of {count}, {len(wrong)} of them wrong")
    for line in wrong[:10]:
        print(f"WRONG: {line}")
    return 1 if wrong or not count else 0


sys.exit(main())
