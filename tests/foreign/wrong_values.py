#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values that a column cannot have: a row is left out and told, or what it does not say is unknown. Never a wrong figure.

    tests/foreign/wrong_values.py ANALYZER FOLDER
"""
import json

import sums


def odd(value, key=""):
    """Figures of a report that nothing can be."""
    if isinstance(value, dict):
        return [found for name, inner in value.items() for found in odd(inner, name)]
    if isinstance(value, list):
        return [found for inner in value for found in odd(inner, key)]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    wrong = value > 2 ** 63 or (key.endswith("_ns") and value < 0) or (key.endswith("percent") and not 0 <= value <= 100)
    return [(key, value)] if wrong else []


# Streams that are words are counted from behind those that are numbers; what has none has none.
events = [{"ph": "X", "cat": "gpu_kernel", "name": "gemm", "pid": "gpu0", "tid": tid, "ts": i * 100, "dur": 50} for i, tid in
          enumerate(("main", 7, "copies", "main", None))]
with open(sums.path("streams.json"), "w", encoding="utf-8") as out:
    json.dump({"traceEvents": events}, out)
found = sums.report(sums.path("streams.json"))
sums.same("streams: device", [one["id"] for one in found["devices"]], [0])
sums.same("streams: numbers and tasks", sorted((row.get("id", -1), row["tasks"]) for row in found["devices"][0]["streams"]),
          [(-1, 1), (7, 1), (8, 2), (9, 1)])
sums.same("streams: odd figures", odd(found), [])

# Of sums alone no time is known.
with open(sums.path("results.stats.csv"), "w", encoding="utf-8") as out:
    out.write('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"gemm",3,3000,1000,100.0\n')
sums.same("sums: no window", sums.report(sums.path("results.stats.csv"))["trace"]["window"], {})
sums.end()
