# SPDX-License-Identifier: Apache-2.0
"""watch.py - judges the last steps of a running job repeatedly and reports new findings."""

import contextlib
import fcntl
import json
import os
import pathlib
import signal
import sys
import time

from profbpf_fleet import alerts as alert
from profbpf_fleet import hangs
from profbpf_fleet.engines import Problem
from profbpf_fleet.messages import write_file
from profbpf_fleet.window import Window

POLL_S = 0.5
FLOORS_S = 60  # least time between writes of the state for new floors alone
POSTED_S = 130  # six tries of up to ten seconds each, and the pauses between them


def say(text):
    print(f"profbpf-fleet: {text}", file=sys.stderr, flush=True)


def state_folder(given):
    """The folder for the state that watch needs after a restart."""
    if given:
        return pathlib.Path(given)
    if os.environ.get("STATE_DIRECTORY"):
        return pathlib.Path(os.environ["STATE_DIRECTORY"])
    return pathlib.Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")) / "profbpf-fleet"


class State(dict):
    """The state for one source; a file from another source is not used. Only one process at a time can open it."""

    def __init__(self, folder, source):
        folder.mkdir(parents=True, exist_ok=True)
        # Stays open for the lock, which the kernel releases when the process ends.
        self.lock = open(folder / "watch.lock", "w", encoding="ascii")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.lock.close()
            raise Problem(f"{folder}: another profbpf-fleet watch has this state; give each its own with --state") from error
        self.path = folder / "watch.json"
        known = {}
        if self.path.exists():
            try:
                known = json.loads(self.path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise Problem(f"{self.path}: {error}; remove it to begin anew") from error
        self.is_new = known.get("source") != source
        super().__init__({"source": source} if self.is_new else known)

    def write(self):
        write_file(str(self.path), json.dumps(self).encode())


class Watch:
    def __init__(self, source, state, options, outputs):
        self.source, self.state, self.options = source, state, options
        self.window = Window(options.window, options.memory)
        self.alerts = alert.Alerts(state, outputs)
        self.result, self.files, self.fresh, self.due = None, 0, False, 0.0
        self.judges_silence_at, self.pending, self.floors_due = self.expect_silent(), 0, 0.0

    def expect_silent(self):
        """Hosts that were silent when watch ended stay so until they send: silence is first judged after
        silent_after."""
        silent = [host for known in self.alerts.active.values() if known["kind"] == "silent" for host in known["hosts"]]
        self.window.heard |= {host: time.monotonic() for host in silent}
        return None if silent else 0.0

    def take(self):
        files = self.source.poll()
        self.files += len(files)
        if files:
            self.fresh |= self.window.ingest(files)
        for problem in self.window.damaged:
            say(f"left out: {problem}")
        self.window.damaged.clear()
        return bool(files)

    def judge(self):
        """Returns whether anything was reported."""
        self.fresh = False
        result = self.window.judged()
        if not result or result["steps"] < 3:
            return False
        self.result = result
        block = max(3, min(20, result["steps"] // 4))
        return self.alerts.update("holder", list(alert.findings_of_holders(result, block)))

    def look_at_progress(self):
        now = time.monotonic()
        if self.judges_silence_at is None:
            self.judges_silence_at = now + self.options.silent_after
        silent = hangs.silent_of(self.window.heard, now, self.options.silent_after)
        told = now > self.judges_silence_at and self.alerts.update("silent", [silent] if silent else [])
        away = set(silent["hosts"]) if silent else set()
        progress = {rank: known for rank, known in self.window.progress.items() if known.host not in away}
        clocks = {clock["rank"]: clock["offset_ns"] for clock in self.result["clocks"]} if self.result else {}
        found = hangs.hang_of(progress, self.window.usual_step_ns(), self.options.hang_after, clocks)
        return self.alerts.update("hang", [found] if found else []) or told

    def turn(self):
        """Polls and judges once; returns whether there was anything new."""
        came = changed = self.take()
        told = False
        if self.fresh and time.monotonic() >= self.due:
            begun = time.monotonic()
            told, changed = self.judge(), True
            # Judging takes at most half of the time, however large the job is.
            self.due = max(begun + self.options.every, time.monotonic() + (time.monotonic() - begun))
        told = self.look_at_progress() or told
        # The state has the findings still to be posted; it is written when they change, so none is posted twice.
        pending = len(self.state.get("webhook", ()))
        if time.monotonic() >= self.floors_due:
            self.floors_due = time.monotonic() + FLOORS_S
            changed_floors = self.source.floors_raised()
        else:
            changed_floors = False
        if told or pending != self.pending or changed_floors:
            self.state.write()
        self.pending = pending
        if self.options.metrics and (changed or told):
            alert.metrics_of(self.window, self.result, self.alerts, self.files).write(self.options.metrics)
        return came

    def run(self):
        stopped = []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.append(True))
        while not stopped:
            came = self.turn()
            if self.options.once and not came:
                break
            if not stopped and not came:
                time.sleep(POLL_S)
        if self.options.once and self.fresh:
            self.due = 0
            self.turn()
        for output in self.alerts.outputs if self.options.once else ():
            if isinstance(output, alert.Webhook):
                output.finish(POSTED_S)
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.state.write()
        self.state.lock.close()
        self.source.close()
        self.window.close()
