#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real profile of jax.profiler with six steps on a CPU, as XSpace and as JSON; and generated JSON with a TPU's operations.

    tests/foreign/jax.py ANALYZER FOLDER
"""
import collections
import gzip
import json
import os
import random

import sums

REAL = os.path.join(os.path.dirname(__file__), "../data/devices/jax/host.")


def fields(message):
    """(number, value) of each field of a message of protobuf."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        length = varint() if key & 7 == 2 else 8 if key & 7 == 1 else 4
        yield key >> 3, message[at:at + length]
        at += length


def names(plane, number):
    found = {}
    for field, entry in plane:
        if field == number:
            value = dict(fields(dict(fields(entry))[2]))
            found[value.get(1, 0)] = value.get(2, b"").decode()
    return found


def host_events():
    """(thread, name, start, end in ns, stats) of the host's plane."""
    with gzip.open(REAL + "xplane.pb.gz") as file:
        space = file.read()
    for _, message in fields(space):
        plane = list(fields(message))
        if dict(plane).get(2) != b"/host:CPU":
            continue
        kinds, stats = names(plane, 4), names(plane, 5)
        for number, line in plane:
            if number != 3:
                continue
            line = list(fields(line))
            begin = dict(line)[3]
            for field, event in line:
                if field == 4:
                    one = dict(fields(event))
                    told = {stats[dict(fields(value))[1]]: list(fields(value))[-1][1] for n, value in fields(event) if n == 4}
                    offset, length = one.get(2, 0), one.get(3, 0)
                    if length > 1:
                        yield dict(line)[1], kinds[one[1]], begin + (offset + 500) // 1000, begin + (offset + length + 500) // 1000, told


def json_events():
    with gzip.open(REAL + "trace.json.gz") as file:
        for event in json.load(file, parse_float=str)["traceEvents"]:
            if event.get("ph") == "X" and float(event["dur"]) > 1e-3:
                start, length = (round(float(event[key]) * 1000) for key in ("ts", "dur"))
                yield event["tid"], event["name"], start, start + length, event.get("args", {})


def kind(name, told):
    return "python" if name.startswith("$") else "operator" if "hlo_op" in told else "range"


def scopes(events):
    """(kind, count, total) by name, and (number, duration) of steps."""
    wanted, steps = collections.defaultdict(lambda: [None, 0, []]), []
    for thread, name, start, end, told in events:
        row = wanted[name]
        row[:2] = [kind(name, told), row[1] + 1]
        row[2].append((thread, start, end))
        if "step_num" in told:
            steps.append((int(told["step_num"]), end - start))
    return wanted, sorted(steps)


def total(spans):
    """The time of a name on its threads; nested events of the same name are not counted twice."""
    threads = collections.defaultdict(list)
    for thread, start, end in spans:
        threads[thread].append((start, end))
    return sum(sums.length(one) for one in threads.values())


def check_real(path, events):
    report = sums.report(REAL + path)
    wanted, steps = scopes(events)
    found = {row["name"]: [row["kind"], row["count"], row["total_ns"]] for row in report["host_scopes"]}
    for name, (of, count, spans) in wanted.items():
        sums.same("%s: %s" % (path, name), found.get(name), [of, count, total(spans)])
    sums.same(path + ": scopes", set(found), set(wanted))
    sums.same(path + ": steps", [(row["index"], row["duration_ns"]) for row in report["steps"]["rows"]], steps)
    sums.same(path + ": six of them", len(steps), 6)
    sums.same(path + ": no device", report["devices"], [])


def check_tpu():
    random.seed(4)
    events = [{"ph": "M", "name": "process_name", "pid": 3, "args": {"name": "/device:TPU:0"}}]
    for tid, name in (1, "Steps"), (2, "XLA Modules"), (3, "XLA Ops"):
        events.append({"ph": "M", "name": "thread_name", "pid": 3, "tid": tid, "args": {"name": name}})
    categories = {"fusion.1": "convolution fusion", "add.2": "loop fusion", "ar.3": "all-reduce", "copy.4": "data formatting"}
    wanted, at = collections.Counter(), 100
    for step in range(5):
        begin = at
        for name, category in categories.items():
            length = random.randrange(5, 90)
            events.append({"ph": "X", "pid": 3, "tid": 3, "name": name, "ts": at, "dur": length, "args": {"hlo_category": category}})
            wanted[category] += length * 1000
            at += length + random.randrange(1, 9)
        events.append({"ph": "X", "pid": 3, "tid": 1, "name": str(step), "ts": begin, "dur": at - begin})
        events.append({"ph": "X", "pid": 3, "tid": 2, "name": "jit_step", "ts": begin, "dur": at - begin})
    path = sums.path("tpu.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"displayTimeUnit": "ns", "traceEvents": events}, file)
    report = sums.report(path)
    sums.same("tpu: categories", {row["op_type"]: row["total_ns"] for row in report["operator_types"]}, dict(wanted))
    sums.same("tpu: communication", report["overlap"][0]["communication_ns"] if report["overlap"] else None, wanted["all-reduce"])
    sums.same("tpu: steps", [row["index"] for row in report["steps"]["devices"][0]["rows"]], list(range(5)))


check_real("xplane.pb.gz", list(host_events()))
check_real("trace.json.gz", list(json_events()))
check_tpu()
sums.end()
