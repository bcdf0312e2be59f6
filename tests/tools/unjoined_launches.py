#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the positions of launches without a task.

unjoined_launches.py DATABASE [QUEUE]

DATABASE is from `analyzer export --to sqlite`. Tasks are recorded between two instants, and a queue runs its tasks in
order. So launches without a task come before the first launch with a task, on any queue, or after the last launch with
a task on their own queue, and none lies between. QUEUE is the column of `calls` with the queue (argument1); without it
all launches count as on one queue.

Prints "before N between N after N joined N"; fails if one lies between, and prints it, or if none is joined.
"""
import sqlite3
import sys

LAUNCHES = """
CREATE TEMP TABLE launch AS SELECT call, start_ns, task, {queue} AS queue FROM calls JOIN functions USING (function)
WHERE kind IN ('launch', 'copy', 'collective') AND NOT inner_call AND NOT error"""
WITHOUT = """
SELECT start_ns < (SELECT min(start_ns) FROM launch WHERE task IS NOT NULL) AS before,
	ifnull(start_ns > last_ns, 1) AS after, queue, call, start_ns
FROM launch LEFT JOIN (SELECT queue, max(start_ns) AS last_ns FROM launch WHERE task IS NOT NULL GROUP BY queue)
USING (queue) WHERE task IS NULL ORDER BY start_ns"""


def main():
    database = sqlite3.connect(sys.argv[1])
    queue = sys.argv[2] if len(sys.argv) > 2 else "0"
    if not queue.isalnum():
        sys.exit(f"unjoined_launches.py: '{queue}' is no column")
    database.execute(LAUNCHES.format(queue=queue))
    joined = database.execute("SELECT count(task) FROM launch").fetchone()[0]
    rows = database.execute(WITHOUT).fetchall()
    before = sum(1 for row in rows if row[0])
    after = sum(1 for row in rows if not row[0] and row[1])
    between = [row for row in rows if not row[0] and not row[1]]
    print(f"before {before} between {len(between)} after {after} joined {joined}")
    for row in between[:10]:
        print(f"call {row[3]} on queue {row[2]}, begun at {row[4]} ns, has no task", file=sys.stderr)
    return 1 if between or not joined else 0


if __name__ == "__main__":
    sys.exit(main())
