#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the log of the stand-in for CUPTI (TRUTH_CUPTI_LOG) in Kineto's format.

usage: kineto_of_log.py LOG
"""
import json
import sys

CATEGORIES = {1: "kernel", 2: "gpu_memcpy", 3: "gpu_memset"}


def event(words):
    correlation, name, kind, _, stream, moved, start, end, _ = words
    category = CATEGORIES.get(int(kind))
    if not category:
        return None
    if category == "gpu_memcpy":
        name = name.replace("_", " ") + " (Pinned -> Device)"
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": int(stream, 16),
            "ts": int(start) // 1000 + int(start) % 1000 / 1000, "dur": (int(end) - int(start)) / 1000,
            "args": {"device": 0, "stream": int(stream, 16), "correlation": int(correlation), "bytes": int(moved)}}


def main():
    with open(sys.argv[1], encoding="ascii") as log:
        events = [event(line.split()[1:]) for line in log if line.startswith("task ")]
    json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Truth GPU 0"}],
               "traceEvents": [one for one in events if one]}, sys.stdout)


if __name__ == "__main__":
    main()
