#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every join of a storm on the simulated Ascend is right, and every time within the report's stated error.

usage: check_storm.py TRUTH REPORT DATABASE
TRUTH: truth.json of the simulator; REPORT: the report as JSON; DATABASE: what `analyzer export --to sqlite` wrote.
Prints a line for each comparison; exits with status 1 and a line for each wrong figure.
"""
import json
import sqlite3
import sys

ROUNDING_NS = 300  # ticks of the counter, and clocks that the simulator reads one after the other

# Stream, number and name together identify a task: numbers restart at 65536, names at 100, and there are fewer tasks
# than combinations.
TABLE = """
CREATE TEMP TABLE truth (stream INTEGER, task_id INTEGER, name TEXT, thread INTEGER, sent_ns INTEGER, start_ns INTEGER,
	numbered INTEGER, launched INTEGER, PRIMARY KEY (stream, task_id, name)) WITHOUT ROWID"""
# The recorded call during which a task was sent.
AROUND = """
UPDATE truth SET {column} = (SELECT call FROM (SELECT call, end_ns FROM calls WHERE calls.thread = truth.thread AND
	calls.start_ns <= sent_ns AND function IN (SELECT function FROM functions WHERE name = ?)
	ORDER BY calls.start_ns DESC LIMIT 1) WHERE end_ns >= sent_ns)"""
FOUND = """
SELECT truth.thread IS NOT NULL, tasks.call,
	calls.thread = truth.thread AND sent_ns BETWEEN calls.start_ns AND calls.end_ns,
	numbered, tasks.start_ns - truth.start_ns
FROM tasks JOIN task_details USING (task) LEFT JOIN truth USING (stream, task_id, name) LEFT JOIN calls USING (call)"""


class Judge:
    def __init__(self):
        self.wrong = 0

    def equal(self, what, expected, found):
        good = expected == found
        self.wrong += not good
        print(f"# {what}: {found}" if good else f"WRONG: {what}: expected {expected}, found {found}")

    def at_most(self, what, limit, found):
        good = found <= limit
        self.wrong += not good
        print(f"{'# ' if good else 'WRONG: '}{what}: {found}, stated {limit}")


def task_lines(path):
    """Yields the tasks one by one, from one line each; all of them at once would take gigabytes."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith('{"stream"'):
                yield json.loads(line.rstrip("]},\n") + "}")


def truth_head(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(file.readline().rstrip(",\n") + "}")


def take_truth(database, path):
    """Returns the number of tasks, and how often task numbers restarted."""
    threads = dict(database.execute("SELECT tid, thread FROM threads"))
    rounds = 0

    def rows():
        nonlocal rounds
        for task in task_lines(path):
            rounds += task["task"] == 0
            yield (task["stream"], task["task"], task["name"], threads.get(task["tid"]), task["sent_ns"],
                   task["start_ns"])

    database.execute(TABLE)
    database.executemany("INSERT INTO truth VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)", rows())
    for column, function in (("numbered", "halSqTaskSend"), ("launched", "aclrtLaunchKernel")):
        database.execute(AROUND.format(column=column), (function,))
    return database.execute("SELECT count(*) FROM truth").fetchone()[0], rounds


def check_joins(judge, database, launches, join):
    strangers = right = wrong = lost = missed = invented = 0
    calls = set()
    for known, call, is_right, numbered, _ in database.execute(FOUND):
        strangers += not known
        lost += numbered is None
        if call is None:
            missed += numbered is not None
            continue
        calls.add(call)
        right += bool(is_right)
        wrong += not is_right
        invented += numbered is None
    judge.equal("tasks that the simulator does not know", 0, strangers)
    judge.equal("wrong joins", 0, wrong)
    judge.equal("right joins, all tasks whose call was recorded", launches - lost, right)
    judge.equal("calls joined, each to one task", right, len(calls))
    judge.equal("tasks not joined though their call was recorded", 0, missed)
    judge.equal("tasks joined though their call was lost", 0, invented)
    judge.equal("report: tasks, joined, not joined, ambiguous", (launches, launches - lost, lost, 0),
                (join["tasks"], join["matched"], join["unmatched_tasks"], join["ambiguous"]))
    without = database.execute("SELECT count(launched) FROM truth WHERE numbered IS NULL").fetchone()[0]
    judge.equal("report: calls without a task, those whose number was lost", without, join["unmatched_launches"])
    judge.equal("report: how", "numbers of stream and task", join["method"])
    return lost


def check_times(judge, database, truth, clock):
    if clock.get("error_ns") is None:
        judge.equal("the clock's error is known", True, False)
        return
    at_steps = worst = worst_at_steps = 0
    error_ns = clock["error_ns"] + ROUNDING_NS
    for *_, off_ns in database.execute(FOUND):
        off_ns = abs(off_ns)
        if off_ns <= error_ns:
            worst = max(worst, off_ns)
        else:
            at_steps += 1
            worst_at_steps = max(worst_at_steps, off_ns)
    judge.equal("the counter jumped", True, len(truth["jumps"]) > 0)
    judge.equal("jumps of the counter", len(truth["jumps"]), clock.get("steps", 0))
    judge.at_most("starts off, ns", error_ns, worst)
    judge.at_most("starts further off, near a jump", clock.get("tasks_at_steps", 0), at_steps)
    judge.at_most("these off, ns", clock.get("step_error_ns", 0) + ROUNDING_NS, worst_at_steps)
    judge.equal("tasks before their launch", 0, clock["before_enqueue"])
    first_ns, last_ns = database.execute("SELECT min(start_ns), max(start_ns) FROM truth").fetchone()
    # The reported drift is that of the longest piece; its offset is known to +- error at both ends.
    room = 2 * error_ns * (len(truth["jumps"]) + 1) / (last_ns - first_ns) * 1e9
    judge.at_most("drift off, ppb", round(room), abs(clock["drift_ppb"] + round(truth["ppm"] * 1000)))


def main(truth_path, report_path, database_path):
    judge = Judge()
    database = sqlite3.connect(database_path)
    with open(report_path, encoding="utf-8") as file:
        join = json.load(file)["join"]
    launches, rounds = take_truth(database, truth_path)
    print(f"# {launches} tasks, {rounds} of them begin a new round of numbers")
    judge.equal("numbers started anew", True, rounds > 0)
    lost = check_joins(judge, database, launches, join)
    judge.equal("calls were lost", True, lost > 0)
    check_times(judge, database, truth_head(truth_path)["clock"], join["clock"])
    return 1 if judge.wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
