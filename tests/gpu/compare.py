#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a recording with known values, and prints verdicts (figures.py).

usage: compare.py known TRUTH TASKS [REPORT]    known.cu's counts and times
       compare.py kineto OURS THEIRS [THEIRS2]  two runs of one training: tasks by name, and their times
       compare.py attached STEPS TASKS [BEGIN END [LOST]]
                                                known.cu's steps: after the first task only steps are missing that
                                                the recording itself counts as lost
       compare.py cost STEPS WINDOWS            median step time in each kind of window; WINDOWS: lines "NAME BEGIN END"
       compare.py plant NAME REPORT             the first causes in a report beside the planted fault
       compare.py nccl JOB REPORT TASKS         collectives

TASKS is a folder of `analyzer export --to csv` or a file of stream_dump; REPORT is `analyzer report --format
json`; OURS and THEIRS are "TASKS[:JOB]": with JOB, the output of the training, only tasks between its begin and end
count. Exit status 1: a check failed.
"""
import sys

import figures
from figures import by_name, busy_tasks, load_json, load_tasks, percent_off, within

PERCENT = 1  # tolerance of a time
# A kernel's events lie in the stream beside it: the device's time from one to the next.
EVENT_SLACK_NS = 10000
# The causes that may come first, by planted fault.
PLANTED = {
    "loader": {"sleep", "pipeline"},
    "copy": {"runtime", "device_wait", "driver", "user_code", "page_fault", "busy: copies"},
    "tiny": {"runtime", "driver", "user_code", "device_wait"},
    "sync": {"device_wait", "runtime", "driver", "user_code"},
    "item": {"device_wait", "runtime", "driver", "user_code"},
    "thief": {"runnable"},
    "gil": {"lock"},
}


# ---- known.cu

def known_counts(truth, tasks, verdicts):
    found = by_name(tasks)
    for kernel, count in truth["kernels"].items():
        verdicts.equal("launches of " + kernel, count, found.get(kernel, [0])[0])
    for move, count in truth["moves"].items():
        verdicts.equal(move, count, found.get(move, [0])[0])
    strangers = set(found) - set(truth["kernels"]) - set(truth["moves"])
    verdicts.judge("nothing else on the device", not strangers, ", ".join(sorted(strangers)) or "nothing")
    verdicts.equal("bytes copied", truth["copied_bytes"], sum(task.bytes for task in tasks if task.kind == "copy"))
    verdicts.note("waits", "%d records; %d calls that wait" % (len(tasks) - len(busy_tasks(tasks)),
                                                              sum(truth["syncs"].values())))


def known_times(truth, tasks, verdicts):
    """The times of the second of two kernels: the first keeps the stream busy, the second is measured."""
    spins = sorted((task for task in tasks if "known_spin" in task.name), key=lambda task: task.start)[1::2]
    if not verdicts.equal("measured kernels", len(truth["spins"]), len(spins)):
        return
    off_event, off_device, outside = [], [], []
    for spin, task in zip(truth["spins"], spins):
        took = task.end - task.start
        off_event.append(max(0, abs(took - spin["event_ns"]) - EVENT_SLACK_NS) * 100 / spin["event_ns"])
        off_device.append(percent_off(spin["device_ns"], took))
        outside.append(max(0, spin["before_ns"] - task.start, task.end - spin["after_ns"]))
    # The host may lose its CPU between an event and the kernel: the events' time includes that.
    off = figures.median(off_event)
    verdicts.judge("times against cudaEvents", off <= PERCENT,
                   "%.3f %% off beyond %d us, the median; at most %.3f" % (off, EVENT_SLACK_NS / 1000, max(off_event)))
    verdicts.judge("times against the device's own timer", max(off_device) <= PERCENT,
                   "at most %.3f %% off" % max(off_device))
    return max(outside, default=0)


def known_joins(truth, report, verdicts):
    join = report["join"]
    verdicts.equal("tasks joined to their call", join["tasks"], join["matched"])
    verdicts.equal("tasks without a call, in doubt", [0, 0], [join["unmatched_tasks"], join["ambiguous"]])
    verdicts.equal("launching calls without a task: those captured into graphs", truth["captured"],
                   join["unmatched_launches"])
    called = {}
    for row in report["api"]:
        called[row["function"]] = called.get(row["function"], 0) + row["count"]
    expected = dict(truth["calls"])
    expected["cudaLaunchKernel"] += truth["captured"]
    for function, count in expected.items():
        verdicts.equal("calls of " + function, count, called.get(function, 0))


def known_clock(report, outside, verdicts):
    clock = report["join"].get("clock", {})
    verdicts.note("clock", "%s, %s; offset %s ns, drift %s ppb, error +-%s ns" % (
        clock.get("clock"), clock.get("method"), clock.get("offset_ns"), clock.get("drift_ppb"), clock.get("error_ns")))
    stated = clock.get("error_ns")
    verdicts.judge("the clock's error is stated", stated is not None, "unknown" if stated is None else "+-%d ns" % stated)
    verdicts.equal("tasks before their call, by the clock as declared", [0, 0],
                   [clock.get("before_enqueue", 0), clock.get("negative_launch_delays", 0)])
    # A bound that is not stated cannot be checked.
    if outside is not None and stated is None:
        verdicts.note("outside of the host's instants", "%d ns; no error is stated" % outside)
    elif outside is not None:
        verdicts.judge("the clock's error is kept", outside <= stated,
                       "a kernel lies %d ns outside of its instants, stated is %d" % (outside, stated))


def idle_sums(report, verdicts):
    wrong = [device["name"] for device in report["devices"] if "busy_ns" in device and
             device["busy_ns"] + device["idle_ns"] != device["window_ns"]]
    verdicts.judge("busy and idle are the whole", report["devices"] and not wrong, ", ".join(wrong) or "exactly")
    idle = report["idle"]
    verdicts.equal("idle time by cause", idle["total_ns"], sum(cause["ns"] for cause in idle["causes"]))
    verdicts.equal("idle time of all devices", idle["total_ns"],
                   sum(device.get("idle_ns", 0) for device in report["devices"]))
    wrong = [gap for gap in idle["gaps"] if sum(part["ns"] for part in gap["parts"]) != gap["duration_ns"]]
    verdicts.equal("gaps whose parts do not add up", 0, len(wrong))


def books(report, verdicts):
    for source in report["capture"]["sources"]:
        if source["name"] in ("api", "device"):
            verdicts.judge("nothing lost of " + source["name"], source["adds_up"] and source["lost"] == 0,
                           "%d produced, %d lost %s" % (source["produced"], source["lost"], source.get("lost_by") or ""))


def known(truth_path, tasks_path, report_path=None):
    verdicts = figures.Verdicts()
    truth, tasks = load_json(truth_path), load_tasks(tasks_path)
    known_counts(truth, tasks, verdicts)
    outside = known_times(truth, tasks, verdicts)
    if report_path:
        report = load_json(report_path)
        books(report, verdicts)
        known_joins(truth, report, verdicts)
        known_clock(report, outside, verdicts)
        idle_sums(report, verdicts)
    else:
        counts = figures.dumped_tasks(tasks_path)[1]
        verdicts.judge("nothing lost of device", counts and counts["lost"] + counts["untimed"] == 0, counts)
        verdicts.equal("tasks with their call", len(tasks), sum(task.called for task in tasks))
        early = [task for task in busy_tasks(tasks) if task.start < task.enqueue]
        verdicts.equal("tasks before their call", 0, len(early))
        if outside is not None:
            verdicts.note("outside of the host's instants", "%d ns" % outside)
    return verdicts


# ---- Two runs of a training

def run_tasks(word):
    path, _, job = word.partition(":")
    tasks = busy_tasks(load_tasks(path))
    if job:
        told = load_json(job)
        # Tasks that are submitted in the window also end in it: the training waits for the device at both ends.
        tasks = within(tasks, told["begin_ns"], told["end_ns"])
    return tasks


def spread_percent(first, second):
    return percent_off(sum(total for _, total in first.values()), sum(total for _, total in second.values()))


def kineto(ours_word, theirs_word, again_word=None):
    verdicts = figures.Verdicts()
    ours, theirs = by_name(run_tasks(ours_word)), by_name(run_tasks(theirs_word))
    count = lambda table: {name: entry[0] for name, entry in table.items()}
    verdicts.judge("there are tasks", bool(theirs), "%d of %d names" % (sum(count(theirs).values()), len(theirs)))
    verdicts.equal("tasks in all", sum(count(theirs).values()), sum(count(ours).values()))
    differ = {name: (count(ours).get(name, 0), count(theirs).get(name, 0)) for name in set(ours) | set(theirs)
              if count(ours).get(name) != count(theirs).get(name)}
    verdicts.judge("tasks by name", not differ, "; ".join("%s: %d, Kineto has %d" % (name, *both)
                                                         for name, both in sorted(differ.items())[:5]) or "all equal")
    # A GPU may run faster the second time; Kineto's own two runs show by how much.
    noise = spread_percent(theirs, by_name(run_tasks(again_word))) if again_word else 0
    off = spread_percent(theirs, ours)
    verdicts.judge("device time in all", off <= max(PERCENT, noise),
                   "%.3f %% off; Kineto's two runs differ by %.3f %%" % (off, noise))
    large = sorted(set(ours) & set(theirs), key=lambda name: -theirs[name][1])[:5]
    verdicts.note("largest", "; ".join("%s %.1f and %.1f us" % (name, ours[name][1] / 1e3, theirs[name][1] / 1e3)
                                       for name in large))
    return verdicts


# ---- Steps

def attached(steps_path, tasks_path, begin="0", end=str(1 << 62), lost="0"):
    verdicts = figures.Verdicts()
    steps = load_json(steps_path)["steps"]
    kernels = sorted(task.start for task in load_tasks(tasks_path) if task.kind == "kernel" and task.start >= int(begin))
    if not verdicts.judge("device times came", bool(kernels), "%d kernels" % len(kernels)):
        return verdicts
    # The step in which the recording began is incomplete, and work after the end of the recording is not in it.
    whole = [step for step in steps if step[0] > kernels[0] and step[1] < int(end)]
    expected = sum(step[2] for step in whole)
    found = sum(whole[0][0] <= start <= whole[-1][1] for start in kernels) if whole else 0
    verdicts.judge("steps while it was attached", len(whole) > 0, "%d of %d" % (len(whole), len(steps)))
    if found < expected <= found + int(lost):
        verdicts.note("kernels of these steps", "%d of %d; %s tasks are counted as lost" % (found, expected, lost))
    else:
        verdicts.equal("kernels of these steps", expected, found)
    return verdicts


def read_windows(path):
    with open(path, encoding="utf-8") as file:
        return [(name, int(begin), int(end)) for name, begin, end in map(str.split, file)]


def cost(steps_path, windows_path):
    verdicts = figures.Verdicts()
    steps = load_json(steps_path)["steps"]
    taken = {}
    for name, begin, end in read_windows(windows_path):
        taken.setdefault(name, []).extend(step[1] - step[0] for step in steps if step[0] >= begin and step[1] <= end)
    base = None
    for name, times in taken.items():
        if not times:
            verdicts.say("fail", "step, " + name, "no step lies in its windows")
            continue
        middle = figures.median(times)
        base = middle if base is None else base
        verdicts.note("step, " + name, "%.1f us, median of %d (%+.2f %%)" % (middle / 1e3, len(times),
                                                                           (middle - base) * 100 / base))
    return verdicts


# ---- Plants

def first_causes(report, planted):
    """
    The causes as words, the largest first; before them "busy: copies", if mostly copies keep the device busy. Causes by
    other programs of the machine are left out, unless such a program was planted.
    """
    causes = {}
    for cause in report["idle"]["causes"]:
        if cause["cause"] in ("runnable", "irq") and "runnable" not in planted:
            continue
        causes[cause["cause"]] = causes.get(cause["cause"], 0) + cause["ns"]
    names = sorted(causes, key=causes.get, reverse=True)
    for device in report["devices"]:
        if device.get("copy_ns", 0) > device.get("compute_ns", 0):
            names.insert(0, "busy: copies")
    return names


def plant(name, report_path):
    verdicts = figures.Verdicts()
    report = load_json(report_path)
    causes = first_causes(report, PLANTED[name])
    verdicts.equal("tasks joined to their call", report["join"]["tasks"], report["join"]["matched"])
    verdicts.judge("planted: " + name, bool(PLANTED[name] & set(causes[:1])),
                   "first is %s; expected one of: %s" % (", ".join(causes[:3]), ", ".join(sorted(PLANTED[name]))))
    return verdicts


def nccl(job_path, report_path, tasks_path):
    verdicts = figures.Verdicts()
    job, report = load_json(job_path), load_json(report_path)
    called = sum(row["count"] for row in report["api"] if row["function"] == "ncclAllReduce")
    verdicts.equal("calls of ncclAllReduce", job["collectives"], called)
    found = [task for task in load_tasks(tasks_path) if "nccl" in task.name.lower()]
    verdicts.note("tasks of NCCL", "%d; one rank alone needs none" % len(found))
    return verdicts


COMMANDS = {"known": (known, 2, 3), "kineto": (kineto, 2, 3), "attached": (attached, 2, 5), "cost": (cost, 2, 2),
            "plant": (plant, 2, 2), "nccl": (nccl, 3, 3)}


def main():
    function, least, most = COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0, 0))
    if not function or not least <= len(sys.argv) - 2 <= most:
        sys.exit(__doc__)
    sys.exit(1 if function(*sys.argv[2:]).failed else 0)


if __name__ == "__main__":
    main()
