#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_live.py TRUTH LOG ALERTS [--within SECONDS] [--share PERCENT] [--hang STEP:RANK]: compares the alerts of
profbpf-fleet watch and their times with the plants (make_lake.py) and their begin (replay_lake.py). Seconds are the
job's: seconds of this machine times the speed.
"""

import argparse
import datetime
import json
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("truth")
parser.add_argument("log")
parser.add_argument("alerts")
parser.add_argument("--within", type=float, default=15)
parser.add_argument("--share", type=float, default=95)
parser.add_argument("--hang")
parser.add_argument("--after", type=float, default=40, help="so many seconds after its end a plant may still be told")
options = parser.parse_args()
with open(options.truth, encoding="utf-8") as file:
    truth = json.load(file)
with open(options.log, encoding="utf-8") as file:
    log = json.load(file)
with open(options.alerts, encoding="utf-8") as file:
    alerts = [json.loads(line) for line in file]


def job_seconds(alert):
    return (datetime.datetime.fromisoformat(alert["at"]).timestamp() - log["began"]) * log["speed"]


def fits(alert, plant):
    """Whether the alert is for this plant, with its reason."""
    if alert["kind"] != "holder" or alert["state"] == "ends":
        return False
    if plant["kind"] == "link":
        return alert["why"] == "link" and alert.get("communicator") == plant["communicator"]
    who = alert.get("rank") == plant["rank"] if "rank" in plant else alert.get("host") == "host%03d" % plant["host"] and "rank" not in alert
    why = "compute" if plant["kind"] == "compute" else "data" if plant["cause"] == "pipeline" else "host"
    return who and alert["why"] == why and (plant["kind"] == "compute" or alert["cause"] == plant["cause"])


def begin_of(step):
    return log["steps"][str(step)]


delays, late, told = [], [], set()
for plant in truth["holders"]:
    began = begin_of(plant.get("from", 0))
    ended = begin_of(min(plant.get("to", truth["steps"] - 1), truth["steps"] - 1)) + options.after
    right = [n for n, alert in enumerate(alerts) if fits(alert, plant) and began <= job_seconds(alert) <= ended]
    told |= set(right)
    delays.append(job_seconds(alerts[right[0]]) - began if right else float("inf"))
    if delays[-1] > options.within:
        late.append((plant, delays[-1]))
if options.hang:
    step, rank = map(int, options.hang.split(":"))
    hangs = [alert for alert in alerts if alert["kind"] == "hang" and alert["state"] == "begins"]
    delays.append(job_seconds(hangs[0]) - begin_of(step) if hangs else float("inf"))
    if delays[-1] > options.within or len(hangs) != 1 or not any(alert.get("rank") == rank for alert in alerts if alert["kind"] == "hang"):
        late.append((options.hang, delays[-1], hangs))
# An alert during a plant, or shortly after it, may belong to it (with another reason at first); others are false.
others = []
for n, alert in enumerate(alerts):
    if alert["state"] == "ends" or n in told or alert["kind"] == "silent" or alert["kind"] == "hang" and options.hang:
        continue
    around = [p for p in truth["holders"] if begin_of(p.get("from", 0)) <= job_seconds(alert) <=
              begin_of(min(p.get("to", truth["steps"] - 1), truth["steps"] - 1)) + options.after]
    if not any(alert.get("rank", -1) == p.get("rank", -2) or p["kind"] == "link" and alert.get("why") == "link" or
               "host" in p and alert.get("host") == "host%03d" % p["host"] for p in around):
        others.append(alert)
known = sorted(delays)
if known:
    print(f"{len(delays) - len(late)} of {len(delays)} named within {options.within:.0f} s, median {known[len(known) // 2]:.1f} s, "
          f"slowest {known[-1]:.1f} s; {len(others)} made up")
else:
    print(f"nothing planted; {len(others)} made up")
for problem in late:
    print("late:", problem)
for alert in others:
    print("made up:", alert["at"], round(job_seconds(alert), 1), alert["sentence"])
sys.exit(len(delays) - len(late) < options.share / 100 * len(delays) or bool(others))
