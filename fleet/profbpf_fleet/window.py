# SPDX-License-Identifier: Apache-2.0
"""window.py - the last steps of a lake that grows, in DuckDB's memory, judged by the same SQL as a lake that is complete."""

import collections
import time

from profbpf_fleet import engines, judge
from profbpf_fleet.lake import columns_of
from profbpf_fleet.numbering import shift_to

PROGRESS = "rank INT, host VARCHAR(255), at_ns BIGINT, step BIGINT, end_ns BIGINT, last_ns BIGINT, marked BOOLEAN"
HEARD = 0.9  # share of the ranks that must have reported a step before it is judged
OLD = 0.2  # largest share of rows from earlier steps
OF_RANKS = ("steps", "collectives", "idle", "operators")

Progress = collections.namedtuple("Progress", "host at_ns step end_ns last_ns marked")


def defined(table):
    return [column.strip().split(" ", 1) for column in PROGRESS.split(", ")] if table == "progress" else columns_of(table)


class Window(engines.DuckDB):
    """Rows of the last steps; progress: the last report of each rank; heard: the time of each host's last message."""

    complete = False  # place() has settled the numbers of steps

    def __init__(self, steps, memory="800MB"):
        super().__init__("", memory)
        self.steps = steps
        self.execute("SET preserve_insertion_order = true")
        self.progress, self.heard, self.damaged = {}, {}, []
        for table in OF_RANKS:
            kinds = ", ".join(f"{name} {kind}" for name, kind in columns_of(table))
            self.execute(f"CREATE TABLE live_{table} ({kinds})")

    # The engine's interface for judge.py; tables of a judgement replace those of the one before.
    def read(self, table):
        return f"live_{table}" if self.rows(f"SELECT 1 AS one FROM live_{table} LIMIT 1") else None

    def load(self, table, paths):
        """Load files' rows into a table new_TABLE; unreadable files are listed in damaged. Returns whether any was
        readable."""
        try:
            self.execute(f"CREATE OR REPLACE TABLE new_{table} AS {self.rows_of(table, paths)}")
            return True
        except engines.Problem:
            return self.load_each(table, paths)

    def rows_of(self, table, paths):
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        source = f"read_parquet([{listed}], union_by_name = true)"
        present = set(self.columns(source))
        columns = ", ".join(f"CAST({name if name in present else 'NULL'} AS {kind}) AS {name}" for name, kind in defined(table))
        return f"SELECT {columns} FROM {source}"

    def load_each(self, table, paths):
        """Load file by file: damage may show only at the last row of a file."""
        loaded = False
        self.execute(f"CREATE OR REPLACE TABLE new_{table} ({', '.join(f'{name} {kind}' for name, kind in defined(table))})")
        for path in paths:
            try:
                self.execute(f"INSERT INTO new_{table} {self.rows_of(table, [path])}")
                loaded = True
            except engines.Problem as problem:
                self.damaged.append(str(problem))
        return loaded

    def ingest(self, files):
        """Add the rows of files, [(table, path)]. Returns whether there are new steps."""
        by_table = collections.defaultdict(list)
        for table, path in files:
            by_table[table].append(path)
        staged = [table for table, paths in by_table.items() if self.load(table, paths)]
        if "progress" in staged:
            self.take_progress()
        if "steps" in staged:
            self.place()
            self.forget_restarted()
            self.hear()
        for table in OF_RANKS:
            if table in staged:
                if "steps" in staged and table != "steps":
                    self.move(table)
                names = ", ".join(name for name, _ in columns_of(table))
                self.execute(f"INSERT INTO live_{table} SELECT {names} FROM new_{table} WHERE rank IS NOT NULL AND step IS NOT NULL")
        return "steps" in staged

    def take_progress(self):
        hosts = collections.defaultdict(dict)
        for row in self.rows("SELECT * FROM new_progress ORDER BY at_ns"):
            told = hosts[row["host"]]
            if row["at_ns"] != told.get("at_ns"):
                told.clear()
            told["at_ns"] = row["at_ns"]
            if row["rank"] is not None:
                told[row["rank"]] = Progress(*(row[name] for name in Progress._fields))
        for host, told in hosts.items():
            self.heard[host] = time.monotonic()
            self.progress = {rank: known for rank, known in self.progress.items() if known.host != host}
            self.progress |= {rank: known for rank, known in told.items() if rank != "at_ns"}

    def hear(self):
        for row in self.rows("SELECT DISTINCT host FROM new_steps WHERE host IS NOT NULL"):
            self.heard[row["host"]] = time.monotonic()

    def place(self):
        """Change the step numbers of ranks whose job does not count steps to those of the other ranks, by start
        times."""
        self.execute("CREATE OR REPLACE TABLE moves (rank INT, shift BIGINT)")
        found = [rank for rank, known in self.progress.items() if known.marked is False]
        if not found:
            return
        numbers = ", ".join(map(str, found))
        rows = collections.defaultdict(list)
        for row in self.rows(f"SELECT rank, step, start_ns, step_ns FROM new_steps WHERE rank IN ({numbers}) ORDER BY rank, start_ns"):
            rows[row["rank"]].append((row["step"], row["start_ns"], row["step_ns"]))
        if not rows:
            return
        lengths = sorted(length for steps in rows.values() for _, _, length in steps)
        placed = self.rows("SELECT step, CAST(median(start_ns) AS BIGINT) AS start_ns FROM (SELECT step, start_ns FROM live_steps UNION ALL "
                           f"SELECT step, start_ns FROM new_steps WHERE rank NOT IN ({numbers})) s GROUP BY step ORDER BY 2")
        reference = [(row["step"], row["start_ns"]) for row in placed] or [row[:2] for row in rows[min(rows)]]
        for rank, steps in rows.items():
            shift = shift_to([step[:2] for step in steps], reference, lengths[len(lengths) // 2])
            self.execute(f"INSERT INTO moves VALUES ({rank}, {shift})")
        self.move("steps")

    def move(self, table):
        self.execute(f"UPDATE new_{table} SET step = step + m.shift FROM moves m WHERE m.rank = new_{table}.rank AND m.shift <> 0")

    def forget_restarted(self):
        """Drop older rows of a rank that counts from a lower number again: it was restarted, and they are not
        comparable."""
        ranks = [row["rank"] for row in self.rows(
            "SELECT n.rank FROM new_steps n JOIN (SELECT rank, max(step) AS step, max(start_ns) AS start_ns FROM live_steps GROUP BY rank) k "
            "ON k.rank = n.rank WHERE n.step <= k.step AND n.start_ns > k.start_ns GROUP BY n.rank ORDER BY n.rank")]
        for table in OF_RANKS if ranks else ():
            self.keep(table, f"rank NOT IN ({', '.join(map(str, ranks))})")

    def keep(self, table, what):
        """Keep the matching rows by writing them to a new table: DuckDB does not give back memory, or spilled disk
        space, of deleted rows."""
        self.execute(f"CREATE OR REPLACE TABLE live_{table} AS SELECT * FROM live_{table} WHERE {what}")

    def forget_before(self, step):
        """Drop rows of earlier steps once they exceed the share OLD; judge.py does not ask for them anyway."""
        for table in OF_RANKS:
            found = self.rows(f"SELECT count(*) AS n, count(*) FILTER (WHERE step < {step}) AS old FROM live_{table}")[0]
            if found["old"] > OLD * found["n"]:
                self.keep(table, f"step >= {step}")

    def last_step(self):
        """The last step that the share HEARD of the ranks has reported; None if there is none."""
        found = self.rows(f"SELECT quantile_disc(step, {1 - HEARD}) AS step FROM (SELECT rank, max(step) AS step FROM live_steps GROUP BY rank) s")
        return found[0]["step"]

    def usual_step_ns(self):
        return self.rows("SELECT coalesce(median(step_ns), 0) AS ns FROM live_steps")[0]["ns"]

    def judged(self):
        """The answer of judge.py for the last steps, with to_step; None while there are no steps."""
        to_step = self.last_step()
        if to_step is None:
            return None
        self.forget_before(to_step - self.steps + 1)
        result = judge.answer(self, to_step - self.steps + 1, to_step)
        return result | {"to_step": to_step}
