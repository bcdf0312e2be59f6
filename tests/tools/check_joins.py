#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every join of a trace by make_joins is right, and every time within the reported error.

usage: check_joins.py DATABASE REPORT
DATABASE: from `analyzer export --to sqlite`; REPORT: the report as JSON. Prints what was compared; ends with
status 1 if anything is wrong.
"""
import json
import sqlite3
import sys

# A task's number is its index modulo 65536, its name has the index modulo 100: together they are unique here. Without
# numbers the time identifies a task: tasks of a stream are further apart than the error of times.
JOINED = """
SELECT substr(name, 7) + 0 = argument3 % 100 AND stream = argument2 & 65535 AND
	(task_id IS NULL OR task_id = argument3 & 65535),
	abs(tasks.start_ns - calls.start_ns - returned), call
FROM tasks LEFT JOIN task_details USING (task) JOIN calls USING (call)"""


def main():
    database = sqlite3.connect(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        clock = json.load(file)["join"]["clock"]
    calls = set()
    right = wrong = at_steps = worst = worst_at_steps = 0
    for is_right, off_ns, call in database.execute(JOINED):
        calls.add(call)
        right += is_right
        wrong += not is_right
        if off_ns <= clock["error_ns"]:
            worst = max(worst, off_ns)
        else:
            at_steps += 1
            worst_at_steps = max(worst_at_steps, off_ns)
    print(f"# joins: {right} right, {wrong} wrong, with {len(calls)} calls")
    many, far = clock.get("tasks_at_steps", 0), clock.get("step_error_ns", 0)
    print(f"# start of tasks: off by {worst} ns at most, stated {clock['error_ns']} ns; {at_steps} further off, "
          f"{worst_at_steps} ns at most; stated {many}, {far} ns")
    good = right and right == len(calls) and not wrong and at_steps <= many and worst_at_steps <= far
    return 0 if good else 1


sys.exit(main())
