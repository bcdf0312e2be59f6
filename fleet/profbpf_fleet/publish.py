# SPDX-License-Identifier: Apache-2.0
"""publish.py - runs on each host and sends the last seconds of its ranks, every few seconds, to the watch of the job.

The analyzer finds steps, so each round asks the daemon's flight recorder for its last seconds, has the analyzer make
a lake of them, takes the steps that were not published yet, and puts them into the spool. The table progress still has
a row for a rank that ends no more steps, while its process lives.
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from profbpf_fleet import step_metrics
from profbpf_fleet.directory import Waiting
from profbpf_fleet.engines import Problem
from profbpf_fleet.messages import pack
from profbpf_fleet.numbering import news
from profbpf_fleet.spool import ROUND

# The same names as for the daemon's metrics (daemon/profbpfd/metrics/process_labels.c).
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK_ID")
DEVICES = ("SELECT d.device AS device, d.rank AS rank, p.pid AS pid, t.tasks AS tasks, t.last_ns AS last_ns, s.source AS source, s.first_ns AS first_ns "
           "FROM devices d JOIN (SELECT device, count(*) AS tasks, max(end_ns) AS last_ns FROM tasks GROUP BY device) t ON t.device = d.device "
           "LEFT JOIN (SELECT device, max(source) AS source, min(start_ns) AS first_ns FROM device_steps GROUP BY device) s ON s.device = d.device "
           "LEFT JOIN processes p ON p.process = d.process ORDER BY d.device")


def say(text):
    print(f"profbpf-fleet: {text}", file=sys.stderr, flush=True)


def rank_in(environment):
    """The rank of a process from its environment (NAME=VALUE, separated by NULs); None if it has no rank."""
    values = dict(pair.split("=", 1) for pair in environment.decode(errors="replace").split("\0") if "=" in pair)
    for name in RANKS:
        if re.fullmatch("[0-9]{1,9}", values.get(name, "")):
            return int(values[name])
    return None


def rank_of(pid):
    try:
        return rank_in(pathlib.Path(f"/proc/{pid}/environ").read_bytes())
    except OSError:
        return None


def lives(pid):
    return os.path.exists(f"/proc/{pid}")


class Recorder:
    """Snapshots of the daemon's flight recorder, as lakes."""

    def __init__(self, seconds, profctl="profctl", analyzer="analyzer"):
        self.seconds, self.profctl, self.analyzer = seconds, profctl, analyzer

    def run(self, *command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Waiting(f"{command[0]}: {error}") from error
        if done.returncode:
            raise Waiting((done.stderr.strip().split("\n") or [""])[-1] or f"{command[0]} ended with {done.returncode}")
        return done.stdout

    def ask(self, trace, query):
        out = self.run(self.analyzer, "query", trace, query, "--format", "json")
        return [json.loads(line) for line in out.splitlines() if line.strip()] if not out.lstrip().startswith("[") else json.loads(out)

    def take(self, folder):
        """(lake, [device], at_ns): devices that ran tasks, in the order of the lake's ranks, and the time of the
        snapshot."""
        trace, lake = os.path.join(folder, "snapshot.pbt"), os.path.join(folder, "lake")
        at_ns = time.time_ns()
        self.run(self.profctl, "snapshot", "-o", trace, "--last", f"{self.seconds}s")
        devices = self.ask(trace, DEVICES)
        if not devices:
            return lake, [], at_ns
        self.run(self.analyzer, "lake", trace, "--rank", "0", "-o", lake)
        others = itertools.count()
        for device in devices:
            device["in_lake"] = next(others) if device["rank"] is None else device["rank"]
            device["marked"] = device["source"] == "marker"
        return lake, devices, at_ns


class Cutter:
    """Takes rows of new steps from a snapshot's lake and gives them the job's ranks and running numbers."""

    def __init__(self, host):
        import duckdb
        self.sql, self.host, self.warned = duckdb.connect(config={"threads": 1, "memory_limit": "300MB"}), host, set()

    def steps(self, lake, in_lake):
        found = self.sql.execute("SELECT step, start_ns, step_ns FROM read_parquet(?) WHERE rank = ? AND step IS NOT NULL "
                                 "ORDER BY start_ns", [f"{lake}/steps/*.parquet", in_lake]).fetchall()
        return [tuple(row) for row in found]

    def last_task(self, device, rows):
        """The end of the last task by CLOCK_REALTIME, the clock of a lake (a query has the recording's clock); None
        without steps to relate the two clocks."""
        return device["last_ns"] + rows[0][1] - device["first_ns"] if rows and device["first_ns"] is not None else None

    def ranks(self, devices):
        """{rank: device}: for a process with several devices, the device with most tasks."""
        chosen = {}
        for device in sorted(devices, key=lambda device: -device["tasks"]):
            rank = device["rank"] if device["rank"] is not None else rank_of(device["pid"])
            if rank is None or rank in chosen:
                why = "its environment has no RANK" if rank is None else f"it is rank {rank} as another device is"
                self.warn(device["pid"], f"process {device['pid']}, device {device['device']}, is left out: {why}")
            else:
                chosen[rank] = device
        return chosen

    def warn(self, key, text):
        if key not in self.warned:
            self.warned.add(key)
            say(text)

    def cut(self, lake, devices, at_ns, state):
        """({table: bytes}, new state): the rows that are new since state, and always the table progress."""
        ranks = {int(rank): dict(known) for rank, known in state.get("ranks", {}).items() if lives(known["pid"])}
        moves = []
        for rank, device in self.ranks(devices).items():
            known = ranks.get(rank)
            last = known if known and known["pid"] == device["pid"] and known["step"] is not None else None
            rows = self.steps(lake, device["in_lake"]) if os.path.isdir(f"{lake}/steps") else []
            shift, fresh = news(rows, device["marked"], last)
            ranks[rank] = {"pid": device["pid"], "step": None, "start_ns": 0, "end_ns": 0} | (last or {})
            ranks[rank] |= {"marked": device["marked"], "last_ns": self.last_task(device, rows) or (known or {}).get("last_ns")}
            if fresh:
                number, start_ns, length = fresh[-1]
                ranks[rank] |= {"step": number + shift, "start_ns": start_ns, "end_ns": start_ns + length}
                moves.append((device["in_lake"], rank, shift, fresh[0][0], number))
        files = self.files(lake, moves, ranks, at_ns)
        sums = step_metrics.kept(state.get("sums", {}), ranks)
        if moves:
            step_metrics.take(self.sql, lake, files, sums)
        return files, {"ranks": ranks, "sums": sums}

    def files(self, lake, moves, ranks, at_ns):
        files = {"progress": self.written(self.progress(ranks, at_ns))}
        if not moves:
            return files
        rows = ", ".join(str(move) for move in moves)
        self.sql.execute(f"CREATE OR REPLACE TABLE moves AS SELECT * FROM (VALUES {rows}) AS v(in_lake, rank, shift, first, last)")
        for table in ("collectives", "idle", "operators", "pipeline", "steps"):
            if os.path.isdir(f"{lake}/{table}"):
                files[table] = self.written(
                    "SELECT t.* REPLACE (CAST(m.rank AS INT) AS rank, CAST(t.step + m.shift AS BIGINT) AS step) "
                    f"FROM read_parquet('{lake}/{table}/*.parquet') t JOIN moves m ON m.in_lake = t.rank AND t.step BETWEEN m.first AND m.last "
                    "ORDER BY m.rank, t.step")
        if os.path.isdir(f"{lake}/hosts"):
            files["hosts"] = self.written("SELECT t.* REPLACE (CAST(m.rank AS INT) AS rank) "
                                          f"FROM read_parquet('{lake}/hosts/*.parquet') t JOIN moves m ON m.in_lake = t.rank ORDER BY m.rank")
        return files

    def progress(self, ranks, at_ns):
        """The SELECT with a row for each living rank; without ranks one row, which shows that the host lives."""
        host = self.host.replace("'", "''")
        rows = [f"({rank}, {known['step'] if known['step'] is not None else 'NULL'}, {known['end_ns'] or 'NULL'}, {known['last_ns'] or 'NULL'}, "
                f"{'true' if known['marked'] else 'false'})" for rank, known in sorted(ranks.items())] or ["(NULL, NULL, NULL, NULL, NULL)"]
        return (f"SELECT CAST(rank AS INT) AS rank, '{host}' AS host, CAST({at_ns} AS BIGINT) AS at_ns, CAST(step AS BIGINT) AS step, "
                "CAST(end_ns AS BIGINT) AS end_ns, CAST(last_ns AS BIGINT) AS last_ns, CAST(marked AS BOOLEAN) AS marked "
                f"FROM (VALUES {', '.join(rows)}) AS v(rank, step, end_ns, last_ns, marked)")

    def written(self, select):
        with tempfile.NamedTemporaryFile(prefix="profbpf-", suffix=".parquet") as file:
            self.sql.execute(f"COPY ({select}) TO '{file.name}' (FORMAT parquet, COMPRESSION zstd)")
            return pathlib.Path(file.name).read_bytes()


class Sender:
    """Sends the messages of the spool, the oldest first; messages that cannot be sent stay there."""

    def __init__(self, spool, destination):
        self.spool, self.destination, self.trouble = spool, destination, None

    def flush(self):
        """Returns the number of acknowledged messages."""
        sent = 0
        for number in self.spool.waiting():
            try:
                self.destination.send(*self.spool.message(number))
            except Waiting as error:
                if str(error) != self.trouble:
                    self.trouble = str(error)
                    say(f"{error}; {len(self.spool.waiting())} messages wait in {self.spool.folder}")
                return sent
            self.spool.acknowledged(number)
            sent += 1
        if self.trouble:
            say("messages are acknowledged again")
            self.trouble = None
        return sent


def one_round(recorder, cutter, spool):
    folder = tempfile.mkdtemp(prefix=ROUND, dir=spool.folder)
    try:
        lake, devices, at_ns = recorder.take(folder)
        files, state = cutter.cut(lake, devices, at_ns, spool.state)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    gone = spool.add(pack(files), state)
    if gone:
        say(f"the spool is full: {gone} of the oldest messages, which nobody took, were given up; --spool-limit raises it")


def publish(spool, destination, recorder, interval_s, rounds=None, metrics=None):
    """Run the given number of rounds, or until stopped; metrics: a file for metrics. Returns whether all was
    acknowledged."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    cutter, sender, trouble = Cutter(socket.gethostname()), Sender(spool, destination), None
    due = time.monotonic()
    while rounds is None or rounds > 0:
        try:
            one_round(recorder, cutter, spool)
            trouble = None
        except Waiting as error:
            if str(error) != trouble:
                trouble = str(error)
                say(trouble)
        sender.flush()
        if metrics:
            step_metrics.exposition_of(spool.state, cutter.host).write(metrics)
        rounds = rounds - 1 if rounds is not None else None
        due = max(due + interval_s, time.monotonic())
        if rounds != 0:
            time.sleep(max(0.0, due - time.monotonic()))
    return not spool.waiting()
