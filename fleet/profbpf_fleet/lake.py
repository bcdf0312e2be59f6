# SPDX-License-Identifier: Apache-2.0
"""lake.py - views of a lake's tables for the SQL: typed columns, without NULL texts and steps out of the asked
range, and with the numbers of steps on which the ranks agree (same_steps.py)."""

from profbpf_fleet.engines import Problem

# Columns of each table and their types. Those that are not in NEEDED may be missing in a file: they are NULL then.
TABLES = {
    "steps": "rank INT, host VARCHAR(255), step BIGINT, start_ns BIGINT, step_ns BIGINT, compute_ns BIGINT, exposed_communication_ns BIGINT, "
             "idle_ns BIGINT",
    "collectives": "rank INT, step BIGINT, sequence BIGINT, communicator VARCHAR(255), op VARCHAR(255), bytes BIGINT, start_ns BIGINT, end_ns BIGINT",
    "idle": "rank INT, step BIGINT, cause VARCHAR(255), who VARCHAR(255), ns BIGINT",
    "operators": "rank INT, step BIGINT, name VARCHAR(255), total_ns BIGINT",
}
RANK_MAX = 2**31 - 1
TEXTS = {"host", "communicator", "who"}  # '' where the value is not known
NEEDED = {"steps": ("rank", "step", "start_ns", "step_ns"), "collectives": ("rank", "step", "sequence", "start_ns", "end_ns"),
          "idle": ("rank", "step", "cause", "ns"), "operators": ("rank", "step", "name", "total_ns")}


def columns_of(table):
    return [column.strip().split(" ", 1) for column in TABLES[table].split(", ")]


def cast_of(kind):
    """How a column of this type is converted: a number that its type does not hold is unknown, and ends no report."""
    return "CAST" if kind.startswith("VARCHAR") else "try_cast"


def view_of(table, source, present, steps=(None, None), moved=False):
    """The SELECT for a table of the lake; without rows if the lake lacks the table. steps: the first and the last that
    are asked for; moved: the table moves has what is added to the numbers of a rank's steps."""
    number = "try_cast(t.step AS BIGINT)" + (" + coalesce(m.added, 0)" if moved else "")
    columns = []
    for name, kind in columns_of(table):
        value = f"{cast_of(kind)}(t.{name} AS {kind})" if name in present else f"CAST(NULL AS {kind})"
        value = number if name == "step" and name in present else value
        columns.append(f"coalesce({value}, '') AS {name}" if name in TEXTS else f"{value} AS {name}")
    select = "SELECT " + ", ".join(columns)
    if source is None:
        return f"{select} WHERE 1 = 0"
    where = [f"try_cast(t.{column} AS BIGINT) IS NOT NULL" for column in ("step", "start_ns", "end_ns", "total_ns") if column in present]
    where += [f"CAST(t.rank AS BIGINT) BETWEEN 0 AND {RANK_MAX}"] + (["try_cast(t.step_ns AS BIGINT) >= 0"] if table == "steps" else [])
    where += [f"{number} >= {steps[0]}"] if steps[0] is not None else []
    where += [f"{number} <= {steps[1]}"] if steps[1] is not None else []
    return f"{select} FROM {source} t" + (" LEFT JOIN moves m ON m.rank = t.rank" if moved else "") + f" WHERE {' AND '.join(where)}"


class Lake:
    """The views of a lake's tables. lacking: the tables that the lake does not have; unfit: {table: columns} of those
    that lack columns without which they are no use; they are lacking, too."""

    def __init__(self, engine):
        self.engine, self.lacking, self.unfit, self.sources = engine, [], {}, {}
        for table in TABLES:
            source = engine.read(table)
            present = set(engine.columns(source)) if source else set()
            missing = [column for column in NEEDED[table] if column not in present] if source else []
            if missing:
                self.unfit[table] = missing
            if missing or not source:
                self.lacking.append(table)
                source, present = None, set()
            self.sources[table] = source, present
        self.check_steps()
        self.show()

    def check_steps(self):
        if "steps" in self.unfit:
            raise Problem(f"{self.engine.lake}/steps: no column {', '.join(self.unfit['steps'])}: a lake of another program, or of another version of "
                          "analyzer lake")
        if "steps" in self.lacking and self.engine.left_out:
            raise Problem(f"{self.engine.left_out[0]}: it is not a Parquet file, or an incomplete one")
        if "steps" in self.lacking:
            raise Problem(f"{self.engine.lake}: no steps/*.parquet: this is not a lake that analyzer lake wrote")

    def show(self, steps=(None, None), added=None):
        """Make the views that the SQL reads. steps: as for view_of(); added: {rank: what is added to its numbers}."""
        if added:
            values = ", ".join(f"({rank}, {number})" for rank, number in sorted(added.items()))
            self.engine.make("moves", f"SELECT CAST(rank AS INT) AS rank, CAST(added AS BIGINT) AS added FROM (VALUES {values}) AS v(rank, added)")
        for table, (source, present) in self.sources.items():
            self.engine.view(table, view_of(table, source, present, steps, bool(added)))

    def unusable(self):
        """The number of rows of steps with a negative rank or length, or with one that its type does not hold."""
        unfit = (f"CAST(t.rank AS BIGINT) NOT BETWEEN 0 AND {RANK_MAX} OR try_cast(t.step_ns AS BIGINT) < 0 "
                 "OR t.step_ns IS NOT NULL AND try_cast(t.step_ns AS BIGINT) IS NULL")
        return self.engine.rows(f"SELECT count(*) AS n FROM {self.sources['steps'][0]} t WHERE {unfit}")[0]["n"]
