# SPDX-License-Identifier: Apache-2.0
"""numbering.py - finds the steps of a snapshot that were not published yet, and continues their numbers.

Snapshots overlap. The analyzer counts steps as the job does if the job marks them. It counts steps that it finds by
itself from the snapshot's first, so those are recognised by their start.
"""

import bisect
import statistics


def closed(rows, marked):
    """The complete steps: without the last, which may still run, and, if the job does not mark steps, without the
    first, which may have begun before the snapshot. rows: [(number, start_ns, step_ns)] by start."""
    return rows[:-1] if marked else rows[1:-1]


def usual(rows):
    return statistics.median(length for _, _, length in rows)


def shift_of(rows, last):
    """The number to add to the snapshot's step numbers; last: {"step", "start_ns", "end_ns"} of the last published
    step."""
    number, start_ns, _ = min(rows, key=lambda row: abs(row[1] - last["start_ns"]))
    if abs(start_ns - last["start_ns"]) < 0.5 * usual(rows):
        return last["step"] - number
    # The snapshot no longer has the last step: count as many unseen steps as fit between.
    number, start_ns, _ = rows[0]
    return last["step"] + max(1, round((start_ns - last["start_ns"]) / max(usual(rows), 1))) - number


def news(rows, marked, last):
    """(shift, [row]) of the steps after last (None: no step was published), with the snapshot's own numbers."""
    rows = closed(rows, marked)
    if not rows:
        return 0, []
    if last is None:
        return 0, rows
    shift = 0 if marked else shift_of(rows, last)
    # The last step may have been much shorter than usual: then the next began soon after it.
    length = last["end_ns"] - last["start_ns"] if last.get("end_ns") else usual(rows)
    after_ns = last["start_ns"] + 0.5 * min(usual(rows), length)
    return shift, [row for row in rows if row[1] > after_ns and row[1] > last["start_ns"]]


def shift_to(rows, reference, usual_ns):
    """The number to add to the step numbers of a rank whose job does not count steps, so that they equal the numbers of
    the reference at the same time; both [(step, start_ns)] by start. Correct while clocks differ by less than half a
    step."""
    starts = [start_ns for _, start_ns in reference]
    found = []
    for number, start_ns in rows:
        at = bisect.bisect_right(starts, start_ns + usual_ns / 2) - 1
        step, near_ns = reference[max(at, 0)]
        found.append(step + round((start_ns - near_ns) / max(usual_ns, 1)) - number)
    return round(statistics.median(found))
