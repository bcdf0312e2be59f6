#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints one page with the results of a run of the kit: failed and skipped checks, their subjects, and figures.

usage: summary.py OUT SECONDS [dry]
"""
import collections
import datetime
import os
import sys

LINES = 66


def read_results(out):
    try:
        with open(os.path.join(out, "results.tsv"), encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n").split("\t", 3) for line in file if line.count("\t") >= 3]
    except OSError:
        return []


def short(text, width=150):
    return text if len(text) <= width else text[:width - 3] + "..."


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    results = read_results(sys.argv[1])
    by_part = collections.OrderedDict()
    for part, verdict, _, _ in results:
        by_part.setdefault(part, collections.Counter())[verdict] += 1
    head = ["%s, %s, %s s" % ("DRY RUN, NO GPU: not one figure is of a GPU" if "dry" in sys.argv[3:] else "profbpf on a GPU",
                              datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), sys.argv[2])]
    head += ["  %-14s %s" % (check, short(text)) for part, verdict, check, text in results
             if part == "environment" and check in ("GPU", "kernel", "system", "tracing", "probes", "nvcc", "PyTorch")]
    head += ["", "part            pass fail skip"]
    head += ["%-15s %4d %4d %4d" % (part, count["pass"], count["fail"], count["skip"]) for part, count in by_part.items()]
    body = []
    for verdict, title in (("fail", "What is not as it should be"), ("skip", "What was left out"), ("note", "Figures")):
        rows = ["  %s, %s: %s" % (part, check, short(text)) for part, kind, check, text in results
                if kind == verdict and (verdict != "note" or part != "environment")]
        if rows:
            body += ["", title] + rows
    room = LINES - len(head)
    if len(body) > room:
        body = body[:room - 1] + ["  ... %d more lines: results.tsv" % (len(body) - room + 1)]
    print("\n".join(head + body))


if __name__ == "__main__":
    main()
