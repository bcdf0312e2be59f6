# SPDX-License-Identifier: Apache-2.0
"""lake.py - views of a lake's tables for the SQL: typed columns, without NULL texts and steps out of the asked
range."""

from profbpf_fleet.engines import Problem

# Columns of each table and their types; columns after the bar may be missing in a file: they are NULL then.
TABLES = {
    "steps": "rank INT, host VARCHAR(255), step BIGINT, start_ns BIGINT, step_ns BIGINT, compute_ns BIGINT, exposed_communication_ns BIGINT, "
             "idle_ns BIGINT",
    "collectives": "rank INT, step BIGINT, sequence BIGINT, communicator VARCHAR(255), op VARCHAR(255), bytes BIGINT, start_ns BIGINT, end_ns BIGINT",
    "idle": "rank INT, step BIGINT, cause VARCHAR(255), who VARCHAR(255), ns BIGINT",
    "operators": "rank INT, step BIGINT, name VARCHAR(255), total_ns BIGINT",
}
TEXTS = {"host", "communicator", "who"}  # '' where the value is not known


def columns_of(table):
    return [column.strip().split(" ", 1) for column in TABLES[table].split(", ")]


def view_of(table, source, present, first_step, last_step):
    """The SELECT for a table of the lake; without rows if the lake lacks the table."""
    columns = []
    for name, kind in columns_of(table):
        value = f"CAST({name} AS {kind})" if name in present else f"CAST(NULL AS {kind})"
        columns.append(f"coalesce({value}, '') AS {name}" if name in TEXTS else f"{value} AS {name}")
    select = "SELECT " + ", ".join(columns)
    if source is None:
        return f"{select} WHERE 1 = 0"
    where = ["step IS NOT NULL", "rank IS NOT NULL"]
    where += [f"{column} IS NOT NULL" for column in ("start_ns", "end_ns", "step_ns", "total_ns") if column in present]
    where += [f"step >= {first_step}"] if first_step is not None else []
    where += [f"step <= {last_step}"] if last_step is not None else []
    return f"{select} FROM {source} WHERE {' AND '.join(where)}"


def open_lake(engine, first_step=None, last_step=None):
    """Make the views that the SQL reads. Returns the tables that the lake lacks."""
    lacking = []
    for table in TABLES:
        source = engine.read(table)
        if source is None:
            lacking.append(table)
        engine.view(table, view_of(table, source, set(engine.columns(source)) if source else set(), first_step, last_step))
    if "steps" in lacking and engine.left_out:
        raise Problem(f"{engine.left_out[0]}: it is not a Parquet file, or an incomplete one")
    if "steps" in lacking:
        raise Problem(f"{engine.lake}: no steps/*.parquet: this is not a lake that analyzer lake wrote")
    return lacking
