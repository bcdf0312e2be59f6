#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""told_apart.py SCHEMA FOLDER...: checks that exports as CSV would show an exchange of two columns.

Each FOLDER is one export. Any two numeric columns of a table must differ in some row of some export, and each table of
SCHEMA (`analyzer query --schema --format csv`) must have rows, each of its columns a value, except those below.
Otherwise prints the errors and exits with status 1.
"""
import collections
import csv
import glob
import itertools
import os
import re
import sys

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?")

# Tables, columns ("table.column") and pairs ("table.column column") that no input covers.
KNOWN = {
    # No file here has them: they describe steps, links and clocks that few profilers record.
    "api_statistic.file", "cluster_steps.gap_ns", "communication.idle_ns", "communication.synchronization_ns",
    "communication.transit_ns", "communication.wait_ns", "host_steps.thread", "interrupts.name", "major_faults.file",
    "operator_cores.name", "operator_steps.output_shapes", "operator_types.name", "ranks.clock_drift_ppb",
    "ranks.clock_error_ns", "ranks.clock_offset_ns", "step_outliers.object", "task_details.context_id", "task_details.hf32",
    "task_details.mix_blocks", "task_details.model_id", "task_details.step", "wait_runs.ended",
    # Equal in all existing rows: ranks have the number of their device, links one transfer.
    "api.open end_unknown", "cluster_steps.device rank", "links.waits wait_ns",
    # Equal in jobs with fewer turns than launch_turns.h asks for.
    "waiters.device_at_most device_likely_at_most",
}


def rows_of(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        head, *rows = csv.reader(file)
    return head, rows


def look_at(folders):
    """(columns with a value, pairs that differ somewhere, pairs that are always equal) of tables with rows."""
    valued, differ, same = collections.defaultdict(set), set(), collections.defaultdict(int)
    for path in (path for folder in folders for path in sorted(glob.glob(folder + "/*.csv"))):
        table = os.path.basename(path)[:-4]
        head, rows = rows_of(path)
        for place, name in enumerate(head):
            if any(row[place] for row in rows):
                valued[table].add(name)
        numbers = [place for place in range(len(head)) if all(not row[place] or NUMBER.fullmatch(row[place]) for row in rows)]
        for one, other in itertools.combinations(numbers, 2):
            pair = "%s.%s %s" % (table, head[one], head[other])
            if any(row[one] != row[other] for row in rows):
                differ.add(pair)
            elif any(row[one] for row in rows):
                same[pair] += 1
    return valued, differ, same


def main():
    wanted = collections.defaultdict(list)
    head, rows = rows_of(sys.argv[1])
    for row in rows:
        wanted[row[head.index("table")]].append(row[head.index("column")])
    valued, differ, same = look_at(sys.argv[2:])
    wrong = [table for table in wanted if table not in valued]
    wrong += ["%s.%s" % (table, column) for table in valued for column in wanted[table] if column not in valued[table]]
    wrong += [pair for pair in same if pair not in differ]
    print("%d of %d tables have rows in %d exports; %d pairs of columns differ in one" % (
        len(valued), len(wanted), len(sys.argv) - 2, len(differ)))
    for name in sorted(set(wrong) - set(KNOWN)):
        print("no input shows what is in, or if it was exchanged with another: " + name)
    for name in sorted(set(KNOWN) - set(wrong)):
        print("an input shows it, it is not to be known any more: " + name)
    sys.exit(set(wrong) != set(KNOWN))


if __name__ == "__main__":
    main()
