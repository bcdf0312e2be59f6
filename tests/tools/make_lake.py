#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_lake.py LAKE [options]: makes the lake of a simulated job with planted faults; LAKE.truth.json lists them.

The job has --ranks ranks, --per-host on each host, in groups: tensor (--tensor neighbouring ranks), pipeline (--stages)
and data (the rest), and a group of all ranks. Each step is a sequence of collectives; a rank computes, idles a little for
its host's causes, enters the collective, and leaves it when all of its group have entered and the transfer is done.
Instants are then converted to each host's own clock, which differs by up to 50 ms from the true one and is up to 20 ppm
too fast or slow; ends are recorded up to 15 us late or early, one in a hundred 300 us late. --seed determines everything.

Plants, each --plant KIND:NAME=VALUE,...; for the steps FROM to TO (default: all), times in ms:
  compute:rank=R,ms=M[,from=A,to=B]       computes longer, in the operator MatMul
  host:rank=R,ms=M,cause=C[,from,to]      idles longer (cause pipeline: the data pipeline)
  host:host=H,ms=M,cause=C[,from,to]      all ranks of a host idle longer
  link:communicator=NAME,ms=M[,from,to]   each of its transfers takes longer
  set:host=H,step=S,ms=M                  its clock is set
  late:rank=R,step=S                      joins at step S
  missing:rank=R,from=A,to=B              its files of these steps are not there
"""

import argparse
import json
import os

import duckdb

MS = 1e6
T0 = 1_700_000_000_000_000_000
CAUSES = ["runnable", "user_code", "lock"]


def plant_of(text):
    """{"kind": ..., ...} of KIND:NAME=VALUE,..."""
    kind, _, values = text.partition(":")
    plant = {"kind": kind}
    for pair in values.split(","):
        name, _, value = pair.partition("=")
        plant[name] = value if name in ("cause", "communicator") else float(value) if name == "ms" else int(value)
    return plant


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake")
    for name, value in [("ranks", 16), ("steps", 100), ("collectives", 8), ("per-host", 4), ("tensor", 4), ("stages", 1),
                        ("seed", 1), ("evaluation", 0)]:
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--step-ms", type=float, default=200)
    parser.add_argument("--no-world", action="store_true", help="the communicator of all ranks is in no file")
    parser.add_argument("--plant", action="append", default=[], type=plant_of)
    options = parser.parse_args()
    if options.ranks % (options.tensor * options.stages):
        parser.error("--ranks must be a multiple of --tensor times --stages")
    return options


def planted(options, kind, amount="ms"):
    """SQL for the time that plants of a kind add to a rank's step, ns."""
    terms = []
    for plant in options.plant:
        if plant["kind"] != kind:
            continue
        who = f"rank = {plant['rank']}" if "rank" in plant else f"rank // {options.per_host} = {plant['host']}"
        when = f"step BETWEEN {plant.get('from', 0)} AND {plant.get('to', options.steps)}"
        terms.append((plant.get("cause"), f"CASE WHEN {who} AND {when} THEN {plant[amount] * MS} ELSE 0 END"))
    return terms


