#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the analyzer's results for a job on the simulated Ascend with the simulator's own record.

usage: ascend_sim_check.py TRUTH REPORT CHROME [host]
TRUTH: truth.json of the simulator; REPORT: the report as JSON; CHROME: the same trace exported.
With "host" tasks have to be joined by the calls in the profile, which the marks of the step trace lack.
Prints a line for each comparison; exits with status 1 and a line for each wrong figure.
"""
import bisect
import json
import sys

TRACE_FP, TRACE_BP, TRACE_END = 1, 2, 255
KERNEL, AICPU, COPY, COLLECTIVE, RECORD, WAIT, MARK = range(7)
ROUNDING_NS = 300  # ticks of the counter, and clocks that the simulator reads one after the other
BUSY_KINDS = (KERNEL, AICPU, COPY)


class Judge:
    def __init__(self):
        self.wrong = 0

    def equal(self, what, expected, found):
        self.say(what, expected == found, f"{found}" if expected == found else f"expected {expected}, found {found}")

    def within(self, what, expected, tolerance, found):
        self.say(what, abs(found - expected) <= tolerance, f"{found} (expected {expected} +- {tolerance})")

    def say(self, what, good, detail):
        self.wrong += not good
        print(f"{'# ' if good else 'WRONG: '}{what}: {detail}")


def union(intervals):
    total, reach = 0, None
    for start, end in sorted(intervals):
        if reach is None or start > reach:
            total += end - start
            reach = end
        elif end > reach:
            total += end - reach
            reach = end
    return total


def collectives(tasks):
    """connection -> (start, end) of the whole collective"""
    found = {}
    for task in tasks:
        if task["kind"] == COLLECTIVE:
            start, end = found.get(task["connection"], (task["start_ns"], 0))
            found[task["connection"]] = (min(start, task["start_ns"]), max(end, task["end_ns"]))
    return found


def check_join(judge, report, tasks, inside):
    join = report["join"]
    ops = collectives(inside)
    judge.equal("device tasks of the session", len(inside) + len(ops), join["tasks"])
    judge.equal("device tasks before it", len(tasks) + len(collectives(tasks)) - len(inside) - len(ops),
                join["tasks_outside_session"])
    judge.equal("joined", len(inside) + len(ops), join["matched"])
    # The first time that a call ends in a tail call, its end is not seen, nor the calls inside it.
    unknown = sum(row.get("end_unknown", 0) for row in report["api"])
    judge.within("launching calls without a task", unknown / 2, unknown / 2, join["unmatched_launches"])
    judge.equal("tasks without a call", 0, join["unmatched_tasks"])
    judge.equal("ambiguous", 0, join["ambiguous"])
    judge.equal("launching calls", len(inside) - 2 * len(ops), join["launches"] - join["unmatched_launches"])
    judge.equal("how they were joined", "numbers of stream and task", join["method"])


def check_host_join(judge, report, inside):
    judge.equal("joined", len(inside) + len(collectives(inside)), report["join"]["matched"])
    judge.equal("ambiguous", 0, report["join"]["ambiguous"])
    judge.equal("how they were joined", "enqueue instant within the call", report["join"]["method"])


def check_each_join(judge, events, start_ns, inside, error_ns):
    """Checks each arrow of the export: from the sending call to its task, at the time of the task."""
    calls, starts, ends = {}, {}, {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in ("launch", "copy", "collective", "event"):
            calls[(event["tid"], event["ts"])] = event
        elif event.get("cat") == "root":
            continue  # an arrow from the thread that another one waited for
        elif event.get("ph") == "s":
            starts[event["id"]] = event
        elif event.get("ph") == "f":
            ends.setdefault(event["id"], []).append(event)
    # The times of sending; a whole collective counts as sent with its first part.
    sent = {}
    for task in inside:
        sent.setdefault(task["tid"], []).append((task["sent_ns"], task["start_ns"]))
    for connection, (begin, _) in collectives(inside).items():
        first = min((t for t in inside if t["connection"] == connection), key=lambda t: t["sent_ns"])
        sent[first["tid"]].append((first["sent_ns"], begin))
    for by_thread in sent.values():
        by_thread.sort()
    right = wrong = nowhere = worst = 0
    arrows = {}
    for number, start in starts.items():
        arrows.setdefault((start["tid"], start["ts"]), []).extend(ends.get(number, []))
    for place, arrived in arrows.items():
        call = calls.get(place)
        if not call:
            nowhere += len(arrived)
            continue
        from_ns = start_ns + round(call["ts"] * 1000)
        by_thread = sent.get(call["tid"], [])
        low = bisect.bisect_left(by_thread, (from_ns - 1, 0))
        high = bisect.bisect_right(by_thread, (from_ns + round(call["dur"] * 1000) + 1, 0))
        known = sorted(ran for _, ran in by_thread[low:high])
        found = sorted(start_ns + round(end["ts"] * 1000) for end in arrived)
        off = [abs(a - b) for a, b in zip(known, found)]
        worst = max([worst] + off)
        right += sum(ns <= error_ns + 1 for ns in off)
        wrong += sum(ns > error_ns + 1 for ns in off) + abs(len(known) - len(found))
    judge.equal("arrows from nowhere", 0, nowhere)
    judge.equal("arrows from a call to a task that it did not send, and missing ones", 0, wrong)
    judge.equal("arrows from the call that sent the task", sum(map(len, sent.values())), right)
    judge.say("start times", worst <= error_ns + 1, f"off by {worst} ns at most, stated {error_ns}")


def check_clock(judge, report, truth, inside):
    clock = report["join"]["clock"]
    span = max(t["start_ns"] for t in inside) - min(t["start_ns"] for t in inside)
    if clock.get("error_ns") is None:
        judge.say("too few clock snapshots to state an error", "correction_ppb" not in clock, "taken for 1 us")
        return 1000 + ROUNDING_NS
    # The uncertainty of the drift, from an offset known to +- error at both ends.
    room = 2 * clock["error_ns"] / span * 1e9
    if "correction_ppb" in clock:
        judge.within("drift of the device's clock, ppb", -truth["clock"]["ppm"] * 1000, room, clock["correction_ppb"])
    else:
        judge.within("drift of a clock that was believed, ppb", 0, room, truth["clock"]["ppm"] * 1000)
    judge.equal("tasks before their launch", 0, clock["before_enqueue"])
    return clock["error_ns"] + ROUNDING_NS


def check_device(judge, report, tasks, inside, start_ns, error_ns):
    device = report["devices"][0]
    intervals = [(t["start_ns"], t["end_ns"]) for t in inside if t["kind"] in BUSY_KINDS]
    ops = list(collectives(inside).values())
    busy = union(intervals + ops)
    # Tasks before the session show that the device was idle when the session began.
    window = max(e for _, e in intervals + ops) - max(start_ns, min(t["start_ns"] for t in tasks))
    # The device's intervals are rounded to ticks of the counter.
    rounding = 25 * len(inside) + 2 * error_ns / 10
    judge.within("busy time", busy, rounding, device["busy_ns"])
    judge.within("idle time", window - busy, rounding + 2 * error_ns, device["idle_ns"])
    judge.within("communication", union(ops), rounding, device["communication_ns"])
    names = {}
    for task in inside:
        if task["kind"] in (KERNEL, AICPU):
            names.setdefault(task["name"], []).append(task["end_ns"] - task["start_ns"])
    found = {row["name"]: row for row in report["operators"]}
    for name, durations in names.items():
        judge.equal(f"operator {name}", len(durations), found.get(name, {}).get("count", 0))
        judge.within("its time", sum(durations), 25 * len(durations) + sum(durations) * 1e-3, found[name]["total_ns"])
    if not ops:
        return
    operation = [row for row in report["communication"]["operations"] if row["name"].startswith("hcom_allReduce")]
    judge.equal("collectives", len(ops), sum(row["count"] for row in operation))
    judge.within("their time", sum(e - s for s, e in ops), 30 * len(ops) + 1e5,
                 sum(row["total_ns"] for row in operation))


def check_steps(judge, report, inside):
    marks = sorted((t["end_ns"], t["tag"]) for t in inside if t["kind"] == MARK)
    fp, bp, steps = None, None, []
    for ts, tag in marks:
        if tag == TRACE_FP:
            fp = ts
        elif tag == TRACE_BP:
            bp = ts
        elif fp and bp:
            steps.append((bp - fp, ts - bp))
    if not marks:
        return
    rows = report["steps"]["rows"]
    judge.equal("steps", len(steps), len(rows))
    off = max((max(abs(row["fp_bp_ns"] - fp_bp), abs(row["tail_ns"] - tail))
               for row, (fp_bp, tail) in zip(rows, steps)), default=0)
    judge.say("their passes and tails", off <= 5000, f"off by {off} ns at most")


def check_queue(judge, truth, events, start_ns):
    found = [event["args"]["count"] for event in sorted(
        (e for e in events if e.get("ph") == "X" and e["name"] == "acltdtQueryChannelSize"),
        key=lambda e: e["ts"])]
    if not truth["queries"]:
        return
    known = [size for ns, size in truth["queries"]][-len(found):]
    judge.say("sizes of the queue", known == found and len(found) > 0, f"{len(found)} of {len(truth['queries'])} queries")


def main(truth_path, report_path, chrome_path, by="numbers"):
    with open(truth_path) as file:
        truth = json.load(file)
    with open(report_path) as file:
        report = json.load(file)
    with open(chrome_path) as file:
        events = json.load(file)
    judge = Judge()
    start_ns = report["trace"]["start_ns"]
    inside = [task for task in truth["tasks"] if task["sent_ns"] >= start_ns]
    error_ns = check_clock(judge, report, truth, inside)
    if by == "host":
        connected = [task for task in inside if task["connection"]]
        check_host_join(judge, report, connected)
        check_each_join(judge, events, start_ns, connected, error_ns)
    else:
        check_join(judge, report, truth["tasks"], inside)
        check_each_join(judge, events, start_ns, inside, error_ns)
    check_device(judge, report, truth["tasks"], inside, start_ns, error_ns)
    check_steps(judge, report, inside)
    check_queue(judge, truth, events, start_ns)
    return 1 if judge.wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
