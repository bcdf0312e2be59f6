#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters in timelines of msprof: events "C" as its assemblers write them (hbm, llc, hccs, npu_mem, freq, acc_pmu).

    tests/foreign/counters.py ANALYZER FOLDER
"""
import json
import random

import sums

PID, START = 4321, 1700000000000000
SERIES = [("HBM 0/Read", "Read(MB/s)"), ("HBM 0/Write", "Write(MB/s)"), ("LLC 1 Read/Hit Rate", "Hit Rate(%)"),
          ("LLC 1 Read/Throughput", "Throughput(MB/s)"), ("Tx", "Tx(MB/s)"), ("Rx", "Rx(MB/s)"), ("APP/HBM", "KB"),
          ("Acc PMU 2", "value"), ("PCIe_post", "Tx"), ("PCIe_post", "Rx"), ("AI Core Freq", "MHz")]


def number(index, device):
    return PID << 10 | index << 5 | device


def timeline(devices, name):
    events = []
    for device in devices:
        events.append({"name": "process_name", "pid": number(13, device), "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}})
        events += [{"name": "MatMul", "pid": number(13, device), "tid": 2, "ts": "%d.250" % (START + i * 100), "dur": 40.5, "ph": "X",
                    "args": {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": i}} for i in range(4)]
        for place, (counter, series) in enumerate(SERIES):
            pid = number(20 + place % 3, device)
            for i in range(50):
                value = round(random.uniform(0, 1000), 3) if series != "MHz" else random.choice((800, 1650, 1850))
                events.append({"name": counter, "pid": pid, "tid": 0, "ts": "%d.125" % (START + i * 20), "ph": "C",
                               "args": {series: value if i % 2 else str(value)}})
    # Counters of an unknown form are reported, and values that are no numbers are left out.
    events.append({"name": "New", "pid": number(25, devices[0]), "tid": 0, "ts": "%d.0" % START, "ph": "C", "args": {"other": 1}})
    events.append({"name": "Tx", "pid": number(21, devices[0]), "tid": 0, "ts": "%d.0" % START, "ph": "C", "args": {"Tx(MB/s)": "N/A"}})
    path = sums.path(name, "msprof_20240102030405.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(events, out)
    return path, events


def wanted(events, device):
    samples = {}
    for event in events:
        if event["ph"] == "C" and event["pid"] & 31 == device:
            for series, value in event["args"].items():
                if value != "N/A" and series != "other":
                    samples.setdefault((event["name"], series), []).append(float(value))
    facts = {}
    for (name, series), values in samples.items():
        part, unit = (series[:-1].split("(") if "(" in series else (series, "")) if series not in ("KB", "MHz", "value") else ("", series)
        unit = "" if unit == "value" else unit
        name += "" if name.endswith(part) else " " + part
        if unit != "MHz":
            facts[name + ", mean"] = (unit, round(sum(values) / len(values), 3))
        facts[name + ", minimum"] = (unit, min(values))
        facts[name + ", maximum"] = (unit, max(values))
    return facts


random.seed(20)
for devices, name in ([0], "one"), ([1, 3], "two"):
    file, made = timeline(devices, name)
    report = sums.report(file)
    for device in devices:
        found = {row["name"]: (row.get("unit", ""), round(row["value"], 3)) for row in report["device_facts"]
                 if row["topic"] == "counters" and row.get("device") == device}
        sums.same("%s: counters of device %d" % (name, device), found, wanted(made, device))
    sums.same(name + ": devices", [one["id"] for one in report["devices"]], devices)
    sums.same(name + ": what is not known", "counters of no known form" in sums.analyzer("info", "--device", file), True)
sums.end()
