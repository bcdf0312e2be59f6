#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the CPU use of MindData's operators in reports with the kernel's and MindSpore's own.

usage: minddata_agree.py windows FILE FROM_NS SESSION_NS       prints "from to windows" of a report
       minddata_agree.py sampler REPORT FILE FROM_NS TO_NS     FILE: minddata_cpu_utilization_0.json
       minddata_agree.py schedstat REPORT BEFORE AFTER TICK_NS (two outputs of thread_times.py)

MindSpore's sampler: of its windows the first three, in which operators appear late, and the last,
after which they are gone, don't count. It cuts user and system time to whole percents, each for
itself, and is one point too low for that. Figures are of the operators' own threads, for it
knows no others. Ends with status 1 if an operator is off by more than 2 points of MindSpore's
sampler, or by more than 1 % and a tick of each of its threads of the kernel's figure.
"""
import json
import sys

SKIP_FIRST = 3
SKIP_LAST = 1
POINTS = 2.0
PERCENT = 1.0
SWITCH_NS = 2000


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def windows(path, from_ns, session_ns):
    stamps = load(path)["time_stamp"]
    usable = [i for i in range(SKIP_FIRST, len(stamps) - SKIP_LAST)
              if stamps[i] * 1000000 >= from_ns and stamps[i - 1] * 1000000 >= from_ns]
    begin, end = stamps[usable[0] - 1] * 1000000, stamps[usable[-1]] * 1000000
    print(begin - session_ns, end - session_ns, len(usable), begin, end)


def operators(path):
    return {op["id"]: op for op in load(path)["pipeline"][0]["operators"] if not op["in_trainer"]}


def sampler(report, path, from_ns, to_ns):
    theirs = load(path)
    stamps = theirs["time_stamp"]
    rows = [i for i in range(1, len(stamps)) if stamps[i - 1] * 1000000 >= from_ns and stamps[i] * 1000000 <= to_ns]
    wrong = 0
    print(f"{'operator':<18}{'MindSpore %':>12}{'+1, cut off':>12}{'profbpf %':>12}{'difference':>12}")
    ours = operators(report)
    for op in theirs["op_info"]:
        if op["op_id"] not in ours:
            continue
        metrics = op["metrics"]
        mean = sum(metrics["user_utilization"][i] + metrics["sys_utilization"][i] for i in rows) / len(rows)
        mine = ours[op["op_id"]]
        difference = mine["utilization_percent"] - (mean + 1)
        wrong += abs(difference) > POINTS
        print(f"{mine['name']:<18}{mean:>12.2f}{mean + 1:>12.2f}{mine['utilization_percent']:>12.2f}{difference:>12.2f}")
    return wrong


def schedstat(report, before, after, tick_ns):
    first, last = load(before)["threads"], load(after)["threads"]
    # Stolen time, unknown time from contradicting records and the switches themselves, which the kernel partly
    # counts for the leaving thread, may be counted on either side.
    open_ns = {str(t["tid"]): t.get("stolen_ns", 0) + t.get("unknown_ns", 0) + SWITCH_NS
               * (t.get("voluntary_switches", 0) + t.get("involuntary_switches", 0))
               for process in load(report)["processes"] for t in process.get("threads", [])}
    # All threads were read within this time, and may have run in it; the kernel's sums of a thread with missing
    # switches lie between two readings, whose distance depends on the load of the machine.
    reading_ns = (load(before)["took_ns"] + load(after)["took_ns"]) / 2
    rows = load(report).get("host", {}).get("series", {}).get("rows", [])
    summed_ns = 2 * max((row[1] for row in rows), default=0)
    summed = {str(t["tid"]) for process in load(report)["processes"] for t in process.get("threads", [])
              if t.get("source") == "accounts"}
    wrong = 0
    print(f"{'operator':<18}{'schedstat ms':>13}{'profbpf ms':>12}{'off by ms':>11}{'allowed ms':>11}")
    for op in operators(report).values():
        tids = [str(t["tid"]) for t in op["threads"] if not t["descendant"]]
        known = [t for t in tids if t in first and t in last]
        truth = sum(last[t] - first[t] for t in known)
        # The kernel's figure of a running thread is as old as the last tick, in both readings.
        allowed = max(truth * PERCENT / 100, tick_ns * len(known)) + sum(open_ns.get(t, 0) for t in known)
        allowed += sum(reading_ns + (summed_ns if t in summed else 0) for t in known)
        off = op["run_ns"] - truth
        wrong += abs(off) > allowed or len(known) != len(tids)
        print(f"{op['name']:<18}{truth / 1e6:>13.2f}{op['run_ns'] / 1e6:>12.2f}{off / 1e6:>11.3f}{allowed / 1e6:>11.3f}")
    return wrong


command, *arguments = sys.argv[1:]
if command == "windows":
    windows(arguments[0], int(arguments[1]), int(arguments[2]))
elif command == "sampler":
    sys.exit(min(sampler(arguments[0], arguments[1], int(arguments[2]), int(arguments[3])), 1))
elif command == "schedstat":
    sys.exit(min(schedstat(arguments[0], arguments[1], arguments[2], int(arguments[3])), 1))
else:
    sys.exit(__doc__)
