#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_fleet.py TRUTH REPORT: compares the answer of profbpf-fleet for a lake of make_lake.py with its plants.

Prints the shares of steps and the errors of clocks; fails where a holder is right in fewer than 98 % of planted steps, named in
more than 2 % of the others, or not for its reason; where a cost is wrong by more than a tenth and 1 ms; where a clock is wrong
by more than 20 us or 1 ppm (of 100 and 200 steps); and where the reported error is less than the real error for more
than one clock of 20.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    truth = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    report = json.load(file)
problems = []


def need(what, holds):
    if not holds:
        problems.append(what)


def fits(holder, plant):
    """Whether the holder is this plant, with its reason."""
    if plant["kind"] == "link":
        return holder["why"] == "link" and holder.get("communicator") == plant["communicator"]
    if plant["kind"] == "compute":
        return holder.get("rank") == plant["rank"] and holder["why"] == "compute" and holder.get("operator") == "MatMul"
    who = holder.get("rank") == plant["rank"] if "rank" in plant else holder.get("host") == "host%03d" % plant["host"] and "rank" not in holder
    return who and holder["why"] == ("data" if plant["cause"] == "pipeline" else "host") and holder["cause"] == plant["cause"]


def check_holders():
    named = {step: holder for holder in report["holders"] for first, last in holder["in_steps"] for step in range(first, last + 1)}
    planted = {int(step): [truth["holders"][n] for n in plants] for step, plants in truth["held"].items()}
    right = sum(step in named and any(fits(named[step], plant) for plant in plants) for step, plants in planted.items())
    made_up = sum(step not in planted for step in named)
    need(f"holder right in {right} of {len(planted)} planted steps", right >= 0.98 * len(planted))
    need(f"{made_up} steps held of which nothing was planted", made_up <= 0.02 * (truth["steps"] - len(planted)))
    for holder in report["holders"]:
        plants = [plant for plant in truth["holders"] if fits(holder, plant)]
        need(f"named, but not planted: {holder}", plants or holder["steps"] <= 0.02 * truth["steps"])
        for plant in plants:
            times = truth["transfers"].get(plant.get("communicator"), 1)
            need(f"{holder['held_ms_per_step']} ms of {plant}", abs(holder["held_ms_per_step"] - plant["ms"] * times) <= 0.1 * plant["ms"] * times + 1)
            length = min(plant.get("to", truth["steps"] - 1), truth["steps"] - 1) - plant.get("from", 0) + 1
            need(f"chronic, or not: {plant}", holder["chronic"] == (length >= truth["steps"] / 2))
    return f"{right} of {len(planted)} planted steps, {made_up} others named"


def check_clocks():
    found = {clock["rank"]: clock for clock in report["clocks"]}
    need(f"clocks of {len(found)} ranks of {truth['ranks']}", len(found) == truth["ranks"])
    offsets, drifts, beyond = [0], [0], 0
    for clock in truth["clocks"]:
        if clock["rank"] in found:
            ours = found[clock["rank"]]
            offsets.append(abs(ours["offset_ns"] - clock["offset_ns"]))
            drifts.append(abs(ours["drift_ppb"] - clock["drift_ppb"]) if truth["steps"] >= 200 else 0)
            beyond += offsets[-1] > ours["error_ns"] + 100
    need(f"an offset is wrong by {max(offsets) / 1e3:.1f} us", max(offsets) <= 20e3 or truth["steps"] < 100)
    need(f"a drift is wrong by {max(drifts) / 1e3:.3f} ppm", max(drifts) <= 1e3)
    need(f"{beyond} clocks are more wrong than is told", beyond <= 0.05 * len(found))
    return f"offsets within {max(offsets) / 1e3:.1f} us (median {sorted(offsets)[len(offsets) // 2] / 1e3:.1f}), {beyond} beyond what is told"


def check_findings():
    for plant in truth["plants"]:
        of_kind = [f for f in report["findings"] if f["kind"] == {"set": "clock_set", "late": "joined", "missing": "missing"}.get(plant["kind"])]
        if plant["kind"] == "set":
            need(f"not found: {plant}", any(abs(f["ns"] / 1e6 - plant["ms"]) < 1 and f["step"] == plant["step"] for f in of_kind))
        elif plant["kind"] in ("late", "missing"):
            need(f"not found: {plant}", any(plant["rank"] in f["ranks"] for f in of_kind))
    if not any(plant["kind"] == "set" for plant in truth["plants"]):
        need("a clock was set that was not", not [f for f in report["findings"] if f["kind"] == "clock_set"])


said = [check_holders(), check_clocks()]
check_findings()
print("; ".join(said))
sys.exit("\n".join(problems) if problems else 0)
