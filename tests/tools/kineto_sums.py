#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the device times of PyTorch traces with sums that this script computes itself.

    find FOLDER -name '*.json*' -print0 | tests/tools/kineto_sums.py ANALYZER

For each Kineto trace, it compares the number of tasks of each device and the device's busy time (the union of
the tasks' half-open intervals), from exact decimals, with `ANALYZER report`. Other files are skipped. Prints the
differences; the last line has the number of compared and of differing files. Exits with 1 if any differs.
"""
import decimal
import gzip
import json
import subprocess
import sys

TASKS = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"}


def nanoseconds(microseconds):
    """Exact nanoseconds; further digits are rounded half up."""
    exact = decimal.Decimal(microseconds) * 1000
    return int(exact.to_integral_value(decimal.ROUND_HALF_UP))


def busy_ns(intervals):
    total, reached = 0, None
    for start, end in sorted(intervals):
        if reached is None or start > reached:
            total, reached = total + end - start, end
        elif end > reached:
            total, reached = total + end - reached, end
    return total


def expected(path):
    """[[tasks, busy_ns], ...] of the devices, sorted; None if the file is no JSON with events."""
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            events = json.load(file, parse_float=str, parse_int=str)["traceEvents"]
    except (ValueError, KeyError, TypeError, OSError):
        return None
    devices = {}
    for event in events:
        if event.get("ph") == "X" and str(event.get("cat", "")).lower() in TASKS \
                and "ts" in event and "dur" in event:
            device = (event.get("args") or {}).get("device", event.get("pid"))
            start = nanoseconds(event["ts"])
            devices.setdefault(device, []).append((start, start + nanoseconds(event["dur"])))
    return sorted([len(tasks), busy_ns(tasks)] for tasks in devices.values())


def reported(analyzer, path):
    """The same from the analyzer; None if it does not recognise a PyTorch file."""
    run = subprocess.run([analyzer, "report", "--format", "json", "--top", "0", "--device", path],
                         capture_output=True, text=True, check=False)
    devices = json.loads(run.stdout)["devices"] if run.returncode == 0 else []
    if not any(device["source"] == "pytorch" for device in devices):
        return None
    return sorted([device["tasks"], device.get("busy_ns", 0)] for device in devices if device["tasks"])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compared = differ = 0
    for path in filter(None, sys.stdin.read().split("\0")):
        found = reported(sys.argv[1], path)
        if found is None:
            continue
        wanted = expected(path)
        compared += 1
        if found != wanted:
            differ += 1
            print("%s: tasks and busy ns are %s and should be %s" % (path, found, wanted))
    print(compared, differ)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
