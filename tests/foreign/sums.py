# SPDX-License-Identifier: Apache-2.0
"""Functions that the scripts in this folder share.

Each script makes files with another profiler's schema, computes sums from its own data (with SQL or Python, without
any code of the analyzer), and compares them with the analyzer's figures.
"""
import json
import os
import subprocess
import sys

differences = []


def analyzer(*arguments, status=0):
    """The output of `analyzer ARGUMENTS`."""
    run = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True, check=False)
    if run.returncode != status:
        sys.exit("analyzer %s: exit status %d, not %d: %s"
                 % (" ".join(map(str, arguments)), run.returncode, status, run.stderr))
    return run.stdout if status == 0 else run.stderr


def report(*paths):
    """The JSON report of device files."""
    arguments = [word for path in paths for word in ("--device", path)]
    return json.loads(analyzer("report", "--format", "json", "--top", 0, *arguments))


def path(*names):
    """A path in the folder that the script may write to; missing parent folders are created."""
    whole = os.path.join(sys.argv[2], *names)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    return whole


def union(intervals):
    """Half-open intervals, merged."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > start:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in union(intervals))


def common(one, other):
    """The time that both lists of intervals have in common."""
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in union(one) for b in union(other))


def same(what, found, wanted):
    if found != wanted:
        differences.append(what)
        print("%s: %s, and should be %s" % (what, found, wanted))


def end():
    """The last line of each script."""
    sys.exit(1 if differences else 0)
