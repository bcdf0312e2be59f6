#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replay_lake.py LAKE --dir DIR | --nats URL [options]: publishes a lake of make_lake.py as the job's hosts would.

Each host sends its new rows every --interval seconds of the job; the hosts send evenly one after the other. --speed
makes the job run faster than in the lake. Messages go through a spool of each host (--spools), as those of profbpf-fleet
publish. With --hang STEP:RANK no step from STEP on ends, because of RANK, for 30 s more. Writes FILE of --log: the
instants, by this machine's clock, at which the job and each step began.
"""

import argparse
import json
import os
import pathlib
import shutil
import sys
import time

import duckdb

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "fleet"))

from profbpf_fleet import directory, messages, publish, spool  # noqa: E402

T0 = 1_700_000_000_000_000_000
HANG_S = 30


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake")
    parser.add_argument("--dir")
    parser.add_argument("--nats")
    parser.add_argument("--interval", type=float, default=5)
    parser.add_argument("--speed", type=float, default=1)
    parser.add_argument("--spools", required=True)
    parser.add_argument("--hang")
    parser.add_argument("--found", action="store_true", help="steps were found by the analyzer: each rank counts from a number of its own")
    parser.add_argument("--log", required=True)
    parser.add_argument("--began", type=float, help="of one that was killed: when it began; what is in its spools goes on")
    parser.set_defaults(credentials=None, tls_ca=None, tls_cert=None, tls_key=None)
    return parser.parse_args()


class Replay:
    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.spools) / "cut"
        self.sql = duckdb.connect(config={"threads": 2, "memory_limit": "4GB"})
        self.sql.execute("SET partitioned_write_max_open_files = 300")
        self.hang_step, self.hang_rank = map(int, options.hang.split(":")) if options.hang else (1 << 40, -1)

    def cut(self):
        """Assigns each host's rows to the round in which it sends them."""
        o = self.options
        self.sql.execute(f"""CREATE TABLE hosts AS SELECT host, row_number() OVER (ORDER BY host) - 1 AS h FROM
            (SELECT DISTINCT host FROM '{o.lake}/steps/*.parquet')""")
        hosts = self.sql.execute("SELECT count(*) FROM hosts").fetchone()[0]
        self.phase = o.interval * 1e9 / hosts
        self.sql.execute(f"""CREATE TABLE rounds AS SELECT rank, step, s.start_ns, s.start_ns + step_ns AS end_ns, h, s.host,
            CAST(ceil(greatest(s.start_ns + step_ns - {T0} - h * {self.phase}, 0) / {o.interval * 1e9}) AS INT) AS k
            FROM '{o.lake}/steps/*.parquet' s JOIN hosts USING (host)""")
        moved = "(rank * 7919) % 1000" if o.found else "0"
        for table in () if o.began and (self.folder / "progress").is_dir() else ("steps", "collectives", "idle", "operators"):
            if os.path.isdir(f"{o.lake}/{table}"):
                self.sql.execute(f"""COPY (SELECT t.* REPLACE (t.step + {moved} AS step), r.h AS part, r.k AS round FROM '{o.lake}/{table}/*.parquet' t
                    JOIN rounds r USING (rank, step) WHERE step < {self.hang_step} ORDER BY r.h, r.k, t.rank, t.step)
                    TO '{self.folder}/{table}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (part, round), OVERWRITE)""".replace("t.rank * 7919", "rank * 7919"))
        self.last = self.sql.execute(f"SELECT max(k) FROM rounds WHERE step < {self.hang_step}").fetchone()[0]
        self.last += int(HANG_S / o.interval) if o.hang else 0
        if not o.began or not (self.folder / "progress").is_dir():
            self.write_progress(moved)
        return hosts

    def write_progress(self, moved):
        """Writes the progress of each host's ranks for each round, also when no step ends any more."""
        o = self.options
        self.sql.execute(f"""COPY (
            WITH stopped AS (SELECT rank, max(start_ns + CAST((end_ns - start_ns) * CASE WHEN rank = {self.hang_rank} THEN 0.1 ELSE 0.6 END AS BIGINT)) AS ns
                FROM rounds WHERE step = {self.hang_step} GROUP BY rank),
            ends AS (SELECT rank, max(k) AS k FROM rounds GROUP BY rank),
            told AS (SELECT r.rank, r.h, r.host, k.range AS round, max(r.step + {moved}) AS step, max(r.end_ns) AS end_ns
                FROM rounds r JOIN ends l USING (rank) JOIN range({self.last + 1}) k ON k.range BETWEEN r.k AND {self.last if o.hang else 'l.k'} WHERE r.step < {self.hang_step} GROUP BY ALL)
            SELECT t.rank, t.host, CAST({T0} + t.h * {self.phase} + t.round * {o.interval * 1e9} AS BIGINT) AS at_ns, t.step, t.end_ns,
                coalesce(s.ns, t.end_ns) AS last_ns, {'false' if o.found else 'true'} AS marked, t.h AS part, t.round FROM told t LEFT JOIN stopped s USING (rank)
            ORDER BY t.h, t.round, t.rank)
            TO '{self.folder}/progress' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (part, round), OVERWRITE)""")

    def files(self, part, number):
        """[(table, path)]: the files of a host's message."""
        folders = [(table, self.folder / table / f"part={part}" / f"round={number}") for table in messages.TABLES]
        return [(table, str(path)) for table, folder in folders for path in sorted(folder.glob("*.parquet"))[:1]]

    def message(self, part, number):
        return messages.pack({table: pathlib.Path(path).read_bytes() for table, path in self.files(part, number)})

    def destination(self):
        if self.options.dir:
            return directory.DirectoryDestination(self.options.dir)
        from profbpf_fleet import jetstream
        return jetstream.NatsDestination(self.options)

    def log(self, began):
        rows = self.sql.execute(f"SELECT step, min(start_ns) - {T0} FROM rounds GROUP BY step ORDER BY step").fetchall()
        with open(self.options.log, "w", encoding="utf-8") as file:
            json.dump({"began": began, "speed": self.options.speed, "steps": {step: ns / 1e9 for step, ns in rows}}, file)

    def run(self):
        o = self.options
        self.folder.mkdir(parents=True, exist_ok=True)
        hosts = self.cut()
        destination = self.destination()
        spools = [spool.Spool(f"{o.spools}/{part}", 1e9, f"host{part:03d}") for part in range(hosts)]
        senders = [publish.Sender(known, destination) for known in spools]
        began, behind, sent = o.began or time.time(), 0.0, 0
        self.log(began)
        for number in range(self.last + 1):
            for part in range(hosts):
                if number < spools[part].state.get("round", 0):
                    continue
                due = began + (part * self.phase / 1e9 + number * o.interval) / o.speed
                time.sleep(max(0.0, due - time.time()))
                behind = max(behind, time.time() - due)
                spools[part].add(self.message(part, number), {"round": number + 1})
                sent += senders[part].flush()
        for sender in senders:
            for _ in range(100):
                if not sender.spool.waiting():
                    break
                sent += sender.flush()
                time.sleep(0.1)
        left = sum(len(known.waiting()) for known in spools)
        destination.close()
        shutil.rmtree(self.folder)
        print(f"{sent} messages of {hosts} hosts, {left} left; {behind:.1f} s behind at most")
        return 1 if left else 0


if __name__ == "__main__":
    sys.exit(Replay(arguments()).run())