class Job:
    """The simulation: a table of ranks and steps, advanced slot by slot."""

    def __init__(self, options):
        self.options = options
        self.sql = duckdb.connect()
        self.sql.execute("SET threads=2")
        self.sql.execute(f"CREATE MACRO u(a, b, c) AS (hash(a, b, c, {options.seed}) / 18446744073709551616.0 + 1e-12)")
        self.sql.execute("CREATE MACRO z(a, b, c) AS sqrt(-2 * ln(u(a, b, c))) * cos(2 * pi() * u(a, b, c || 'x'))")

    def groups(self):
        """Makes the table of ranks, with the place of each in its groups."""
        o = self.options
        data = o.ranks // (o.tensor * o.stages)
        late = " ".join(f"WHEN {p['rank']} THEN {p['step']}" for p in o.plant if p["kind"] == "late")
        self.sql.execute(f"""CREATE TABLE ranks AS SELECT CAST(range AS INT) AS rank, rank // {o.per_host} AS host,
            rank % {o.tensor} AS tp, (rank // {o.tensor}) % {data} AS dp, rank // {o.tensor * data} AS stage,
            {f'CASE rank {late} ELSE 0 END' if late else '0'} AS joins FROM range({o.ranks})""")
        self.sql.execute(f"""CREATE TABLE state AS SELECT r.*, CAST(s.range AS INT) AS step, 0.0 AS t, 0.0 AS compute,
            0.0 AS idle0, 0.0 AS idle1, 0.0 AS idle2, 0.0 AS planted_idle, 0.0 AS exposed,
            {f'step % {o.evaluation} >= {o.evaluation} - 5' if o.evaluation else 'false'} AS evaluates
            FROM ranks r, range({o.steps}) s WHERE s.range >= r.joins""")
        self.sql.execute("""CREATE TABLE collectives (rank INT, step INT, sequence INT, communicator VARCHAR, op VARCHAR,
            bytes BIGINT, start_at DOUBLE, end_at DOUBLE)""")

    def slots(self):
        """[(communicator in SQL, NULL = does not take part; sequence; op; bytes; ns)] of a step, in order."""
        o = self.options
        pair = "'pp{0}-{1}.' || dp || '.' || tp"
        forward = [("CASE WHEN stage IN ({0}, {1}) THEN " + pair + " END").format(b, b + 1) for b in range(o.stages - 1)]
        backward = list(reversed(forward))
        rest = max(o.collectives - 1 - len(forward) - len(backward), 2)
        tensor = [("'tp' || dp || '.' || stage", i, "all_reduce", 8 << 20, 0.1 * MS) for i in range(rest - rest // 3)]
        data = [("CASE WHEN NOT evaluates THEN 'dp' || stage || '.' || tp END", i, "reduce_scatter", 64 << 20, 0.5 * MS)
                for i in range(rest // 3)]
        half = len(tensor) // 2
        return (tensor[:half] + [(c, 0, "send_receive", 4 << 20, 0.05 * MS) for c in forward] + tensor[half:] +
                [(c, 1, "send_receive", 4 << 20, 0.05 * MS) for c in backward] + data +
                [("'world'", 0, "all_reduce", 1 << 10, 0.3 * MS)])

    def slow_links(self):
        terms = [f"CASE WHEN communicator = '{p['communicator']}' AND step BETWEEN {p.get('from', 0)} AND "
                 f"{p.get('to', self.options.steps)} THEN {p['ms'] * MS} ELSE 0 END"
                 for p in self.options.plant if p["kind"] == "link"]
        return " + ".join(terms) or "0"

    def run(self):
        """Computes all slots of all steps relative to the step's begin, then puts the steps one after the other."""
        o = self.options
        slots = self.slots()
        chunk = o.step_ms * MS / len(slots)
        slower = " + ".join(term for _, term in planted(o, "compute")) or "0"
        host = " + ".join(term for _, term in planted(o, "host")) or "0"
        for k, (communicator, sequence, op, size, ns) in enumerate(slots):
            idle = f"-0.5e6 * ln(u(rank, step, 'i{k}') * u(rank, step, 'j{k}'))" if k in (1, 2, 3) else "0"
            stopped = host if k == 1 else "0"
            # Stages differ, because some have embeddings or the loss; evaluation steps are shorter.
            compute = (f"{chunk} * (1 + 0.01 * z(rank, step, 'c{k}')) * (CASE WHEN evaluates THEN 0.4 ELSE 1 END) * "
                       f"(1 + 0.05 * (stage = 0)::INT + 0.08 * (stage = {o.stages - 1})::INT) + ({slower}) / {len(slots)}")
            self.sql.execute(f"""CREATE OR REPLACE TABLE moved AS
                WITH a AS (SELECT *, {communicator} AS communicator, {compute} AS c, {idle} AS i, {stopped} AS p FROM state),
                b AS (SELECT *, CASE WHEN communicator IS NULL THEN 0 ELSE 1 END AS takes FROM a),
                d AS (SELECT *, t + takes * (c + i + p) AS start_at FROM b)
                SELECT *, CASE WHEN takes = 0 THEN t ELSE max(start_at) OVER (PARTITION BY communicator, step) +
                    {ns} * (1 + 0.05 * z(communicator, step, 'l{k}')) + {self.slow_links()} END AS end_at FROM d""")
            self.sql.execute(f"""INSERT INTO collectives SELECT rank, step, {sequence}, communicator, '{op}', {size},
                start_at, end_at FROM moved WHERE takes = 1""")
            sums = ", ".join(f"idle{n} + takes * {'i' if k == n + 1 else '0'} AS idle{n}" for n in range(3))
            self.sql.execute(f"""CREATE OR REPLACE TABLE state AS SELECT rank, host, tp, dp, stage, joins, step,
                end_at AS t, compute + takes * c AS compute, {sums}, planted_idle + takes * p AS planted_idle,
                exposed + takes * (end_at - start_at) AS exposed, evaluates FROM moved""")
        self.sql.execute("""CREATE TABLE begins AS SELECT step, coalesce(sum(d) OVER (ORDER BY step ROWS BETWEEN
            UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS begin_at, d FROM (SELECT step, max(t) AS d FROM state GROUP BY step)""")

    def clocks(self):
        """Makes the table of the clocks' errors."""
        o = self.options
        jumps = "".join(f" + CASE WHEN host = {p['host']} AND step >= {p['step']} THEN {p['ms'] * MS} ELSE 0 END"
                        for p in o.plant if p["kind"] == "set")
        self.sql.execute("""CREATE TABLE clocks AS SELECT rank, host, (u(host, 0, 'offset') - 0.5) * 1e8 AS offset_ns,
            (u(host, 0, 'drift') - 0.5) * 4e-5 AS drift FROM ranks""")
        self.sql.execute(f"CREATE MACRO shown(instant, host, step, offset_ns, drift) AS {T0} + CAST(instant + offset_ns + drift * instant{jumps} AS BIGINT)")

    def tables(self):
        """The SQL for each table of the lake."""
        o = self.options
        missing = " AND ".join(f"NOT (rank = {p['rank']} AND step BETWEEN {p['from']} AND {p['to']})"
                               for p in o.plant if p["kind"] == "missing") or "true"
        late = "15e3 * z(rank, step, 'e' || communicator || sequence) + CASE WHEN u(rank, step, 'o' || sequence) < 0.01 THEN 3e5 ELSE 0 END"
        world = "communicator <> 'world'" if o.no_world else "true"
        cause = "".join(f" UNION ALL SELECT rank, step, '{cause}' AS cause, planted.ns FROM (SELECT rank, step, {term} AS ns FROM state) planted WHERE ns > 0"
                        for cause, term in planted(o, "host"))
        operators = [("MatMul", 0.6, "true"), ("Attention", 0.3, "true"), ("Norm", 0.1, "true"), ("Embedding", 0, "stage = 0")]
        slower = " + ".join(term for _, term in planted(o, "compute")) or "0"
        parts = " UNION ALL ".join(
            f"SELECT rank, step, '{name}' AS name, {8 if name == 'MatMul' else 4} AS count, CAST((compute - ({slower})) * {share} "
            f"{'+ ' + slower if name == 'MatMul' else ''} + 1000 AS BIGINT) AS total_ns FROM state WHERE {who}"
            for name, share, who in operators)
        idles = " UNION ALL ".join(f"SELECT rank, step, '{name}' AS cause, idle{n} AS ns FROM state" for n, name in enumerate(CAUSES))
        return {
            "steps": f"""SELECT s.rank, printf('host%03d', s.host) AS host, CAST(s.step AS BIGINT) AS step,
                shown(b.begin_at, s.host, s.step, k.offset_ns, k.drift) AS start_ns, CAST(s.t AS BIGINT) AS step_ns,
                CAST(compute AS BIGINT) AS compute_ns, CAST(exposed AS BIGINT) AS communication_ns,
                CAST(exposed AS BIGINT) AS exposed_communication_ns,
                CAST(idle0 + idle1 + idle2 + planted_idle AS BIGINT) AS idle_ns, CAST(0.2 * compute AS BIGINT) AS host_cpu_ns
                FROM state s JOIN begins b USING (step) JOIN clocks k USING (rank) WHERE {missing.replace('step', 's.step')}""",
            "collectives": f"""SELECT c.rank, CAST(c.step AS BIGINT) AS step, CAST(sequence AS BIGINT) AS sequence, communicator, op, bytes,
                shown(begin_at + start_at, k.host, c.step, offset_ns, drift) AS start_ns,
                shown(begin_at + end_at, k.host, c.step, offset_ns, drift) + CAST({late.replace('step', 'c.step')} AS BIGINT) AS end_ns
                FROM collectives c JOIN begins b USING (step) JOIN clocks k USING (rank) WHERE {world} AND {missing.replace('step', 'c.step')}""",
            "idle": f"""SELECT rank, CAST(step AS BIGINT) AS step, cause, 'thread of rank ' || rank AS who, CAST(sum(ns) AS BIGINT) AS ns
                FROM ({idles}{cause}) WHERE {missing} GROUP BY ALL HAVING sum(ns) > 0""",
            "operators": f"SELECT rank, CAST(step AS BIGINT) AS step, name, CAST(count AS BIGINT) AS count, total_ns FROM ({parts}) WHERE {missing}",
            "hosts": """SELECT rank, printf('host%03d', host) AS host, 'Linux 6.1' AS kernel, CAST(64 AS BIGINT) AS cpus,
                'Made Up 1' AS device FROM ranks""",
        }

    def write(self):
        for table, query in self.tables().items():
            os.makedirs(f"{self.options.lake}/{table}", exist_ok=True)
            order = {"hosts": "rank", "collectives": "rank, start_ns"}.get(table, "rank, step")
            self.sql.execute(f"CREATE OR REPLACE TABLE out AS SELECT * FROM ({query}) ORDER BY {order}")
            for rank in range(self.options.ranks):
                host = rank // self.options.per_host
                self.sql.execute(f"""COPY (SELECT * FROM out WHERE rank = {rank}) TO
                    '{self.options.lake}/{table}/host{host:03d}-{rank}.parquet' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)""")

    def truth(self):
        """The plants that hold the job back in each step: those within 2 ms of the most expensive one."""
        o = self.options
        holders = [p for p in o.plant if p["kind"] in ("compute", "host", "link")]
        transfers = {p["communicator"]: self.transfers(p["communicator"]) for p in holders if p["kind"] == "link"}
        steps = {}
        for step in range(o.steps):
            cost = {}
            for n, plant in enumerate(holders):
                if plant.get("from", 0) <= step <= plant.get("to", o.steps):
                    cost[n] = plant["ms"] * transfers.get(plant.get("communicator"), 1)
            top = max(cost.values(), default=0)
            steps[step] = [n for n, ms in cost.items() if ms >= top - 2]
        rows = self.sql.execute("SELECT rank, offset_ns, drift FROM clocks ORDER BY rank").fetchall()
        base = rows[0]
        return {
            "ranks": o.ranks, "steps": o.steps, "plants": o.plant, "holders": holders, "transfers": transfers,
            "held": {step: plants for step, plants in steps.items() if plants},
            "clocks": [{"rank": r, "offset_ns": x - base[1], "drift_ppb": ((1 + d) / (1 + base[2]) - 1) * 1e9} for r, x, d in rows],
        }

    def transfers(self, communicator):
        """The number of a communicator's transfers in a step."""
        return self.sql.execute("SELECT count(DISTINCT sequence) FROM collectives WHERE communicator = ? AND NOT step % 5 = 4",
                                [communicator]).fetchone()[0]


def main():
    options = arguments()
    job = Job(options)
    job.groups()
    job.run()
    job.clocks()
    job.write()
    with open(options.lake.rstrip("/") + ".truth.json", "w", encoding="utf-8") as file:
        json.dump(job.truth(), file, indent=1)


main()
