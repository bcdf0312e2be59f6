#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Begin and end of the forward and backward pass, by options and by the environment variables of Ascend's documents.

    tests/foreign/passes.py ANALYZER FOLDER
"""
import os
import random

import sums

BASE = 1700000000000000
random.seed(5)


def make():
    """Steps of four operators and a collective; times in ns since BASE."""
    steps, at = [], 1000000
    for _ in range(7):
        at += random.randrange(100000, 900000)
        rows = []
        for name, kind in (("Default/Conv2D-op1", "AI_CORE"), ("Default/MatMul-op2", "AI_CORE"), ("Gradients/MatMul-op3", "AI_CORE"),
                           ("hcom_allReduce__1", "COMMUNICATION"), ("Default/Adam-op4", "AI_CORE")):
            length = random.randrange(10000, 90000)
            rows.append((name, kind, at, length))
            at += length + random.randrange(1, 5000)
        steps.append(rows)
    with open(sums.path("op_summary_1.csv"), "w", encoding="utf-8") as file:
        file.write("Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n")
        for number, (name, kind, start, length) in enumerate(row for rows in steps for row in rows):
            file.write("0,%d,2,%s,%s,%s,%d.%03d,%d.%03d\n" % (number, name, name.split("/")[-1].split("-")[0], kind, BASE + start // 1000,
                                                             start % 1000, length // 1000, length % 1000))
    return steps


def wanted(steps, first, last):
    """(duration, gap, forward and backward pass, tail) of each step except the last and the first, whose gap is unknown."""
    flat = [row for rows in steps for row in rows]
    begins = [at for at, row in enumerate(flat) if row[0] == first] + [len(flat)]
    found, before = [], None
    for start, stop in zip(begins, begins[1:]):
        rows = flat[start:stop]
        end = max(row[2] + row[3] for row in rows)
        back = max(row[2] + row[3] for row in rows if row[0] == last)
        if before is not None:
            found.append((end - before, rows[0][2] - before, back - rows[0][2], end - back))
        before = end
    return found


def check(what, steps, first, last, *options, **environment):
    os.environ.update(environment)
    rows = sums.json.loads(sums.analyzer("report", "--format", "json", "--top", 0, "--device", sums.path("op_summary_1.csv"),
                                         *options))["steps"]["devices"][0]["rows"]
    for name in environment:
        del os.environ[name]
    keys = "duration_ns", "iteration_interval_ns", "fp_bp_ns", "tail_ns"
    sums.same(what, [tuple(row[key] for key in keys) for row in rows[1:]], wanted(steps, first, last))


STEPS = make()
CONV, ONE, GRADIENT = "Default/Conv2D-op1", "Default/MatMul-op2", "Gradients/MatMul-op3"
check("by options", STEPS, CONV, GRADIENT, "--fp-point", CONV, "--bp-point", GRADIENT)
check("by the environment", STEPS, ONE, GRADIENT, PROFILING_FP_START=ONE, PROFILING_BP_END=GRADIENT)
check("by its older names", STEPS, ONE, GRADIENT, FP_POINT=ONE, BP_POINT=GRADIENT)
check("options before it", STEPS, CONV, ONE, "--fp-point", CONV, "--bp-point", ONE, PROFILING_FP_START=ONE, PROFILING_BP_END=GRADIENT)
check("newer names before older ones", STEPS, CONV, ONE, PROFILING_FP_START=CONV, PROFILING_BP_END=ONE, FP_POINT=ONE, BP_POINT=GRADIENT)
sums.end()
