#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_package.py TRACE REPORT: compares the Python package's tables, frames and queries with the JSON report."""

import json
import os
import sys

import pyarrow

import profbpf

trace_path, report_path = sys.argv[1:]
with open(report_path, encoding="utf-8") as file:
    report = json.load(file)

with profbpf.open(trace_path) as trace:
    calls = trace.table("api")
    assert isinstance(calls, pyarrow.Table)
    assert sum(calls["total_ns"].to_pylist()) == sum(row["total_ns"] for row in report["api"]) > 0
    assert calls.schema.field("total_ns").type in (pyarrow.int64(), pyarrow.uint64()), calls.schema

    frame = trace.frame("calls")
    assert len(frame) == len(trace.table("calls"))
    assert str(frame["argument1"].dtype) in ("Int64", "UInt64"), frame.dtypes

    asked = trace.query("select count(*) as calls, max(end_ns) as last from calls")
    assert asked["calls"][0] == len(frame), asked
    assert asked["last"][0] == frame["end_ns"].max(), asked

    assert trace.report()["verdict"] == report["verdict"]
    assert "verdict" in trace.report(sections=["verdict"])
    assert "api" not in trace.report(sections=["verdict"])
    meanings = trace.tables()
    assert "calls" in meanings and meanings["calls"]
    folder = trace._folder.name
    assert os.path.isdir(folder)
assert not os.path.exists(folder), "close() leaves tables behind"

half = profbpf.open(trace_path, start="10ms", end="20ms")
assert half.report()["trace"]["window"]["duration_ns"] == 10_000_000, half.report()["trace"]


def refused(error, call, word):
    try:
        call()
    except error as reason:
        assert word in str(reason), reason
        return
    raise AssertionError(f"no {error.__name__} that says {word}")


refused(ValueError, profbpf.open, "which recording")
refused(profbpf.AnalyzerError, profbpf.open("/no/such.pbt").report, "/no/such.pbt")
with profbpf.open(trace_path) as trace:
    nobody = trace.query("select thread, start_ns as \"begins, ns\" from calls where 0")
    assert list(nobody.columns) == ["thread", "begins, ns"] and len(nobody) == 0, nobody
refused(profbpf.AnalyzerError, lambda: profbpf.open(trace_path).query("select nothing"), "nothing")
refused(profbpf.AnalyzerError, profbpf.open(trace_path, analyzer="/no/analyzer").report, "/no/analyzer")
refused(KeyError, lambda: profbpf.open(trace_path).table("nonsense"), "nonsense")
print("the same in tables, frames, queries and the report")
