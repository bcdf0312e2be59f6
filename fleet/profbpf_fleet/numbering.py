# SPDX-License-Identifier: Apache-2.0
"""numbering.py - which steps of a snapshot were not published yet, and by which numbers they go on.

Snapshots overlap. The analyzer counts steps as the job does where the job marks them; those that it finds by itself it
counts from the snapshot's first, so they are known again by when they began.
"""

import bisect
import statistics


def closed(rows, marked):
    """Steps that are whole: not the last, which may still go on, and of those that were found not the first, which may have
    begun before the snapshot did. rows: [(number, start_ns, step_ns)] by start."""
    return rows[:-1] if marked else rows[1:-1]


def usual(rows):
    return statistics.median(length for _, _, length in rows)


def shift_of(rows, last):
    """What is to be added to the snapshot's numbers; last: {"step", "start_ns", "end_ns"} of the last step that was published."""
    number, start_ns, _ = min(rows, key=lambda row: abs(row[1] - last["start_ns"]))
    if abs(start_ns - last["start_ns"]) < 0.5 * usual(rows):
        return last["step"] - number
    # The last one is in the snapshot no more: so many steps as fit between did nobody see.
    number, start_ns, _ = rows[0]
    return last["step"] + max(1, round((start_ns - last["start_ns"]) / max(usual(rows), 1))) - number


def news(rows, marked, last):
    """(shift, [row]) of the steps that come after last (None: there was none), by the snapshot's own numbers."""
    rows = closed(rows, marked)
    if not rows:
        return 0, []
    if last is None:
        return 0, rows
    shift = 0 if marked else shift_of(rows, last)
    # The last one may have been much shorter than usual: then the next began soon after it.
    length = last["end_ns"] - last["start_ns"] if last.get("end_ns") else usual(rows)
    after_ns = last["start_ns"] + 0.5 * min(usual(rows), length)
    return shift, [row for row in rows if row[1] > after_ns and row[1] > last["start_ns"]]


def shift_to(rows, reference, usual_ns):
    """What is to be added to the numbers of a rank that no job counts, to be those of another rank whose steps lie at the same
    time: both [(step, start_ns)] by start. Right as long as the clocks differ by less than half a step."""
    starts = [start_ns for _, start_ns in reference]
    found = []
    for number, start_ns in rows:
        at = bisect.bisect_right(starts, start_ns + usual_ns / 2) - 1
        step, near_ns = reference[max(at, 0)]
        found.append(step + round((start_ns - near_ns) / max(usual_ns, 1)) - number)
    return round(statistics.median(found))
