#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""live_trial.py LAKE --work DIR [options]: simulates profbpf-fleet watch on a lake of make_lake.py that its hosts publish.

Time is the job's, so the load of this machine makes no difference: messages arrive when replay_lake.py would send
them, watch polls every half a second, and a judgement takes the CPU time that it took here. Writes DIR/alerts and DIR/log
for check_live.py, and prints the number of judgements and their cost.
"""

import argparse
import datetime
import json
import pathlib
import resource
import sys
import time

import replay_lake
from profbpf_fleet import alerts, hangs
from profbpf_fleet.window import Window

LOOK_S = 0.5
EVERY_S = 2.0
BLOCK = 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake")
    parser.add_argument("--work", required=True)
    parser.add_argument("--interval", type=float, default=5)
    parser.add_argument("--hang")
    parser.add_argument("--found", action="store_true")
    options = parser.parse_args()
    options.spools, options.log, options.speed, options.began = options.work, f"{options.work}/log", 1, None
    return options


class Trial:
    def __init__(self, options):
        self.replay, self.window = replay_lake.Replay(options), Window(80)
        self.now, self.costs, self.result = 0.0, [], None
        self.replay.folder.mkdir(parents=True)
        self.hosts = self.replay.cut()
        self.replay.log(0)
        self.out = open(f"{options.work}/alerts", "w", encoding="utf-8")
        self.alerts = alerts.Alerts({}, [self.tell])

    def tell(self, finding):
        at = datetime.datetime.fromtimestamp(self.now, datetime.timezone.utc)
        self.out.write(json.dumps(finding | {"at": at.isoformat(timespec="milliseconds")}) + "\n")
        self.out.flush()

    def messages(self):
        """(time, host, round) of the messages, in order."""
        step = self.replay.phase / 1e9
        return [(number * self.replay.options.interval + part * step, part, number) for number in range(self.replay.last + 1) for part in range(self.hosts)]

    def judge(self):
        begun = time.process_time()
        result = self.window.judged()
        self.costs.append(time.process_time() - begun)
        self.now += self.costs[-1]
        if result and result["steps"] >= 3:
            self.result = result
            self.alerts.update("holder", list(alerts.findings_of_holders(result, BLOCK)))

    def look(self):
        clocks = {clock["rank"]: clock["offset_ns"] for clock in self.result["clocks"]} if self.result else {}
        found = hangs.hang_of(self.window.progress, self.window.usual_step_ns(), 5, clocks)
        self.alerts.update("hang", [found] if found else [])

    def run(self):
        waiting, due, fresh = self.messages(), 0.0, False
        while waiting:
            came = [message for message in waiting if message[0] <= self.now]
            waiting = waiting[len(came):]
            begun = time.process_time()
            if came:
                fresh |= self.window.ingest([file for _, part, number in came for file in self.replay.files(part, number)])
            self.now += time.process_time() - begun
            if fresh and self.now >= due:
                begun, fresh = self.now, False
                self.judge()
                due = max(begun + EVERY_S, self.now + (self.now - begun))
            self.look()
            self.now += LOOK_S
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        costs = sorted(self.costs)
        print(f"{len(costs)} judgements in {self.now:.0f} s of the job, {costs[len(costs) // 2]:.2f} s of CPU time each in the middle, "
              f"{costs[-1]:.2f} s at most; {memory:.0f} MB")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    Trial(arguments()).run()
