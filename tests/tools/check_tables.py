# SPDX-License-Identifier: Apache-2.0
"""check_tables.py - checks that CSV files, the SQLite database and the Parquet files of one trace have the same
content.

usage: check_tables.py CSV_FOLDER DATABASE PARQUET_FOLDER

For every column: the number of values, their sum, the least and the greatest (for texts: their total length, and
the number of different ones), as read from the CSV by Python, from the database by SQLite, and from the Parquet
files by DuckDB and pyarrow. DuckDB also filters by a bound, with the statistics of row groups in the files.
"""
import csv
import math
import pathlib
import sqlite3
import sys

import duckdb
import pyarrow.parquet

WRAP = 1 << 64


def signed(text):
    """Integers of SQLite and Parquet are signed; in the CSV those above 2^63 are unsigned."""
    value = int(text)
    return value - WRAP if value >= WRAP // 2 else value


def repaired(text):
    """Texts in Parquet are UTF-8: an invalid byte is U+FFFD there."""
    return "".join("\ufffd" if "\udc80" <= letter <= "\udcff" else letter for letter in text)


def summary(values, kind):
    values = [value for value in values if value is not None]
    if kind == "TEXT":
        values = [repaired(value) for value in values]
        return len(values), sum(len(value.encode()) for value in values), len(set(values)), None
    if not values:
        return 0, 0, None, None
    total = math.fsum(values) if kind == "REAL" else sum(values)
    return len(values), total, min(values), max(values)


def of_csv(path, kinds):
    parse = {"INTEGER": signed, "REAL": float, "TEXT": str}
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        rows = list(csv.DictReader(file))
    return {
        name: summary((parse[kind](row[name]) if row[name] else None for row in rows), kind)
        for name, kind in kinds.items()
    }


def of_sqlite(database, table, kinds):
    return {
        name: summary((row[0] for row in database.execute(f"select {name} from {table}")), kind)
        for name, kind in kinds.items()
    }


def of_duckdb(path, kinds):
    return {
        name: summary((row[0] for row in duckdb.sql(f"select {name} from '{path}'").fetchall()), kind)
        for name, kind in kinds.items()
    }


def of_pyarrow(path, kinds):
    table = pyarrow.parquet.read_table(path)
    return {name: summary(table.column(name).to_pylist(), kind) for name, kind in kinds.items()}


def near(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-4))


def same(what, a, b):
    for name in a:
        if not all(near(x, y) for x, y in zip(a[name], b[name])):
            sys.exit(f"{what}, column {name}: {a[name]} and {b[name]}")


def check_bounds(path, table, database, kinds):
    for name, kind in kinds.items():
        if kind != "INTEGER":
            continue
        question = f"select count(*) from {{}} where {name} > (select avg({name}) from {{}})"
        source = f"'{path}'"
        found = duckdb.sql(question.format(source, source)).fetchall()[0][0]
        wanted = database.execute(question.format(table, table)).fetchone()[0]
        if found != wanted:
            sys.exit(f"{table}, {name} above its mean: {found} rows, not {wanted}")


def main():
    folder, path, parquet = (pathlib.Path(argument) for argument in sys.argv[1:])
    database = sqlite3.connect(path)
    database.text_factory = lambda text: text.decode(errors="surrogateescape")
    tables = [row[0] for row in database.execute("select name from sqlite_master where type = 'table'")]
    rows = 0
    for table in tables:
        kinds = {row[1]: row[2] for row in database.execute(f"pragma table_info({table})")}
        file = parquet / f"{table}.parquet"
        wanted = of_sqlite(database, table, kinds)
        same(f"{table}: SQLite and CSV", wanted, of_csv(folder / f"{table}.csv", kinds))
        same(f"{table}: SQLite and DuckDB", wanted, of_duckdb(file, kinds))
        same(f"{table}: SQLite and pyarrow", wanted, of_pyarrow(file, kinds))
        check_bounds(file, table, database, kinds)
        rows += pyarrow.parquet.read_metadata(file).num_rows
    for name, suffix in ((folder, "csv"), (parquet, "parquet")):
        if sorted(p.stem for p in name.glob(f"*.{suffix}")) != sorted(tables):
            sys.exit(f"{name} has other files than the database has tables")
    print(f"{len(tables)} tables, {rows} rows")


main()
